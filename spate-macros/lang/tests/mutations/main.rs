//! Whatever is typed, however far: the macros answer with Rust and never panic.
//!
//! Every block and every derived struct of the cases, the examples and the pages is cut at every token, and tokens are
//! deleted, doubled, swapped, replaced and put into other brackets. What is claimed of each answer is in `claims`, which
//! the fuzz targets share.

#[path = "../claims/mod.rs"]
mod claims;

mod corpus;
mod deep;
mod edits;
mod files;

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::sample::select;

use claims::{count, derive_tokens, pipeline_tokens};
use corpus::{DERIVES, PIPELINES, dir};
use edits::{apply, edit, edits, prefix};

/// What a pipeline can end in; a block with none of these words and no name of ones own has no sink.
const SINKS: [&str; 4] = ["clickhouse", "capture", "discard", "tee"];

#[test]
fn the_corpus_is_there() {
    assert!(PIPELINES.len() > 150, "{} blocks", PIPELINES.len());
    assert!(DERIVES.len() > 60, "{} structs", DERIVES.len());
}

/// Blocks of the cases begin alike: what was asked once is not asked again.
#[test]
fn every_prefix_of_a_block_is_answered() {
    let mut seen = HashSet::new();
    for text in PIPELINES.iter() {
        let stream: TokenStream = text.parse().expect("tokens");
        for mut budget in 0..=count(stream.clone()) {
            let prefix = prefix(stream.clone(), &mut budget);
            if seen.insert(prefix.to_string()) {
                pipeline_tokens(prefix);
            }
        }
    }
}

#[test]
fn every_block_with_one_token_less_is_answered() {
    for text in corpus::OWN {
        let stream: TokenStream = text.parse().expect("tokens");
        for place in 0..count(stream.clone()) {
            pipeline_tokens(edit(stream.clone(), &mut { place }, &|_| Vec::new()));
        }
    }
}

/// The claims say that what was found is reported; this says that something is found.
#[test]
fn a_block_that_is_cut_before_its_sink_is_an_error() {
    for text in [
        "kafka(topic = \"t\") -> avro::<Order<'_>> -> filter(|o| o.n > 0) -> map(|o| row(o)) -> clickhouse::<Row>",
        "memory -> bytes -> try_map(parse, on_error = skip) -> flat_map(|l| l.parts()) -> capture",
        "pub orders(min: i64) { let mut seen = Recent::new(9); kafka -> avro::<Order> -> inspect(|o| see(o)) -> discard }",
        "kafka -> avro::<Order> -> route(|o| o.kind) { Kind::A => clickhouse::<A>, _ => capture }",
    ] {
        let stream: TokenStream = text.parse().expect("tokens");
        assert_eq!(pipeline_tokens(stream.clone()), 0, "{text}");
        for mut budget in 0..count(stream.clone()) {
            let cut = prefix(stream.clone(), &mut budget);
            if !SINKS.iter().any(|sink| contains(cut.clone(), sink)) {
                assert!(
                    pipeline_tokens(cut.clone()) > 0,
                    "nothing wrong with: {cut}"
                );
            }
        }
    }
}

fn contains(stream: TokenStream, word: &str) -> bool {
    stream.into_iter().any(|token| match token {
        TokenTree::Ident(found) => found == word,
        TokenTree::Group(group) => contains(group.stream(), word),
        _ => false,
    })
}

#[test]
fn every_prefix_of_a_struct_is_answered() {
    for text in DERIVES.iter() {
        let stream: TokenStream = text.parse().expect("tokens");
        for mut budget in 0..=count(stream.clone()) {
            derive_tokens(prefix(stream.clone(), &mut budget), &dir());
        }
    }
}

#[test]
fn every_struct_with_one_token_less_is_answered() {
    for text in DERIVES.iter().step_by(5) {
        let stream: TokenStream = text.parse().expect("tokens");
        for place in 0..count(stream.clone()) {
            derive_tokens(
                edit(stream.clone(), &mut { place }, &|_| Vec::new()),
                &dir(),
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_of_a_block_are_answered(text in select(PIPELINES.as_slice()), edits in edits()) {
        pipeline_tokens(apply(text.parse().expect("tokens"), &edits));
    }

    #[test]
    fn random_edits_of_a_struct_are_answered(text in select(DERIVES.as_slice()), edits in edits()) {
        derive_tokens(apply(text.parse().expect("tokens"), &edits), &dir());
    }
}
