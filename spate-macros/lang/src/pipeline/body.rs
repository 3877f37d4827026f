//! The first pass over one body: `let` states, the chain cut at its arrows, clauses.
//!
//! A chain has no end mark of its own: it ends where `NAME =` follows a stage without an arrow. Arrows inside
//! parentheses are out of sight here, so a cut at a top-level `->` is never inside a closure; only the type argument of a
//! turbofish is stepped over as a whole.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};

use super::cursor::{Cursor, describe, mark, stream};
use super::{fragment, registry};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// The token runs of one body.
#[derive(Debug, Default)]
pub(crate) struct RawBody {
    pub(crate) states: Vec<RawState>,
    pub(crate) links: Vec<Link>,
    pub(crate) clauses: Vec<RawClause>,
}

/// `let PAT [: TYPE] = EXPR;`, all tokens with the semicolon; `None` when it could not be read and was reported.
#[derive(Debug)]
pub(crate) struct RawState {
    pub(crate) tokens: Option<Vec<TokenTree>>,
}

/// The tokens between two arrows, and the arrow before them.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) arrow: Option<Vec<TokenTree>>,
    pub(crate) tokens: Vec<TokenTree>,
}

/// `NAME = value;` without the equals sign and the semicolon.
#[derive(Debug)]
pub(crate) struct RawClause {
    pub(crate) name: Ident,
    pub(crate) value: Vec<TokenTree>,
}

/// Cuts a body. `end` is the place to blame for what is missing at its end.
pub(crate) fn split(tokens: &[TokenTree], end: Span, errors: &mut Errors) -> RawBody {
    let mut body = RawBody::default();
    let mut cursor = Cursor::new(tokens);
    loop {
        if attributes_of_a_let(&mut cursor, errors) || cursor.keyword(0, "let") {
            let state = state(&mut cursor, end, errors);
            if state.tokens.is_none() && cursor.arrow(0) {
                // Its value took the source for its own; that is one mistake, not two.
                cursor.take(2);
                body.links.push(Link {
                    arrow: None,
                    tokens: Vec::new(),
                });
            }
            body.states.push(state);
        } else if cursor.keyword(0, "mut") && cursor.ident(1).is_some() {
            let at = cursor.peek(0).map_or(end, TokenTree::span);
            let message = "a state is written with `let`";
            errors.push(Diagnostic::new(Code::BadState, at, message));
            skip_state(&mut cursor);
            body.states.push(RawState { tokens: None });
        } else if cursor.assignment() {
            let clause = clause(&mut cursor, end, errors);
            let message = format!("the clause `{}` stands before the chain", clause.name);
            errors.push(Diagnostic::new(
                Code::WrongPlace,
                clause.name.span(),
                message,
            ));
            body.clauses.push(clause);
        } else if cursor.punct(0, ';') {
            stray(cursor.take(1), errors);
        } else {
            break;
        }
    }
    chain(&mut cursor, &mut body, errors);
    clauses(&mut cursor, &mut body, end, errors);
    body
}

/// Steps over attributes before a `let` and reports them; whether some were there.
fn attributes_of_a_let(cursor: &mut Cursor<'_>, errors: &mut Errors) -> bool {
    let mut ahead = *cursor;
    while ahead.attribute() {
        ahead.take(2);
    }
    let there = cursor.attribute() && ahead.keyword(0, "let");
    if there {
        let message = "attributes do not go on `let` states";
        errors.push(Diagnostic::spanned(
            Code::Attribute,
            stream(cursor.take(2)),
            message,
        ));
        *cursor = ahead;
    }
    there
}

/// The chain of an arm, cut at its arrows.
pub(super) fn links(tokens: &[TokenTree]) -> Vec<Link> {
    let mut cursor = Cursor::new(tokens);
    let mut links = Vec::new();
    let mut link = Link {
        arrow: None,
        tokens: Vec::new(),
    };
    while !cursor.done() {
        if !cut(&mut cursor, &mut link, &mut links) {
            link.tokens.extend_from_slice(cursor.take(1));
        }
    }
    links.push(link);
    links
}

/// Steps over an arrow, which ends the link, or a turbofish, which belongs to it; whether one was there.
fn cut(cursor: &mut Cursor<'_>, link: &mut Link, links: &mut Vec<Link>) -> bool {
    if cursor.arrow(0) {
        let next = Link {
            arrow: Some(cursor.take(2).to_vec()),
            tokens: Vec::new(),
        };
        links.push(std::mem::replace(link, next));
        return true;
    }
    let Some(brackets) = cursor
        .angle_brackets(2)
        .filter(|_| cursor.path_separator(0))
    else {
        return false;
    };
    link.tokens.extend_from_slice(cursor.take(2 + brackets));
    true
}

/// The chain, up to the first clause or the end.
fn chain(cursor: &mut Cursor<'_>, body: &mut RawBody, errors: &mut Errors) {
    if cursor.done() {
        return;
    }
    let mut link = Link {
        arrow: None,
        tokens: Vec::new(),
    };
    while !cursor.done() {
        if cut(cursor, &mut link, &mut body.links) {
            continue;
        }
        if cursor.punct(0, ';') {
            let semicolon = cursor.take(1);
            let ends = cursor.done() || cursor.assignment() || cursor.keyword(0, "let");
            if ends || cursor.arrow(0) || cursor.punct(0, ';') {
                // Before a `let` that stands too late it is part of that mistake.
                if !cursor.keyword(0, "let") {
                    stray(semicolon, errors);
                }
                continue;
            }
            let is_sink = !body.links.is_empty() && names(&link.tokens, registry::is_sink);
            if is_sink || names(cursor.rest(), registry::is_source) {
                second_chain(cursor, errors);
                break;
            }
            // It stands for an arrow: read as one, so that this is the only error.
            let message = "stages are joined with `->`, not with `;`";
            let error = Diagnostic::spanned(Code::StraySemicolon, stream(semicolon), message);
            errors.push(error.help(""));
            let next = Link {
                arrow: Some(semicolon.to_vec()),
                tokens: Vec::new(),
            };
            body.links.push(std::mem::replace(&mut link, next));
        } else if cursor.assignment() || cursor.keyword(0, "let") {
            break;
        } else {
            link.tokens.extend_from_slice(cursor.take(1));
        }
    }
    body.links.push(link);
}

