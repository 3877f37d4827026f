//! The parenthesised arguments of a stage, each read on its own.
//!
//! An argument reaches as far as an expression does: closures and turbofishes have commas of their own, so cutting at
//! commas would be wrong. Where no expression can be read, the cut is made at the next comma that is not between the bars
//! of a closure.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::ast::{Args, Bad, Closure, Named, Shape, StagePath, Value};
use super::cursor::{Cursor, describe, mark, stream};
use super::{fragment, sight};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// Reads `(args)`.
pub(crate) fn parse(group: &Group, path: &StagePath, errors: &mut Errors) -> Args {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    let mut args = Args {
        close: group.span_close(),
        positional: Vec::new(),
        named: Vec::new(),
    };
    while !cursor.done() {
        if cursor.punct(0, ',') {
            let comma = cursor.take(1);
            let message = format!("expected an argument of `{}` before this comma", path.text);
            errors.push(Diagnostic::spanned(
                Code::BrokenExpression,
                stream(comma),
                message,
            ));
            continue;
        }
        if cursor.assignment() {
            let name = cursor.ident(0).cloned();
            cursor.take(2);
            let value = value(&mut cursor, group.span_close(), errors);
            args.named.extend(name.map(|name| Named { name, value }));
        } else if let Some(name) = misspelt(&mut cursor, errors) {
            let value = value(&mut cursor, group.span_close(), errors);
            args.named.push(Named { name, value });
        } else {
            let value = value(&mut cursor, group.span_close(), errors);
            if !args.named.is_empty() {
                let message = format!("this argument of `{}` follows a named one", path.text);
                errors.push(Diagnostic::spanned(
                    Code::PositionalAfterNamed,
                    &value.tokens,
                    message,
                ));
            }
            args.positional.push(value);
        }
        separator(&mut cursor, errors);
    }
    args
}

/// `name: value` and `name => value`, which other languages have: reported, and read as `name = value`.
fn misspelt(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Ident> {
    let name = cursor.ident(0)?.clone();
    let length = match (cursor.label(), cursor.fat_arrow(1)) {
        (true, _) => 1,
        (_, true) => 2,
        _ => return None,
    };
    cursor.take(1);
    let message = format!("an option is written with `=`: `{name} = ..`");
    errors.push(Diagnostic::spanned(
        Code::BrokenExpression,
        stream(cursor.take(length)),
        message,
    ));
    Some(name)
}

/// Steps over the comma behind an argument, or reports what stands there.
fn separator(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    if cursor.done() || cursor.punct(0, ',') {
        cursor.take(1);
        return;
    }
    let Some(token) = cursor.peek(0) else { return };
    let message = format!(
        "expected `,` or `)` after this argument, found {}",
        describe(token)
    );
    errors.push(Diagnostic::new(
        Code::BrokenExpression,
        mark(token),
        message,
    ));
    // `a b = 1`: the named argument can still be read.
    if !cursor.assignment() {
        to_comma(cursor);
        cursor.take(1);
    }
}

/// Reads one expression. One that cannot be read is reported, and the cursor moves to the next comma.
pub(crate) fn value(cursor: &mut Cursor<'_>, end: Span, errors: &mut Errors) -> Value {
    let rest = *cursor;
    let ends = cursor.done() || cursor.punct(0, ',');
    if ends {
        let at = cursor.peek(0).map_or(end, TokenTree::span);
        errors.push(Diagnostic::new(
            Code::BrokenExpression,
            at,
            "expected a value",
        ));
        return Value {
            tokens: TokenStream::new(),
            shape: Err(Bad),
        };
    }
    // A mistake in one argument must not be blamed on the next, so what is read ends at the comma where it can.
    let mut piece = *cursor;
    to_comma(&mut piece);
    let short = &rest.rest()[..rest.rest().len() - piece.rest().len()];
    if let Some(inline) = sight::closure(short) {
        return Value {
            tokens: stream(cursor.take(short.len())),
            shape: Ok(Shape::Closure(Closure {
                params: 1,
                moves: None,
                waits: None,
                inline: Some(inline),
            })),
        };
    }
    let read = fragment::expression_prefix(short, blame(short, end)).or_else(|error| {
        let all = rest.rest();
        fragment::expression_prefix(all, blame(all, end)).map_err(|_| error)
    });
    match read {
        Ok((expr, length)) => {
            let tokens = cursor.take(length.max(1));
            Value {
                tokens: stream(tokens),
                shape: Ok(fragment::shape(&expr)),
            }
        }
        Err(error) => {
            let message = format!("this is not a complete expression: {error}");
            errors.push(Diagnostic::new(
                Code::BrokenExpression,
                error.span(),
                message,
            ));
            let tokens = cursor.take(short.len().max(1));
            Value {
                tokens: stream(tokens),
                shape: Err(Bad),
            }
        }
    }
}

/// Where to put an error at the end of the tokens: on the last one.
fn blame(tokens: &[TokenTree], end: Span) -> Span {
    match tokens.last() {
        Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None => group.span_close(),
        Some(token) => token.span(),
        None => end,
    }
}

/// Moves to the next comma that separates arguments.
fn to_comma(cursor: &mut Cursor<'_>) {
    let mut start = true;
    while !cursor.done() && !cursor.punct(0, ',') {
        let closure = cursor.punct(0, '|') && start;
        // Only these may stand before the bars of a closure.
        start =
            (start && cursor.ident(0).is_some()) || (cursor.punct(0, '=') && !cursor.punct(1, '='));
        cursor.take(1);
        if closure {
            while !cursor.done() && !cursor.punct(0, '|') {
                cursor.take(1);
            }
            cursor.take(1);
            start = false;
        }
    }
}
