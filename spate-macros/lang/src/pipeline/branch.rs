//! The arms of a branch: `PAT [if EXPR] => chain,` of `route`, `name: chain,` of `tee`.
//!
//! Arms are cut at their commas, each is read on its own. A comma inside brackets is out of sight; one between the angle
//! brackets of a turbofish is stepped over with them.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};

use super::ast::{Arm, ArmBody, ArmHead, Bad, StagePath};
use super::body;
use super::cursor::{Cursor, is_name, mark, stream};
use super::parse;
use super::registry::{self, Branch, Kind};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// Reads `{ arms }` behind the name and the arguments of a branch; any other stage has none.
pub(super) fn arms(
    cursor: &mut Cursor<'_>,
    path: &StagePath,
    errors: &mut Errors,
) -> Result<Option<Vec<Arm>>, Bad> {
    let Some(name) = path.plain.as_deref() else {
        return Ok(None);
    };
    let Some(group) = cursor
        .group(0, Delimiter::Brace)
        .filter(|_| registry::may_be_branch(name))
    else {
        return Ok(None);
    };
    cursor.take(1);
    let Some(Kind::Branch(which)) = registry::find(name, false).map(|stage| stage.kind) else {
        // A reserved or a misspelt word: what is inside is not known.
        return Ok(None);
    };
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    let mut arms = Vec::new();
    while !cursor.done() {
        while cursor.attribute() {
            let message = format!("attributes and doc comments do not go on the arms of `{name}`");
            let error = Diagnostic::spanned(Code::Attribute, stream(cursor.take(2)), message);
            errors.push(error.help("describe an arm in a comment, `// ..`"));
        }
        if cursor.done() {
            break;
        }
        let begin = cursor.rest();
        let (head, body) = match which {
            Branch::Route => route_arm(&mut cursor, group, errors),
            Branch::Tee => tee_arm(&mut cursor, group, errors),
        };
        let end = end(&begin[..begin.len() - cursor.rest().len()]);
        arms.push(Arm {
            head,
            body,
            end: end.unwrap_or_else(|| group.span_close()),
        });
    }
    Ok(Some(arms))
}

/// `PAT [if EXPR] => chain`
fn route_arm(cursor: &mut Cursor<'_>, group: &Group, errors: &mut Errors) -> (ArmHead, ArmBody) {
    let mut head = Vec::new();
    while !cursor.done() && !cursor.fat_arrow(0) && !cursor.punct(0, ',') {
        head.extend_from_slice(cursor.take(step(cursor)));
    }
    if !cursor.fat_arrow(0) {
        let at = head.last().or(cursor.peek(0));
        let at = at.map_or_else(|| group.span_close(), mark);
        let message = if head.is_empty() {
            "expected an arm before this comma"
        } else {
            "expected `=>` and a chain after this pattern"
        };
        cursor.take(1);
        return bad(errors, Diagnostic::new(Code::BadArm, at, message));
    }
    let arrow = cursor.take(2);
    let head = match pattern(&head, arrow) {
        Ok(tokens) => ArmHead::Pattern(tokens),
        Err(error) => {
            errors.push(error);
            ArmHead::Bad
        }
    };
    (head, arm_body(cursor, arrow, errors))
}

/// The last token of an arm, without the comma behind it.
fn end(arm: &[TokenTree]) -> Option<Span> {
    let comma =
        |token: &&TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    arm.iter()
        .rfind(|token| !comma(token))
        .map(|token| match token {
            TokenTree::Group(group) => group.span_close(),
            other => other.span(),
        })
}

/// `name: chain`
fn tee_arm(cursor: &mut Cursor<'_>, group: &Group, errors: &mut Errors) -> (ArmHead, ArmBody) {
    let name = cursor
        .ident(0)
        .filter(|name| cursor.label() && is_name(name))
        .cloned();
    let Some(name) = name else {
        let at = cursor.peek(0).map_or_else(|| group.span_close(), mark);
        let message = if cursor.punct(0, ',') {
            "expected an arm before this comma"
        } else {
            "an arm of `tee` starts with its name"
        };
        to_comma(cursor);
        cursor.take(1);
        return bad(
            errors,
            Diagnostic::new(Code::BadArm, at, message).help("write `name: chain,`"),
        );
    };
    let colon = &cursor.take(2)[1..];
    (ArmHead::Name(name), arm_body(cursor, colon, errors))
}

fn bad(errors: &mut Errors, error: Diagnostic) -> (ArmHead, ArmBody) {
    errors.push(error);
    (ArmHead::Bad, ArmBody::Chain(vec![Err(Bad)]))
}

