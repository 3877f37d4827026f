//! Whatever is typed, however far: the macro answers with Rust and never panics.
//!
//! A corpus of pipelines is cut at every token, and tokens are deleted, doubled and swapped at random.

use proc_macro2::{Group, TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use spate_lang::pipeline::{diagnose, expand};

const CORPUS: &[&str] = &[
    "kafka -> avro -> map(|o: Order<'_>| row(o)) -> filter(|r| r.n > 0) -> clickhouse",
    r#"/// Doc.
    #[allow(dead_code)]
    pub(crate) orders(min: i64, f: fn(i64) -> bool) {
        let mut seen = Recent::<u64>::new(100_000);
        let (a, b): (u8, fn(u8) -> u8) = pair()?;
        source: kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> filter(|o, meta| o.n > min && meta.offset() > 0)
        -> try_map(convert::to_row::<A, B>, on_error = skip)
        -> flat_map(|o| o.lines.iter().map(move |l| (o.id, l)))
        -> rows: clickhouse::<Row>(table = "db.orders", on_error = fail,)
        name = "paid-orders";
        on_error = fail;
    }"#,
    "a { memory -> bytes -> capture } pub b() { memory -> bytes -> inspect(|x| { dbg!(x); }) -> discard }",
    "my::Source(path = \"x\") -> my::Decoder::<T>(on_error = skip) -> my::tag::<u8>(7, |x| x) -> my_sink",
    "a { kafka -> avro -> route(|o| &o.kind) { Kind::A => clickhouse, _ => drop, } dead_letter = kafka(\"dlq\"); }",
    "memory -> bytes -> tee { all: capture, some: filter(keep) -> route(|b| b[0]) { b'a' | b'b' if ok() => tee { x: capture, y: discard }, _ => rest: drop } }",
];

/// Changes one token, found by its place in the whole tree, groups and their inside counted.
fn edit(
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
                let mut inner = Group::new(group.delimiter(), edit(group.stream(), place, change));
                inner.set_span(group.span());
                output.push(TokenTree::Group(inner));
            }
            other => output.push(other),
        }
    }
    output.into_iter().collect()
}

/// The first `budget` tokens; a group that is cut is closed, as an editor does.
fn prefix(stream: TokenStream, budget: &mut usize) -> TokenStream {
    let mut output = Vec::new();
    for token in stream {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), prefix(group.stream(), budget));
                inner.set_span(group.span());
                output.push(TokenTree::Group(inner));
            }
            other => output.push(other),
        }
    }
    output.into_iter().collect()
}

fn count(stream: TokenStream) -> usize {
    let inside = |token: TokenTree| match token {
        TokenTree::Group(group) => 1 + count(group.stream()),
        _ => 1,
    };
    stream.into_iter().map(inside).sum()
}

/// The answer is Rust, and it holds an error exactly when something was found.
fn answers(source: TokenStream) {
    let mut input: TokenStream = "[::spate] [kafka avro clickhouse]"
        .parse()
        .expect("a front");
    input.extend(source.clone());
    let found = diagnose(input.clone());
    let output = expand(input);
    let items = syn::parse2::<syn::File>(output.clone());
    let block = syn::parse2::<syn::Expr>(output.clone());
    assert!(
        items.is_ok() || block.is_ok(),
        "not Rust: {:?}\ninput: {source}\noutput: {output}",
        items.err()
    );
    let reported = output.to_string().contains("compile_error");
    assert_eq!(reported, !found.is_empty(), "{source}");
}

#[test]
fn every_prefix_is_answered() {
    for text in CORPUS {
        let stream: TokenStream = text.parse().expect("tokens");
        for mut budget in 0..=count(stream.clone()) {
            answers(prefix(stream.clone(), &mut budget));
        }
    }
}

#[test]
fn every_single_deletion_is_answered() {
    for text in CORPUS {
        let stream: TokenStream = text.parse().expect("tokens");
        for place in 0..count(stream.clone()) {
            answers(edit(stream.clone(), &mut { place }, &|_| Vec::new()));
        }
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Delete,
    Double,
    /// Replaces a token by one of these.
    Replace(&'static str),
    /// Takes the brackets of a group away.
    Unwrap,
}

fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let words = select(vec![
        "->", ";", "=", ",", "|", "let", "kafka", "map", "tee", "<", "::", "{}", "(x)", "5",
        "\"t\"", "#", "_",
    ]);
    let edit = prop_oneof![
        4 => Just(Edit::Delete),
        2 => Just(Edit::Double),
        4 => words.prop_map(Edit::Replace),
        1 => Just(Edit::Unwrap),
    ];
    prop::collection::vec((any::<Index>(), edit), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_are_answered(text in select(CORPUS), edits in edits()) {
        let mut stream: TokenStream = text.parse().expect("tokens");
        for (at, kind) in edits {
            let total = count(stream.clone());
            if total == 0 {
                break;
            }
            let change = |token: TokenTree| match (&kind, token) {
                (Edit::Delete, _) => Vec::new(),
                (Edit::Double, token) => vec![token.clone(), token],
                (Edit::Replace(word), _) => word.parse::<TokenStream>().expect("a word").into_iter().collect(),
                (Edit::Unwrap, TokenTree::Group(group)) => group.stream().into_iter().collect(),
                (Edit::Unwrap, token) => vec![token],
            };
            stream = edit(stream, &mut at.index(total), &change);
        }
        answers(stream);
    }
}
