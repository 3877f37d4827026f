//! Rust fragments in the user's tokens: how far an expression reaches, and what kind it is.
//!
//! `syn` only judges here. What is emitted later are the tokens that the user wrote, never a printed tree: printing
//! loses spans and the invisible groups of surrounding macros.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};

use super::ast::{Closure, ClosureBody, FirstUse, Shape};
use super::cursor::stream;

/// Reads one expression from the front of `tokens`; returns it and how many tokens it took.
pub(crate) fn expression_prefix(
    tokens: &[TokenTree],
    end: Span,
) -> syn::Result<(syn::Expr, usize)> {
    prefix(tokens, end, |input| input.parse::<syn::Expr>())
}

/// Reads `let PAT [: TYPE] = EXPR [else { .. }]` from the front of `tokens`; returns how many tokens it took.
pub(crate) fn state_prefix(tokens: &[TokenTree], end: Span) -> syn::Result<usize> {
    let ((), length) = prefix(tokens, end, |input| {
        input.parse::<syn::Token![let]>()?;
        syn::Pat::parse_single(input)?;
        if input.peek(syn::Token![:]) {
            input.parse::<syn::Token![:]>()?;
            input.parse::<syn::Type>()?;
        }
        input.parse::<syn::Token![=]>()?;
        input.parse::<syn::Expr>()?;
        if input.peek(syn::Token![else]) {
            input.parse::<syn::Token![else]>()?;
            input.parse::<syn::Block>()?;
        }
        Ok(())
    })?;
    Ok(length)
}

/// How many generic arguments a turbofish has, types, lifetimes and constants; none if it cannot be read.
pub(crate) fn generic_arguments(turbofish: &TokenStream) -> usize {
    syn::parse2::<syn::AngleBracketedGenericArguments>(turbofish.clone())
        .map_or(0, |arguments| arguments.args.len())
}

/// Runs a parser over the front of `tokens`. An error at the end of them is placed at `end`, not at the macro call.
fn prefix<T>(
    tokens: &[TokenTree],
    end: Span,
    parser: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<(T, usize)> {
    let mut group = Group::new(Delimiter::Parenthesis, stream(tokens));
    group.set_span(end);
    let inner = |input: ParseStream<'_>| {
        let content;
        syn::parenthesized!(content in input);
        let parsed = parser(&content)?;
        let rest: TokenStream = content.parse()?;
        Ok((parsed, rest.into_iter().count()))
    };
    let (parsed, rest) = inner.parse2(TokenTree::Group(group).into())?;
    Ok((parsed, tokens.len().saturating_sub(rest)))
}

/// What the checks need to know of an expression.
pub(crate) fn shape(expr: &syn::Expr) -> Shape {
    match peel(expr) {
        syn::Expr::Closure(closure) => Shape::Closure(closure_shape(closure)),
        syn::Expr::Path(path) => {
            let ident = path.path.get_ident().filter(|_| path.qself.is_none());
            Shape::Path(ident.map(ToString::to_string))
        }
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) if text.suffix().is_empty() => Shape::Str(text.value()),
        other => Shape::Other(kind(other)),
    }
}

fn closure_shape(closure: &syn::ExprClosure) -> Closure {
    let waits = match (&closure.asyncness, peel(&closure.body)) {
        (Some(keyword), _) => Some(keyword.span),
        (None, syn::Expr::Async(block)) => Some(block.async_token.span),
        _ => None,
    };
    Closure {
        params: closure.inputs.len(),
        moves: closure.capture.as_ref().map(|keyword| keyword.span),
        waits,
        inline: None,
    }
}

/// Reads a closure anew, for what is asked of few of them only; `None` for anything else.
fn closure(tokens: &TokenStream) -> Option<syn::ExprClosure> {
    let mut expr = syn::parse2::<syn::Expr>(tokens.clone()).ok()?;
    loop {
        expr = match expr {
            syn::Expr::Group(group) => *group.expr,
            syn::Expr::Paren(paren) => *paren.expr,
            syn::Expr::Closure(closure) => return Some(closure),
            _ => return None,
        };
    }
}

