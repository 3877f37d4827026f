//! Changes of one token, found by its place in the whole tree, groups and their insides counted.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::claims::count;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Delete,
    Double,
    /// Changes places with the token behind it.
    Swap,
    /// Replaces a token by one of these.
    Replace(&'static str),
    /// Puts a token of the same block there.
    Copy(Index),
    /// Takes the brackets of a group away.
    Unwrap,
    /// Puts other brackets around a group.
    Delimit(Delimiter),
    /// Puts brackets around a token.
    Wrap(Delimiter),
}

const DELIMITERS: [Delimiter; 4] = [
    Delimiter::Parenthesis,
    Delimiter::Brace,
    Delimiter::Bracket,
    Delimiter::None,
];

const WORDS: &[&str] = &[
    "->",
    "=>",
    ";",
    "=",
    ",",
    "|",
    ":",
    "::",
    "<",
    ">",
    "&",
    "..",
    "!",
    "#",
    "_",
    "{}",
    "()",
    "(x)",
    "[]",
    "5",
    "1.5",
    "\"t\"",
    "b\"t\"",
    "'c'",
    "'a",
    "r#\"t\"#",
    "let",
    "pub",
    "mut",
    "move",
    "async",
    "if",
    "drop",
    "kafka",
    "memory",
    "avro",
    "bytes",
    "map",
    "try_map",
    "filter",
    "flat_map",
    "route",
    "tee",
    "clickhouse",
    "capture",
    "on_error",
    "skip",
    "fail",
    "name",
    "|x| x",
    "|a, b, c| a",
    "::<T>",
    "<T>",
    "r#type",
    "String",
    "Option",
    "Vec<u8>",
    "struct",
    "enum",
    "union",
    "'static",
];

pub(crate) fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let edit = prop_oneof![
        4 => Just(Edit::Delete),
        2 => Just(Edit::Double),
        2 => Just(Edit::Swap),
        4 => select(WORDS).prop_map(Edit::Replace),
        2 => any::<Index>().prop_map(Edit::Copy),
        1 => Just(Edit::Unwrap),
        1 => select(&DELIMITERS[..]).prop_map(Edit::Delimit),
        1 => select(&DELIMITERS[..]).prop_map(Edit::Wrap),
    ];
    prop::collection::vec((any::<Index>(), edit), 1..8)
}

pub(crate) fn apply(mut stream: TokenStream, edits: &[(Index, Edit)]) -> TokenStream {
    for (at, kind) in edits {
        let total = count(stream.clone());
        if total == 0 {
            break;
        }
        let place = at.index(total);
        if matches!(kind, Edit::Swap) {
            stream = swap(stream, &mut { place });
            continue;
        }
        let copied = match kind {
            Edit::Copy(from) => nth(&stream, from.index(total)),
            _ => None,
        };
        let change = |token: TokenTree| match (kind, token) {
            (Edit::Delete, _) => Vec::new(),
            (Edit::Double, token) => vec![token.clone(), token],
            (Edit::Replace(word), _) => word
                .parse::<TokenStream>()
                .expect("a word")
                .into_iter()
                .collect(),
            (Edit::Copy(_), token) => copied.clone().into_iter().chain([token]).collect(),
            (Edit::Unwrap, TokenTree::Group(group)) => group.stream().into_iter().collect(),
            (Edit::Delimit(delimiter), TokenTree::Group(group)) => {
                vec![Group::new(*delimiter, group.stream()).into()]
            }
            (Edit::Wrap(delimiter), token) => vec![Group::new(*delimiter, token.into()).into()],
            (_, token) => vec![token],
        };
        stream = edit(stream, &mut { place }, &change);
    }
    stream
}

/// Changes the token at `place`.
pub(crate) fn edit(
    stream: TokenStream,
    place: &mut usize,
    change: &dyn Fn(TokenTree) -> Vec<TokenTree>,
) -> TokenStream {
    let mut output = Vec::new();
    for token in stream {
        if *place == 0 {
            *place = usize::MAX;
            output.extend(change(token));
            continue;
        }
        *place = place.saturating_sub(usize::from(*place != usize::MAX));
        match token {
            TokenTree::Group(group) => {
                let inside = edit(group.stream(), place, change);
                output.push(again(&group, inside));
            }
            other => output.push(other),
        }
    }
    output.into_iter().collect()
}

/// The first `budget` tokens; a group that is cut is closed, as an editor does.
pub(crate) fn prefix(stream: TokenStream, budget: &mut usize) -> TokenStream {
    let mut output = Vec::new();
    for token in stream {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        match token {
            TokenTree::Group(group) => {
                let inside = prefix(group.stream(), budget);
                output.push(again(&group, inside));
            }
            other => output.push(other),
        }
    }
    output.into_iter().collect()
}

fn swap(stream: TokenStream, place: &mut usize) -> TokenStream {
    let mut tokens: Vec<TokenTree> = stream.into_iter().collect();
    for n in 0..tokens.len() {
        if *place == 0 {
            *place = usize::MAX;
            let behind = (n + 1).min(tokens.len() - 1);
            tokens.swap(n, behind);
            break;
        }
        *place = place.saturating_sub(usize::from(*place != usize::MAX));
        if let TokenTree::Group(group) = &tokens[n] {
            let inside = swap(group.stream(), place);
            tokens[n] = again(group, inside);
        }
    }
    tokens.into_iter().collect()
}

fn nth(stream: &TokenStream, place: usize) -> Option<TokenTree> {
    fn look(stream: TokenStream, place: &mut usize) -> Option<TokenTree> {
        for token in stream {
            if *place == 0 {
                return Some(token);
            }
            *place -= 1;
            if let TokenTree::Group(group) = &token
                && let Some(found) = look(group.stream(), place)
            {
                return Some(found);
            }
        }
        None
    }
    look(stream.clone(), &mut { place })
}

fn again(group: &Group, inside: TokenStream) -> TokenTree {
    let mut again = Group::new(group.delimiter(), inside);
    again.set_span(group.span());
    again.into()
}