/// Whether the tokens begin with a stage whose plain name is such a one.
fn names(tokens: &[TokenTree], is_such: fn(&str) -> bool) -> bool {
    let mut cursor = Cursor::new(tokens);
    if cursor.label() {
        cursor.take(2);
    }
    let name = cursor
        .ident(0)
        .filter(|_| !cursor.path_separator(1) || cursor.ident(3).is_none());
    name.is_some_and(|name| is_such(&name.to_string()))
}

/// Everything behind the chain.
fn clauses(cursor: &mut Cursor<'_>, body: &mut RawBody, end: Span, errors: &mut Errors) {
    while let Some(token) = cursor.peek(0) {
        if cursor.assignment() {
            let clause = clause(cursor, end, errors);
            body.clauses.push(clause);
        } else if cursor.keyword(0, "let") {
            let span = token.span();
            let state = state(cursor, end, errors);
            errors.push(Diagnostic::new(
                Code::WrongPlace,
                span,
                "a `let` state stands after the chain",
            ));
            body.states.push(state);
        } else if cursor.punct(0, ';') {
            stray(cursor.take(1), errors);
        } else {
            let found = if cursor.arrow(0) {
                "`->`".to_owned()
            } else {
                describe(token)
            };
            let message =
                format!("expected a clause `name = value;` after the chain, found {found}");
            errors.push(Diagnostic::new(Code::UnexpectedToken, mark(token), message));
            skip_to_clause(cursor);
        }
    }
}

/// Steps over what is no clause: to the next `NAME =` or `let`, or past a semicolon.
fn skip_to_clause(cursor: &mut Cursor<'_>) {
    loop {
        let ended = matches!(cursor.take(1), [TokenTree::Punct(punct)] if punct.as_char() == ';');
        if ended || cursor.done() || cursor.assignment() || cursor.keyword(0, "let") {
            return;
        }
    }
}

fn second_chain(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    let at = cursor.peek(0).map_or_else(Span::call_site, mark);
    errors.push(Diagnostic::new(
        Code::StraySemicolon,
        at,
        "a second chain starts here",
    ));
    skip_to_clause(cursor);
}

fn stray(semicolon: &[TokenTree], errors: &mut Errors) {
    errors.push(Diagnostic::spanned(
        Code::StraySemicolon,
        stream(semicolon),
        "this `;` does not belong here",
    ));
}

/// One clause, `NAME =` being there already.
fn clause(cursor: &mut Cursor<'_>, end: Span, errors: &mut Errors) -> RawClause {
    let name = match cursor.take(2) {
        [TokenTree::Ident(name), _] => name.clone(),
        _ => unreachable!("a clause starts with a name"),
    };
    let mut value = Vec::new();
    loop {
        if cursor.punct(0, ';') {
            cursor.take(1);
            break;
        }
        // The next clause, or the chain behind a clause that was written before it.
        let next = !value.is_empty() && (cursor.assignment() || cursor.keyword(0, "let"));
        if cursor.done() || next {
            let message = format!("expected `;` after the clause `{name}`");
            let at = cursor.previous().map_or(end, TokenTree::span);
            errors.push(Diagnostic::new(Code::BadClause, at, message));
            break;
        }
        value.extend_from_slice(cursor.take(1));
    }
    RawClause { name, value }
}

/// One `let`, read as Rust would: a missing semicolon is found where the expression ends, not at the next one.
fn state(cursor: &mut Cursor<'_>, end: Span, errors: &mut Errors) -> RawState {
    match fragment::state_prefix(cursor.rest(), end) {
        Ok(length) => {
            let mut tokens = cursor.take(length.max(1)).to_vec();
            if cursor.punct(0, ';') {
                tokens.extend_from_slice(cursor.take(1));
                return RawState {
                    tokens: Some(tokens),
                };
            }
            let at = tokens.last().map_or(end, TokenTree::span);
            errors.push(Diagnostic::new(
                Code::BadState,
                at,
                "expected `;` after this `let` state",
            ));
            RawState { tokens: None }
        }
        Err(error) => {
            let message = format!("this `let` state cannot be read: {error}");
            errors.push(Diagnostic::new(Code::BadState, error.span(), message));
            skip_state(cursor);
            RawState { tokens: None }
        }
    }
}

/// Steps past the semicolon of a state that cannot be read; without one, to the end of what can be a `let`.
fn skip_state(cursor: &mut Cursor<'_>) {
    let ends = cursor
        .rest()
        .iter()
        .any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'));
    cursor.take(1);
    while !cursor.done() {
        if ends && cursor.punct(0, ';') {
            cursor.take(1);
            return;
        }
        // `name ->` or `name(..) ->`: the chain has begun.
        let call = usize::from(cursor.group(1, Delimiter::Parenthesis).is_some());
        let chain = cursor.ident(0).is_some() && cursor.arrow(1 + call);
        if chain || (!ends && cursor.keyword(0, "let")) {
            return;
        }
        cursor.take(1);
    }
}