/// The chain behind `=>` or the name, up to the comma. `before` is blamed when there is none.
fn arm_body(cursor: &mut Cursor<'_>, before: &[TokenTree], errors: &mut Errors) -> ArmBody {
    if let Some(braces) = cursor.group(0, Delimiter::Brace) {
        let message = "the chain of an arm stands without braces";
        errors.push(
            Diagnostic::new(Code::WrongBrackets, braces.span_open(), message)
                .help("write `pattern => map(..) -> sink,`"),
        );
        cursor.take(1);
        cursor.take(usize::from(cursor.punct(0, ',')));
        return ArmBody::Chain(vec![Err(Bad)]);
    }
    let mut tokens: Vec<TokenTree> = Vec::new();
    while !cursor.done() && !cursor.punct(0, ',') {
        if cursor.punct(0, ';') {
            let message = "an arm ends with `,`, not with `;`";
            errors.push(Diagnostic::spanned(
                Code::BadArm,
                stream(&cursor.rest()[..1]),
                message,
            ));
            break;
        }
        // A label stands behind an arrow; anywhere else it is the name of the next arm of a `tee`.
        let arrow =
            matches!(tokens.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '>');
        if cursor.label() && !tokens.is_empty() && !arrow && !is_label(&tokens) {
            let at = cursor.peek(0).map_or_else(Span::call_site, mark);
            let message = "expected `,` before the next arm, or `->` before a label";
            errors.push(Diagnostic::new(Code::BadArm, at, message));
            return ArmBody::Chain(vec![Err(Bad)]);
        }
        if cursor.fat_arrow(0) {
            let message = "expected `,` before the next arm";
            errors.push(Diagnostic::spanned(
                Code::BadArm,
                stream(cursor.take(2)),
                message,
            ));
            to_comma(cursor);
            cursor.take(1);
            return ArmBody::Chain(vec![Err(Bad)]);
        }
        tokens.extend_from_slice(cursor.take(step(cursor)));
    }
    cursor.take(1);
    if tokens.is_empty() {
        let message = "expected a chain after this";
        errors.push(Diagnostic::spanned(Code::BadArm, stream(before), message));
        return ArmBody::Chain(vec![Err(Bad)]);
    }
    drops(&tokens).unwrap_or_else(|| ArmBody::Chain(parse::chain(&body::links(&tokens), errors)))
}

/// `label:` and nothing more yet.
fn is_label(tokens: &[TokenTree]) -> bool {
    tokens.len() == 2 && Cursor::new(tokens).label()
}

/// `[label:] drop`
fn drops(tokens: &[TokenTree]) -> Option<ArmBody> {
    let cursor = Cursor::new(tokens);
    let label = cursor.ident(0).filter(|_| cursor.label()).cloned();
    let word = cursor.ident(if label.is_some() { 2 } else { 0 })?;
    let alone = tokens.len() == if label.is_some() { 3 } else { 1 };
    (alone && word == "drop").then(|| ArmBody::Drop {
        label,
        span: word.span(),
    })
}

/// Judges a pattern and its guard; the tokens come back as written.
fn pattern(tokens: &[TokenTree], arrow: &[TokenTree]) -> Result<TokenStream, Diagnostic> {
    if tokens.is_empty() {
        let message = "expected a pattern before `=>`";
        return Err(Diagnostic::spanned(Code::BadArm, stream(arrow), message));
    }
    let parser = |input: ParseStream<'_>| {
        syn::Pat::parse_multi_with_leading_vert(input)?;
        if input.peek(syn::Token![if]) {
            input.parse::<syn::Token![if]>()?;
            input.parse::<syn::Expr>()?;
        }
        Ok(())
    };
    match parser.parse2(stream(tokens)) {
        Ok(()) => Ok(stream(tokens)),
        Err(error) => {
            // An error at the end of the tokens has no place of its own.
            let inside = tokens.iter().any(|token| covers(token, error.span()));
            let message = format!("this pattern cannot be read: {error}");
            Err(if inside {
                Diagnostic::new(Code::BadArm, error.span(), message)
            } else {
                Diagnostic::spanned(Code::BadArm, stream(tokens), message)
            })
        }
    }
}

fn covers(token: &TokenTree, span: Span) -> bool {
    let (all, start) = (token.span(), span.start());
    start != span.end() && all.start() <= start && start < all.end()
}

/// How many tokens to move on by: a turbofish as a whole, anything else one by one.
fn step(cursor: &Cursor<'_>) -> usize {
    match cursor.angle_brackets(2) {
        Some(brackets) if cursor.path_separator(0) => 2 + brackets,
        _ => 1,
    }
}

fn to_comma(cursor: &mut Cursor<'_>) {
    while !cursor.done() && !cursor.punct(0, ',') {
        cursor.take(step(cursor));
    }
}
