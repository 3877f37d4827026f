//! The first pass: from the tokens of one macro call to pipelines, states, chain links and clauses.
//!
//! It works on token trees alone and cannot fail: whatever it is given, it returns a [`Block`] that holds every stage
//! that it saw, and reports what it had to step over. So one slip of the pen never hides the mistakes behind it.
//! A chain is cut at its arrows in [`body`](super::body); this file finds the pipelines.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenTree};

use syn::parse::Parser;

use super::body::{self, RawBody};
use super::cursor::{Cursor, describe, is_name, mark, stream};
use super::registry;
use crate::diagnostic::{Code, Diagnostic, Errors};

/// The pipelines of one macro call.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) form: Form,
    pub(crate) pipelines: Vec<RawPipeline>,
}

/// How the call is used: as items, or as the value of a bare body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `name(..) { .. }`, any number of them: each becomes a function.
    Items,
    /// A body without a name: the call is an expression.
    Expression,
}

/// One pipeline as token runs.
#[derive(Debug)]
pub(crate) struct RawPipeline {
    pub(crate) attrs: Vec<TokenTree>,
    pub(crate) vis: Vec<TokenTree>,
    /// `None` in the expression form.
    pub(crate) name: Option<Ident>,
    pub(crate) params: Option<Group>,
    /// `None` when the braces are missing.
    pub(crate) body: Option<RawBody>,
    /// Whether something was reported about it.
    pub(crate) broken: bool,
}

/// Cuts the user's tokens of one macro call.
pub(crate) fn split(tokens: &[TokenTree], errors: &mut Errors) -> Block {
    let mut cursor = Cursor::new(tokens);
    if cursor.done() {
        errors.push(Diagnostic::new(
            Code::Empty,
            Span::call_site(),
            "the block is empty: it has no pipeline",
        ));
        return Block {
            form: Form::Items,
            pipelines: Vec::new(),
        };
    }
    if !starts_item(cursor) {
        return Block {
            form: Form::Expression,
            pipelines: vec![expression(cursor, tokens, errors)],
        };
    }
    let mut pipelines = Vec::new();
    while !cursor.done() {
        match item(&mut cursor, errors) {
            Some(pipeline) => pipelines.push(pipeline),
            None => resynchronise(&mut cursor),
        }
    }
    Block {
        form: Form::Items,
        pipelines,
    }
}

/// A bare body. Attributes and a visibility before it have no item to belong to.
fn expression(mut cursor: Cursor<'_>, tokens: &[TokenTree], errors: &mut Errors) -> RawPipeline {
    let before = errors.count();
    let attrs = attributes(&mut cursor).outer;
    if !attrs.is_empty() {
        let message = "an attribute needs a named pipeline, and this block is a bare chain";
        errors.push(Diagnostic::spanned(
            Code::Attribute,
            stream(&attrs),
            message,
        ));
    }
    let end = tokens.last().map_or_else(Span::call_site, TokenTree::span);
    let body = Some(body::split(cursor.rest(), end, errors));
    let broken = errors.count() > before;
    RawPipeline {
        attrs: Vec::new(),
        vis: Vec::new(),
        name: None,
        params: None,
        body,
        broken,
    }
}

/// Whether `[attributes] [visibility] NAME [(..)] {..}` stands here, perhaps without its braces.
fn starts_item(mut cursor: Cursor<'_>) -> bool {
    attributes(&mut cursor);
    if !visibility(&mut cursor).is_empty() {
        return true;
    }
    let Some(name) = cursor.ident(0).map(Ident::to_string) else {
        return cursor.done();
    };
    let generics = cursor.angle_brackets(1).unwrap_or(0);
    let params = cursor.group(1 + generics, Delimiter::Parenthesis);
    let after = 1 + generics + usize::from(params.is_some());
    if cursor.group(after, Delimiter::Brace).is_some() {
        // `tee { .. }` and `map { .. } ->` are stages with braces, not pipelines.
        return !registry::is_branch(&name) && !cursor.arrow(after + 1);
    }
    // Without braces: what else shows that the name is meant as a pipeline's.
    let before_source = cursor
        .ident(1)
        .is_some_and(|next| registry::is_source(&next.to_string()));
    params.is_some_and(looks_like_parameters)
        || (before_source && !registry::is_known(&name) && name != "let")
}

fn looks_like_parameters(group: &Group) -> bool {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    Cursor::new(&tokens).label()
}

