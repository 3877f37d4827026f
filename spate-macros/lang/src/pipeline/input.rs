//! The contract with the `macro_rules!` front: `[$crate] [feature ..] user tokens`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::cursor::Cursor;
use crate::diagnostic::{Code, Diagnostic, Errors};

/// The input of one call, taken apart.
pub(crate) struct Input {
    /// `$crate`, kept as received: it resolves wherever it is moved to, and could not be built anew.
    pub(crate) root: TokenStream,
    /// The features of the facade that are on.
    pub(crate) features: Vec<String>,
    /// What the user wrote.
    pub(crate) tokens: Vec<TokenTree>,
}

/// Takes the input apart; `None` when it did not come through the front.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Input> {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let cursor = Cursor::new(&tokens);
    let root = cursor
        .group(0, Delimiter::Bracket)
        .map(|group| group.stream());
    let features = cursor
        .group(1, Delimiter::Bracket)
        .map(|group| group.stream());
    let (Some(root), Some(features)) = (root.filter(|root| !root.is_empty()), features) else {
        errors.push(Diagnostic::new(
            Code::NoFront,
            Span::call_site(),
            "this macro is called through `spate::pipeline!`",
        ));
        return None;
    };
    Some(Input {
        root,
        features: names(features),
        tokens: tokens[2..].to_vec(),
    })
}

/// Feature names, as words or as string literals; commas between them mean nothing.
fn names(tokens: TokenStream) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut joined = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                let before = if joined { names.pop() } else { None };
                names.push(before.map_or(word.to_string(), |name| format!("{name}-{word}")));
            }
            TokenTree::Literal(literal) => {
                names.push(literal.to_string().trim_matches('"').to_owned())
            }
            _ => {
                joined = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '-');
                continue;
            }
        }
        joined = false;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_words_or_strings() {
        let tokens = "kafka kafka-tls, \"clickhouse-uuid\" avro"
            .parse()
            .expect("tokens");
        assert_eq!(
            names(tokens),
            ["kafka", "kafka-tls", "clickhouse-uuid", "avro"]
        );
    }
}