/// What stands for a function in messages: the bars of a closure, or all of it.
pub(crate) fn head(tokens: &TokenStream) -> TokenStream {
    closure(tokens).map_or_else(
        || tokens.clone(),
        |closure| {
            let (begin, inputs, end) = (closure.inputs_begin, closure.inputs, closure.inputs_end);
            quote::quote!(#begin #inputs #end)
        },
    )
}

/// The inside of a closure whose parameters have plain names.
pub(crate) fn body(tokens: &TokenStream) -> Option<ClosureBody> {
    let closure = closure(tokens)?;
    let mut params = closure.inputs.iter();
    let (record, ty) = match params.next()? {
        syn::Pat::Ident(param) => (plain(param)?, None),
        syn::Pat::Type(typed) => match &*typed.pat {
            syn::Pat::Ident(param) => (plain(param)?, Some(typed.ty.to_token_stream())),
            _ => return None,
        },
        _ => return None,
    };
    let meta = match params.next() {
        Some(syn::Pat::Ident(param)) => Some(plain(param)?),
        Some(syn::Pat::Wild(_)) | None => None,
        Some(_) => return None,
    };
    Some(ClosureBody {
        record,
        ty,
        meta,
        body: closure.body.to_token_stream(),
    })
}

fn plain(param: &syn::PatIdent) -> Option<proc_macro2::Ident> {
    let plain = param.by_ref.is_none() && param.mutability.is_none() && param.subpat.is_none();
    plain.then(|| param.ident.clone())
}

/// How a function meets the record first.
pub(crate) fn first_use(tokens: &TokenStream) -> FirstUse {
    let Some(closure) = closure(tokens) else {
        return FirstUse::Other;
    };
    match closure.inputs.first() {
        Some(syn::Pat::Ident(param)) if param.subpat.is_none() => {
            let access = first_access(closure.body.to_token_stream(), &param.ident);
            access.map_or(FirstUse::Never, |access| {
                if access {
                    FirstUse::Access
                } else {
                    FirstUse::Other
                }
            })
        }
        Some(syn::Pat::Wild(_)) => FirstUse::Never,
        _ => FirstUse::Other,
    }
}

/// Whether `name` is followed by a dot where it stands first; `None` where it does not stand at all. A field of that name
/// is not it.
fn first_access(tokens: TokenStream, name: &proc_macro2::Ident) -> Option<bool> {
    let dot = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == '.' && punct.spacing() == Spacing::Alone);
    let mut tokens = tokens.into_iter().peekable();
    let mut after_dot = false;
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Ident(ident) if ident == name && !after_dot => {
                return Some(dot(tokens.peek()));
            }
            TokenTree::Group(group) => {
                if let Some(access) = first_access(group.stream(), name) {
                    return Some(access);
                }
            }
            _ => {}
        }
        after_dot = dot(Some(&token));
    }
    None
}

/// The expression without what is around it and means nothing: parentheses and invisible groups.
fn peel(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Group(group) => peel(&group.expr),
        syn::Expr::Paren(paren) => peel(&paren.expr),
        other => other,
    }
}

/// An expression's kind, for "expected .., found ..".
fn kind(expr: &syn::Expr) -> &'static str {
    match expr {
        syn::Expr::Lit(literal) => match literal.lit {
            syn::Lit::ByteStr(_) => "a byte string",
            syn::Lit::CStr(_) => "a C string",
            syn::Lit::Byte(_) => "a byte",
            syn::Lit::Char(_) => "a character",
            syn::Lit::Int(_) => "an integer",
            syn::Lit::Float(_) => "a float",
            syn::Lit::Bool(_) => "a boolean",
            _ => "a literal",
        },
        syn::Expr::Call(_) | syn::Expr::MethodCall(_) => "a call",
        syn::Expr::Macro(_) => "a macro call",
        syn::Expr::Block(_) => "a block",
        syn::Expr::Async(_) => "an async block",
        _ => "an expression",
    }
}
