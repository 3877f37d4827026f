//! Expressions of the user's that stand in the kernel's loop itself, not in a closure: guards of `route` and arguments of a
//! function of one's own. A `continue` there would lose the record without a word, a `return` the rest of its batch.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

use super::cursor::Cursor;

/// Whether an expression could leave the loop that it stands in: by a word, by `?`, or by a macro, whose inside is not known.
pub(crate) fn may_leave(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => ["break", "continue", "return"]
            .iter()
            .any(|leaves| word == *leaves),
        TokenTree::Punct(mark) => matches!(mark.as_char(), '?' | '!'),
        TokenTree::Group(group) => may_leave(&group.stream()),
        TokenTree::Literal(_) => false,
    })
}

/// `PAT if EXPR` in two; a pattern has no `if` of its own.
pub(crate) fn guard(pattern: &TokenStream) -> (TokenStream, Option<TokenStream>) {
    let is_if = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "if");
    let mut tokens = pattern.clone().into_iter();
    let head = tokens.by_ref().take_while(|token| !is_if(token)).collect();
    let guard: TokenStream = tokens.collect();
    (head, (!guard.is_empty()).then_some(guard))
}

/// One condition of a guard: what stands before its expression, `let PAT =` or nothing, and the expression.
pub(crate) struct Condition {
    pub(crate) binding: TokenStream,
    pub(crate) expression: TokenStream,
}

/// The conditions that `&&` joins in a guard with a `let`; a guard without one is a single condition.
pub(crate) fn conditions(guard: &TokenStream) -> Vec<Condition> {
    let tokens: Vec<TokenTree> = guard.clone().into_iter().collect();
    let is_let = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "let");
    if !tokens.iter().any(is_let) {
        let (binding, expression) = (TokenStream::new(), guard.clone());
        return vec![Condition {
            binding,
            expression,
        }];
    }
    let mut conditions = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let end = (0..rest.len()).find(|&n| n > 0 && joined(rest, n, "&&"));
        let (one, more) = rest.split_at(end.unwrap_or(rest.len()));
        let binds = one.first().is_some_and(is_let);
        // The first `=` that is no part of `..=`, `==` and the like.
        let equals = (1..one.len()).find(|&n| {
            binds
                && mark(&one[n]) == Some(('=', Spacing::Alone))
                && !matches!(mark(&one[n - 1]), Some((_, Spacing::Joint)))
        });
        let (binding, expression) = one.split_at(equals.map_or(0, |n| n + 1));
        conditions.push(Condition {
            binding: binding.iter().cloned().collect(),
            expression: expression.iter().cloned().collect(),
        });
        rest = more.get(2..).unwrap_or_default();
    }
    conditions
}

fn mark(token: &TokenTree) -> Option<(char, Spacing)> {
    match token {
        TokenTree::Punct(punct) => Some((punct.as_char(), punct.spacing())),
        _ => None,
    }
}

/// Whether the two marks of `operator` begin at `n`.
fn joined(tokens: &[TokenTree], n: usize, operator: &str) -> bool {
    let at = |n: usize| tokens.get(n).and_then(mark).map(|(mark, _)| mark);
    let mut marks = operator.chars();
    at(n) == marks.next()
        && at(n + 1) == marks.next()
        && matches!(mark(&tokens[n]), Some((_, Spacing::Joint)))
}

/// The first `yield`, which makes a coroutine of a closure.
pub(crate) fn yields(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "yield" => Some(word.span()),
        TokenTree::Group(group) => yields(&group.stream()),
        _ => None,
    })
}

/// The first `.await` that is in no `async` block. What is in a macro may be in one of its own.
pub(crate) fn awaits(tokens: &TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    while let Some(token) = cursor.peek(0) {
        if cursor.keyword(0, "async") {
            let block = 1 + usize::from(cursor.keyword(1, "move"));
            // How far an `async` closure reaches is not known.
            cursor.group(block, Delimiter::Brace)?;
            cursor.take(block + 1);
            continue;
        }
        if cursor.punct(0, '!') && matches!(cursor.peek(1), Some(TokenTree::Group(_))) {
            cursor.take(2);
            continue;
        }
        if cursor.keyword(0, "await") && cursor.after_dot() {
            return Some(token.span());
        }
        if let TokenTree::Group(group) = token
            && let Some(found) = awaits(&group.stream())
        {
            return Some(found);
        }
        cursor.take(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> TokenStream {
        source.parse().expect("tokens")
    }

    #[test]
    fn a_guard_is_cut_at_what_joins_its_conditions_only_where_one_binds() {
        for (source, expected) in [
            ("a && b || c", &["|a && b || c"][..]),
            ("let Some(x) = y", &["let Some (x) =|y"]),
            (
                "let 1..=5 = y? && (a && b) && let P { k } = f(z == w)",
                &["let 1 ..= 5 =|y ?", "|(a && b)", "let P { k } =|f (z == w)"],
            ),
            ("a == b && let x = y == z", &["|a == b", "let x =|y == z"]),
        ] {
            let found: Vec<String> = conditions(&tokens(source))
                .iter()
                .map(|condition| format!("{}|{}", condition.binding, condition.expression))
                .collect();
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn what_could_leave_is_seen_at_any_depth_and_nothing_else_is() {
        for source in [
            "a?",
            "f(g(return))",
            "{ continue }",
            "match x { _ => break }",
            "next!()",
        ] {
            assert!(may_leave(&tokens(source)), "{source}");
        }
        for source in ["a + f(b, |c| c)", "\"return\"", "r#return", "'a: loop { }"] {
            assert!(!may_leave(&tokens(source)), "{source}");
        }
    }

    #[test]
    fn what_waits_is_seen_where_it_is_sure_to() {
        for source in [
            "|o| f(o).await",
            "|o| { if o.a { g(o).await?; } true }",
            "|o| block_on(async { 1 }) + f(o).await",
        ] {
            assert!(awaits(&tokens(source)).is_some(), "{source}");
        }
        for source in [
            "|o| block_on(async { f(o).await })",
            "|o| block_on(async move { f(o).await })",
            "|o| block_on(async || f(o).await)",
            "|o| wait!(f(o).await)",
            "|o| o.r#await",
            "|o| !(o.a)",
        ] {
            assert!(awaits(&tokens(source)).is_none(), "{source}");
        }
    }

    #[test]
    fn a_pattern_ends_at_its_guard() {
        let (head, found) = guard(&tokens("Some(x) | Other { x } if x > 1"));
        assert_eq!(head.to_string(), "Some (x) | Other { x }");
        assert_eq!(found.expect("a guard").to_string(), "x > 1");
        assert!(guard(&tokens("_")).1.is_none());
    }
}
