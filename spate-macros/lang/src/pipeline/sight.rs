//! Closures that are understood by sight: `|o| o.total >= limit`, `|mut o| { o.total += 1; o }`.
//!
//! Reading an expression with `syn` costs more than anything else that the macro does with a stage, and most closures are
//! operands, fields, calls and operators in turns. Those are walked once. Whatever else there is, a keyword, a macro, a type, says
//! nothing about whether the closure is right: it is left to `syn`.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::ast::Inline;
use super::cursor::{Cursor, stream};

/// The parts of a closure of one named parameter that is understood as a whole.
pub(crate) fn closure(tokens: &[TokenTree]) -> Option<Inline> {
    let (record, mut cursor) = parameter(tokens)?;
    if !record.last().is_some_and(is_name) {
        return None;
    }
    let body = cursor.rest();
    // Brackets around everything are superfluous behind a `=`, and rustc would say so.
    let bracketed =
        matches!(body, [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis);
    let whole = match body {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => block(group),
        _ => expression(&mut cursor) && cursor.done(),
    };
    (whole && !bracketed).then(|| Inline {
        record: stream(record),
        body: stream(body),
    })
}

/// What stands between the bars of a closure of one parameter without a type, `name` or `mut name`, and a cursor at its body.
pub(crate) fn parameter(tokens: &[TokenTree]) -> Option<(&[TokenTree], Cursor<'_>)> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.punct(0, '|') {
        return None;
    }
    cursor.take(1);
    let name = usize::from(cursor.keyword(0, "mut"));
    if cursor.ident(name).is_none() || !cursor.punct(name + 1, '|') {
        return None;
    }
    let parameter = cursor.take(name + 1);
    cursor.take(1);
    Some((parameter, cursor))
}

/// Whether the statements of a block, and the expression at its end, are understood.
fn block(group: &Group) -> bool {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    loop {
        if !expression(&mut cursor) {
            return false;
        }
        if assignment(&mut cursor) && !expression(&mut cursor) {
            return false;
        }
        match cursor.done() {
            true => return true,
            false if cursor.punct(0, ';') => cursor.take(1),
            false => return false,
        };
        if cursor.done() {
            return true;
        }
    }
}

/// Steps over `=`, `+=` and the like.
fn assignment(cursor: &mut Cursor<'_>) -> bool {
    const CHANGES: &[char] = &['+', '-', '*', '/', '%', '^', '&', '|'];
    let marks = match () {
        () if CHANGES.iter().any(|mark| cursor.joint(0, *mark)) && cursor.punct(1, '=') => 2,
        () if cursor.punct(0, '=') && !cursor.joint(0, '=') => 1,
        () => return false,
    };
    cursor.take(marks);
    true
}

/// Steps over operands and operators in turns, as far as they go.
fn expression(cursor: &mut Cursor<'_>) -> bool {
    // `a < b < c` is none.
    let mut compared = false;
    loop {
        if !operand(cursor) {
            return false;
        }
        let (marks, compares) = operator(cursor);
        if marks == 0 {
            return true;
        }
        compared = match compares {
            Compares::Yes if compared => return false,
            Compares::Yes => true,
            Compares::No => compared,
            Compares::Ends => false,
        };
        cursor.take(marks);
    }
}

/// What an operator means for a comparison beside it.
enum Compares {
    Yes,
    No,
    Ends,
}

/// How many marks the operator has that stands here; none if there is none.
fn operator(cursor: &Cursor<'_>) -> (usize, Compares) {
    let Some(TokenTree::Punct(first)) = cursor.peek(0) else {
        return (0, Compares::No);
    };
    let next = |mark: char| cursor.joint(0, first.as_char()) && cursor.punct(1, mark);
    match first.as_char() {
        '&' if next('&') => (2, Compares::Ends),
        '|' if next('|') => (2, Compares::Ends),
        '=' | '!' if next('=') => (2, Compares::Yes),
        // `<<=` and `<-` are left alone.
        '<' | '>' if next('=') => (2, Compares::Yes),
        '<' | '>' if !cursor.joint(0, first.as_char()) => (1, Compares::Yes),
        '+' | '-' | '*' | '/' | '%' | '^' | '&' | '|' if !next('=') && !next('>') => {
            (1, Compares::No)
        }
        _ => (0, Compares::No),
    }
}

/// Steps over one operand, signs before it and what hangs on it.
fn operand(cursor: &mut Cursor<'_>) -> bool {
    while ['-', '!', '*', '&']
        .iter()
        .any(|mark| cursor.punct(0, *mark))
    {
        cursor.take(1);
    }
    let understood = match cursor.peek(0) {
        Some(TokenTree::Literal(_)) => true,
        Some(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Parenthesis | Delimiter::Bracket => list(group),
            Delimiter::Brace | Delimiter::None => false,
        },
        Some(token) => is_name(token) || is_truth(token),
        None => false,
    };
    if !understood {
        return false;
    }
    let path = cursor.peek(0).is_some_and(is_name);
    cursor.take(1);
    while path && cursor.path_separator(0) {
        if !cursor.peek(2).is_some_and(is_name) {
            return false;
        }
        cursor.take(3);
    }
    while let Some(token) = cursor.peek(0) {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '.' => {
                let field = match cursor.peek(1) {
                    // `0` of a pair; `.0.1` is one literal, which is left to syn.
                    Some(TokenTree::Literal(number)) => number
                        .to_string()
                        .bytes()
                        .all(|digit| digit.is_ascii_digit()),
                    Some(token) => is_name(token),
                    None => false,
                };
                if !field {
                    return false;
                }
                cursor.take(2);
            }
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis if list(group) => {
                    cursor.take(1);
                }
                Delimiter::Bracket if index(group) => {
                    cursor.take(1);
                }
                _ => return false,
            },
            _ => break,
        }
    }
    true
}

