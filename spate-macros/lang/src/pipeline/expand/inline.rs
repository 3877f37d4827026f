//! Closures that are written into the loop, in place of a call that takes them.
//!
//! Most were understood by sight when they were read; here are those that have more in them, such as a struct's literal or a `match`.
//!
//! A closure costs rustc about as much as the rest of its stage: a type of its own, bounds to prove, a body that is checked
//! for borrows apart. Most closures of `map` and `filter` are an expression over the record, whose value is the same where the
//! parameter is a `let`. That holds when nothing in it speaks of the function around it, so one with `return`, `?`, `break` or a macro, which may hide
//! these, stays a closure, as does one with a type, a pattern or metadata.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::pipeline::ast::Inline;
use crate::pipeline::cursor::{Cursor, stream};
use crate::pipeline::sight;

/// The parts of a closure that may be written into the loop.
pub(super) fn parts(closure: &TokenStream) -> Option<Inline> {
    let tokens: Vec<TokenTree> = closure.clone().into_iter().collect();
    let (record, cursor) = sight::parameter(&tokens)?;
    if matches!(record.last(), Some(TokenTree::Ident(name)) if name == "_") {
        return None;
    }
    let body = cursor.rest();
    // `-> Type`, and brackets around everything, which rustc would call superfluous behind a `=`.
    let bracketed =
        matches!(body, [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis);
    if cursor.done() || cursor.arrow(0) || bracketed || !stays(body) {
        return None;
    }
    Some(Inline {
        record: stream(record),
        body: stream(body),
    })
}

/// Whether control always reaches the end of the tokens, as far as they tell.
fn stays(tokens: &[TokenTree]) -> bool {
    let mut cursor = Cursor::new(tokens);
    while let Some(token) = cursor.peek(0) {
        let stays = match token {
            TokenTree::Group(group) => {
                stays(&group.stream().into_iter().collect::<Vec<TokenTree>>())
            }
            TokenTree::Ident(ident) => {
                let macro_call =
                    cursor.punct(1, '!') && matches!(cursor.peek(2), Some(TokenTree::Group(_)));
                !macro_call && !leaves(&ident.to_string())
            }
            TokenTree::Punct(punct) => !matches!(punct.as_char(), '?' | '#'),
            TokenTree::Literal(_) => true,
        };
        if !stays {
            return false;
        }
        cursor.take(1);
    }
    true
}

/// Whether the value is the call of a function, which may be one that never returns. Written into the loop, rustc would call
/// what follows unreachable.
pub(super) fn is_call(body: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    match tokens.split_last() {
        Some((TokenTree::Group(group), before)) => match group.delimiter() {
            Delimiter::Brace => is_call(&group.stream()),
            Delimiter::Parenthesis => is_path_alone(before),
            Delimiter::Bracket | Delimiter::None => false,
        },
        _ => false,
    }
}

/// Whether the tokens end in a path before which a statement ends, or nothing is.
fn is_path_alone(tokens: &[TokenTree]) -> bool {
    let is_path = |token: &&TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    };
    let length = tokens.iter().rev().take_while(is_path).count();
    let ends_a_statement = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    let before = tokens[..tokens.len() - length].last();
    length > 0 && before.is_none_or(ends_a_statement)
}

/// Words that leave the body, or make what follows it unreachable.
fn leaves(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "break"
            | "continue"
            | "loop"
            | "await"
            | "async"
            | "yield"
            | "become"
            | "try"
            | "do"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlined(closure: &str) -> Option<(String, String)> {
        let tokens = closure.parse().expect("tokens");
        parts(&tokens).map(|Inline { record, body }| (record.to_string(), body.to_string()))
    }

    #[test]
    fn an_expression_over_the_record_is_written_into_the_loop() {
        for (closure, record, body) in [
            ("|o| o.total >= limit", "o", "o . total >= limit"),
            (
                "|mut o| { o.total += 1; o }",
                "mut o",
                "{ o . total += 1 ; o }",
            ),
            ("|r#type| !r#type.a != b", "r#type", "! r#type . a != b"),
            (
                "|o| o.lines.iter().any(|line| line.qty > 1)",
                "o",
                "o . lines . iter () . any (| line | line . qty > 1)",
            ),
        ] {
            let parts = inlined(closure).map(|(record, body)| (record, body.replace("( )", "()")));
            assert_eq!(
                parts,
                Some((record.to_owned(), body.to_owned())),
                "{closure}"
            );
        }
    }

    #[test]
    fn a_closure_that_may_leave_its_body_stays_a_closure() {
        for closure in [
            "|o| { if o.a { return false; } true }",
            "|o| o.lines.iter().any(|line| { return line.a; })",
            "|o| check(o)?.a",
            "|o| loop {}",
            "|o| { 'a: { if o.b { break 'a true } false } }",
            "|o| matches!(o.kind, Kind::A)",
            "|o| f(async { 1 })",
            "|o| #[rustfmt::skip] o.a",
        ] {
            assert_eq!(inlined(closure), None, "{closure}");
        }
    }

    #[test]
    fn a_body_whose_value_is_a_call_is_known() {
        for (body, expected) in [
            ("give_up(o)", true),
            ("crate::ops::give_up(o)", true),
            ("{ note(o); give_up(o) }", true),
            ("{ if o.a { note(o) } give_up(o) }", true),
            ("if o.a { one(o) } else { give_up(o) }", true),
            ("o.give_up()", false),
            ("o.a && check(o)", false),
            ("!check(o)", false),
            ("check(o) > 1", false),
            ("{ check(o); }", false),
            ("(o.a)", false),
            ("", false),
        ] {
            let tokens = body.parse().expect("tokens");
            assert_eq!(is_call(&tokens), expected, "{body}");
        }
    }

    #[test]
    fn other_functions_stay_what_they_are() {
        for function in [
            "to_row",
            "|o: &Order| o.a",
            "|Order { a, .. }| a",
            "|&o| o",
            "|_| true",
            "|ref o| true",
            "|o, meta| true",
            "|| true",
            "|o| -> bool { o.a }",
            "|o| (o.a)",
            "|o|",
            "(|o| o.a)",
            "{ |o| o.a }",
        ] {
            assert_eq!(inlined(function), None, "{function}");
        }
    }
}