/// One `[attributes] [visibility] NAME [(..)] {..}`.
fn item(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<RawPipeline> {
    let before = errors.count();
    let Attributes {
        outer: mut attrs,
        inner,
    } = attributes(cursor);
    for attribute in inner {
        let message = "an inner attribute has nothing to stand on here";
        errors.push(Diagnostic::spanned(
            Code::Attribute,
            stream(&attribute),
            message,
        ));
    }
    if let Err(error) = syn::Attribute::parse_outer.parse2(stream(&attrs)) {
        errors.push(Diagnostic::new(
            Code::Attribute,
            error.span(),
            format!("this attribute cannot be read: {error}"),
        ));
        attrs.clear();
    }
    let mut vis = visibility(cursor).to_vec();
    if syn::parse2::<syn::Visibility>(stream(&vis)).is_err() {
        let message = "this is not a visibility";
        errors.push(
            Diagnostic::spanned(Code::UnexpectedToken, stream(&vis), message)
                .help("write `pub` or `pub(crate)`"),
        );
        vis.truncate(1);
    }
    let Some(name) = cursor.ident(0).filter(|name| is_name(name)).cloned() else {
        let (code, found) = match cursor.peek(0) {
            Some(TokenTree::Ident(word)) => (
                Code::UnexpectedToken,
                format!("expected the name of a pipeline, found the keyword `{word}`"),
            ),
            Some(token) => (
                Code::UnexpectedToken,
                format!("expected the name of a pipeline, found {}", describe(token)),
            ),
            None if vis.is_empty() => (
                Code::Attribute,
                "no pipeline follows this attribute".to_owned(),
            ),
            None => (
                Code::MissingBody,
                "expected the name of a pipeline after its visibility".to_owned(),
            ),
        };
        let at = cursor
            .peek(0)
            .or(cursor.previous())
            .map_or_else(Span::call_site, mark);
        let mut error = Diagnostic::new(code, at, found);
        if cursor.keyword(0, "fn") {
            error = error
                .help("a pipeline is written without `fn`: `pub orders(limit: i64) { stages }`");
        }
        errors.push(error);
        return None;
    };
    cursor.take(1);
    if let Some(brackets) = cursor.angle_brackets(0) {
        let brackets = cursor.take(brackets);
        errors.push(generics(&name, "type parameters", brackets));
    }
    let params = cursor.group(0, Delimiter::Parenthesis).cloned();
    cursor.take(usize::from(params.is_some()));
    if cursor.keyword(0, "where") {
        let word = cursor.take(1);
        // With its type parameters it is one mistake.
        if errors.count() == before {
            errors.push(generics(&name, "a `where` clause", word));
        }
        while !cursor.done() && cursor.group(0, Delimiter::Brace).is_none() {
            cursor.take(1);
        }
    }
    let Some(braces) = cursor.group(0, Delimiter::Brace) else {
        errors.push(match cursor.arrow(0) {
            true => Diagnostic::spanned(
                Code::MissingBody,
                stream(&cursor.rest()[..2]),
                format!("the type of `{name}` is not written: it is always `Pipeline`"),
            ),
            false => Diagnostic::new(
                Code::MissingBody,
                name.span(),
                format!("expected `{{` after the pipeline name `{name}`"),
            ),
        });
        resynchronise(cursor);
        return Some(RawPipeline {
            attrs,
            vis,
            name: Some(name),
            params,
            body: None,
            broken: true,
        });
    };
    cursor.take(1);
    let inner: Vec<TokenTree> = braces.stream().into_iter().collect();
    let body = body::split(&inner, braces.span_close(), errors);
    let broken = errors.count() > before;
    Some(RawPipeline {
        attrs,
        vis,
        name: Some(name),
        params,
        body: Some(body),
        broken,
    })
}

fn generics(name: &Ident, what: &str, tokens: &[TokenTree]) -> Diagnostic {
    let message = format!("the pipeline `{name}` cannot have {what}");
    Diagnostic::spanned(Code::BadParameter, stream(tokens), message).help(
        "name the types, or make the pipeline in a generic function: a bare chain is an expression, `pipeline! { kafka -> .. }`",
    )
}

struct Attributes {
    outer: Vec<TokenTree>,
    inner: Vec<Vec<TokenTree>>,
}

fn attributes(cursor: &mut Cursor<'_>) -> Attributes {
    let mut found = Attributes {
        outer: Vec::new(),
        inner: Vec::new(),
    };
    loop {
        if cursor.punct(0, '#') && cursor.group(1, Delimiter::Bracket).is_some() {
            found.outer.extend_from_slice(cursor.take(2));
        } else if cursor.punct(0, '#')
            && cursor.punct(1, '!')
            && cursor.group(2, Delimiter::Bracket).is_some()
        {
            found.inner.push(cursor.take(3).to_vec());
        } else {
            return found;
        }
    }
}

/// `pub`, `pub(..)`.
fn visibility<'t>(cursor: &mut Cursor<'t>) -> &'t [TokenTree] {
    match (
        cursor.keyword(0, "pub"),
        cursor.group(1, Delimiter::Parenthesis),
    ) {
        (true, Some(_)) => cursor.take(2),
        (true, None) => cursor.take(1),
        (false, _) => match cursor.group(0, Delimiter::None) {
            // `$vis` of a surrounding macro.
            Some(group) if group.stream().is_empty() || is_visibility(group) => cursor.take(1),
            _ => &[],
        },
    }
}

fn is_visibility(group: &Group) -> bool {
    syn::parse2::<syn::Visibility>(group.stream()).is_ok()
}

/// Steps on until a pipeline can start: past the next braces, or to the next attribute or visibility.
fn resynchronise(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        let passed = cursor.take(1);
        if matches!(passed, [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace) {
            return;
        }
        let attribute = cursor.punct(0, '#') && cursor.group(1, Delimiter::Bracket).is_some();
        if attribute || cursor.keyword(0, "pub") {
            return;
        }
    }
}