/// Expressions between commas.
fn list(group: &Group) -> bool {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    while !cursor.done() {
        if !expression(&mut cursor) || !(cursor.done() || cursor.punct(0, ',')) {
            return false;
        }
        cursor.take(1);
    }
    true
}

/// One expression.
fn index(group: &Group) -> bool {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    expression(&mut cursor) && cursor.done()
}

fn is_truth(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == "true" || ident == "false")
}

/// Whether a token is a name that is no word of any edition.
fn is_name(token: &TokenTree) -> bool {
    let TokenTree::Ident(ident) = token else {
        return false;
    };
    !matches!(
        ident.to_string().as_str(),
        "_" | "abstract"
            | "as"
            | "async"
            | "await"
            | "become"
            | "box"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "do"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "final"
            | "fn"
            | "for"
            | "gen"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "macro"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "override"
            | "priv"
            | "pub"
            | "raw"
            | "ref"
            | "return"
            | "safe"
            | "self"
            | "Self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "try"
            | "type"
            | "typeof"
            | "union"
            | "unsafe"
            | "unsized"
            | "use"
            | "virtual"
            | "where"
            | "while"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use proptest::prelude::*;

    use super::*;

    fn seen(source: &str) -> Option<(String, String)> {
        let tokens: TokenStream = source.parse().ok()?;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        closure(&tokens).map(|Inline { record, body }| (record.to_string(), body.to_string()))
    }

    #[test]
    fn plain_closures_are_understood() {
        for source in [
            "|o| o.total >= limit",
            "|o| -o.a.0 * 2 + !b[i + 1] & 3 != c::D::E(o, &x)",
            "|o| a < b && c > d || e == f",
            "|r#type| seen.insert(r#type.id)",
            "|mut o| { o.total += 1; o.b = c; o }",
            "|o| { f(o); }",
            "|o| [o, (1, true), \"x\"]",
            "|o| &o.a - &b",
        ] {
            let parts = seen(source).unwrap_or_else(|| panic!("{source}"));
            let both: TokenStream = format!("|{}| {}", parts.0, parts.1)
                .parse()
                .expect("tokens");
            let source: TokenStream = source.parse().expect("tokens");
            assert_eq!(both.to_string(), source.to_string());
        }
    }

    #[test]
    fn whatever_else_there_is_is_left_to_syn() {
        for source in [
            "to_row",
            "|o: &Order| o.a",
            "|&o| o",
            "|_| true",
            "|o, meta| true",
            "|o| -> bool { true }",
            "|o| (o.a)",
            "|o|",
            "|o| { }",
            "|o| o.a as u8",
            "|o| f::<u8>(o)",
            "|o| a < b < c",
            "|o| a == b == c",
            "|o| o.a?",
            "|o| return o",
            "|o| matches!(o, A)",
            "|o| 1..2",
            "|o| o.0.1",
            "|o| Row { a: o.a }",
            "|o| a b",
            "|o| a +",
            "|o| a = b",
            "|o| a <- b",
            "|o| { a; b c }",
            "|o| { let x = o; x }",
            "|o| f(, a)",
            "|o| o.",
        ] {
            assert_eq!(seen(source), None, "{source}");
        }
    }

    proptest! {
        /// What is understood is what `syn` reads to the end.
        #[test]
        fn nothing_is_understood_that_is_no_closure(
            pieces in proptest::collection::vec(prop::sample::select(&[
                "a", "b", "0", "1.5", "\"s\"", ".", ".", "::", "(", ")", "(", ")", "[", "]", "{", "}", ";", ",", "+", "-", "*", "/", "&", "&&", "|",
                "||", "<", ">", "<=", "==", "=", "+=", "<<", "<<=", "->", "=>", "..", "!", "!=", "?", "as", "if", "true", "self", "r#if", "#", "'x'", "'a", "a + b", "f(a, b)", "(a)", ".c", "< b", "== b", "&& c",
                "= b;", "a;", "[i]", "::B", "-", "&",
            ][..]), 0..7),
            braces in any::<bool>(),
        ) {
            let body = pieces.join(" ");
            let source = if braces { format!("|o| {{ {body} }}") } else { format!("|o| {body}") };
            if seen(&source).is_some() {
                prop_assert!(syn::parse_str::<syn::ExprClosure>(&source).is_ok(), "{}", source);
            }
        }
    }
}
