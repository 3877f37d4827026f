//! Whether the filter behind the decoder may be asked before the record is decoded as a whole.
//!
//! It may where nobody can tell the difference for a record that is whole: the closure looks at fields of the record, and does
//! nothing else that could be seen. That is read off its tokens, so only what is certain counts: fields and their methods, the
//! metadata, literals, constants, constructors, `matches!`, and names of values. A call, a method of anything else, another macro, an assignment
//! or a `&mut` may change something, and a filter that remembers records must not see one that turns out to be damaged.
//! An `avro::Value` has no fields, and is decoded as a whole: rustc says so of the field alone.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use crate::pipeline::ast::ClosureBody;
use crate::pipeline::cursor::{Cursor, is_name};
use crate::pipeline::fragment;
use crate::pipeline::plan::{Call, Carrier, Plan, Pushdown};
use crate::pipeline::registry::Transform;

/// What the first filter looks at, where it can be asked early.
pub(super) fn find(plan: &Plan) -> Option<Pushdown> {
    // A bare chain may stand in a generic function, whose types no constant may name.
    plan.head.name.as_ref()?;
    let path = match &plan.decoder.carrier {
        Carrier::Known(decoder) if !plan.decoder.whole => decoder.pushdown?,
        Carrier::Known(_) | Carrier::Own(_) => return None,
    };
    let Call::Stage(Transform::Filter, function) = &plan.tail.transforms.first()?.call else {
        return None;
    };
    let closure = &fragment::body(&function.tokens)?;
    let ty = match (&plan.decoder.record, &closure.ty) {
        (Some(ty), _) => ty.clone(),
        (None, Some(ty)) => referenced(ty)?,
        (None, None) => return None,
    };
    let mut look = Look {
        closure,
        states: plan.states.iter().flat_map(|state| &state.names).collect(),
        fields: Vec::new(),
    };
    let pure = is_plain(&ty) && look.all(closure.body.clone()).is_some();
    (pure && !look.fields.is_empty()).then_some(Pushdown {
        ty,
        fields: look.fields,
        path,
    })
}

/// `&Order<'_>` without its `&`.
fn referenced(ty: &TokenStream) -> Option<TokenStream> {
    let mut tokens = ty.clone().into_iter();
    match tokens.next()? {
        TokenTree::Punct(punct) if punct.as_char() == '&' => Some(tokens.collect()),
        _ => None,
    }
}

/// A path without generic arguments but `<'_>`, nothing in which belongs to the surrounding function, so that a constant may name it; and not `avro::Value`.
fn is_plain(ty: &TokenStream) -> bool {
    let Ok(path) = syn::parse2::<syn::TypePath>(ty.clone()) else {
        return false;
    };
    let anonymous = |argument: &syn::GenericArgument| matches!(argument, syn::GenericArgument::Lifetime(lifetime) if lifetime.ident == "_");
    let names: Vec<_> = path.path.segments.iter().rev().take(2).collect();
    let value =
        matches!(names[..], [last, before, ..] if last.ident == "Value" && before.ident == "avro");
    !value
        && path.qself.is_none()
        && path
            .path
            .segments
            .iter()
            .all(|segment| match &segment.arguments {
                syn::PathArguments::None => segment.ident != "Self",
                syn::PathArguments::AngleBracketed(arguments) => {
                    arguments.args.iter().all(anonymous)
                }
                syn::PathArguments::Parenthesized(_) => false,
            })
}

/// Words that may stand in an expression that only looks.
const KEYWORDS: &[&str] = &[
    "_", "true", "false", "as", "if", "else", "match", "let", "in", "ref",
];

/// Types whose functions only compute: `i64::from(..)`.
const PRIMITIVES: &[&str] = &[
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "f32", "f64",
];

struct Look<'a> {
    closure: &'a ClosureBody,
    states: Vec<&'a String>,
    fields: Vec<String>,
}

impl Look<'_> {
    /// Looks through the tokens; `None` at the first one that may do more than look.
    fn all(&mut self, stream: TokenStream) -> Option<()> {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut cursor = Cursor::new(&tokens);
        // Each `let` brings the one `=` that is no assignment.
        let mut lets = 0usize;
        while let Some(token) = cursor.peek(0) {
            match token {
                TokenTree::Group(group) => self.all(group.stream())?,
                TokenTree::Ident(ident) if ident == "let" => lets += 1,
                TokenTree::Ident(ident) => self.ident(ident, &mut cursor)?,
                TokenTree::Punct(_) if cursor.keyword(1, "mut") && cursor.punct(0, '&') => {
                    return None;
                }
                TokenTree::Punct(_) if assigns(&cursor) => lets = lets.checked_sub(1)?,
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            cursor.take(1);
        }
        Some(())
    }

    fn ident(&mut self, ident: &Ident, cursor: &mut Cursor<'_>) -> Option<()> {
        let field = |n: usize| cursor.punct(n, '.') && cursor.ident(n + 1).is_some();
        let called = |n: usize| cursor.group(n, Delimiter::Parenthesis).is_some();
        if *ident == self.closure.record {
            // A field, and no method of the record itself.
            let generic = cursor.path_separator(3);
            if !field(1) || called(3) || generic {
                return None;
            }
            let name = cursor.ident(2)?.to_string();
            let name = name.trim_start_matches("r#").to_owned();
            if !self.fields.contains(&name) {
                self.fields.push(name);
            }
            cursor.take(2);
            return Some(());
        }
        if self.closure.meta.as_ref() == Some(ident) {
            return (field(1) && called(3)).then(|| {
                cursor.take(2);
            });
        }
        let name = ident.to_string();
        // A field or a method of what was judged before it.
        if cursor.after_dot() || KEYWORDS.contains(&name.as_str()) {
            return Some(());
        }
        if self.states.iter().any(|state| **state == name) {
            return None;
        }
        if cursor.punct(1, '!') && !cursor.punct(2, '=') {
            return (name == "matches").then_some(());
        }
        // A path is judged by its last two names.
        if cursor.path_separator(1) && cursor.ident(3).is_some() {
            let primitive = PRIMITIVES.contains(&name.as_str());
            if primitive && !cursor.path_separator(4) {
                cursor.take(3);
            }
            return Some(());
        }
        let constructs = called(1) && name.chars().next().is_some_and(char::is_uppercase);
        // The value of a name. A function, or a method of something else, may do more than look.
        let indexed = cursor.group(1, Delimiter::Bracket).is_some();
        let looks = constructs || !(called(1) || field(1) || indexed);
        (is_name(ident) && looks).then_some(())
    }
}

/// `=` and `+=`, not `==`, `=>`, `<=`, `>=`, `!=`, `..=`. The cursor stands at the first mark of a run.
fn assigns(cursor: &Cursor<'_>) -> bool {
    let is = |n: usize, ch: char| cursor.punct(n, ch);
    if !is(0, '=') {
        return false;
    }
    let before = match cursor.previous() {
        Some(TokenTree::Punct(punct)) if punct.spacing() == proc_macro2::Spacing::Joint => {
            Some(punct.as_char())
        }
        _ => None,
    };
    let joint = matches!(cursor.peek(0), Some(TokenTree::Punct(punct)) if punct.spacing() == proc_macro2::Spacing::Joint);
    let compares = (joint && (is(1, '=') || is(1, '>')))
        || matches!(before, Some('=' | '<' | '>' | '!' | '.'));
    !compares
}
