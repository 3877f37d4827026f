//! Files that a derive reads, with bytes changed, and the kept corpus of the fuzzer.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::claims;
use crate::corpus::{dir, files, root};

/// The inputs that the fuzzer has kept for a target.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let dir = root().join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{dir:?}: {error}"));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{dir:?} is empty");
    let inputs = paths.iter().map(|path| std::fs::read(path).expect("bytes"));
    inputs.collect()
}

#[test]
fn the_kept_corpus_is_answered() {
    kept("pipeline")
        .iter()
        .for_each(|input| claims::pipeline(input));
    kept("derive")
        .iter()
        .for_each(|input| claims::derive(input, &dir()));
    kept("schema")
        .iter()
        .for_each(|input| claims::schema(input));
    kept("table").iter().for_each(|input| claims::table(input));
}

/// The corpus with the files of the cases.
fn inputs(target: &str, extension: &str) -> Vec<Vec<u8>> {
    let mut inputs = kept(target);
    inputs.extend(files(extension).into_iter().map(String::into_bytes));
    inputs
}

#[derive(Clone, Debug)]
enum Change {
    Cut,
    Delete(u8),
    Insert(&'static str),
    /// Puts a piece of the text somewhere else.
    Copy(Index, u8),
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "\"",
    "'",
    "`",
    "\\",
    ".",
    "-",
    "0",
    "9",
    "1e9",
    "null",
    "true",
    "\u{e9}",
    "\u{0}",
    "--",
    "/*",
    "*/",
    "\n",
    "{\"type\":",
    "\"record\"",
    "\"fields\":",
    "\"name\":",
    "\"items\":",
    "\"default\":",
    "\"logicalType\":",
    "\"aliases\":",
    "\"a.b\"",
    "Nullable(",
    "Array(",
    "LowCardinality(",
    "Map(",
    "Tuple(",
    "DateTime64(3)",
    "Decimal(9, 2)",
    "CREATE TABLE t (",
    "DEFAULT ",
];

fn changes() -> impl Strategy<Value = Vec<(Index, Change)>> {
    let change = prop_oneof![
        1 => Just(Change::Cut),
        4 => any::<u8>().prop_map(Change::Delete),
        4 => select(PIECES).prop_map(Change::Insert),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(from, length)| Change::Copy(from, length)),
    ];
    prop::collection::vec((any::<Index>(), change), 1..8)
}

fn change(mut bytes: Vec<u8>, changes: &[(Index, Change)]) -> Vec<u8> {
    for (at, change) in changes {
        let at = at.index(bytes.len() + 1);
        let piece = match change {
            Change::Cut => {
                bytes.truncate(at);
                continue;
            }
            Change::Delete(length) => {
                let end = (at + usize::from(*length) % 16).min(bytes.len());
                bytes.drain(at..end);
                continue;
            }
            Change::Insert(piece) => piece.as_bytes().to_vec(),
            Change::Copy(from, length) => {
                let from = from.index(bytes.len() + 1);
                let end = (from + usize::from(*length)).min(bytes.len());
                bytes[from..end].to_vec()
            }
        };
        bytes.splice(at..at, piece);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_with_changed_bytes_is_answered(input in select(inputs("schema", "avsc")), changes in changes()) {
        claims::schema(&change(input, &changes));
    }

    #[test]
    fn a_table_with_changed_bytes_is_answered(input in select(inputs("table", "sql")), changes in changes()) {
        claims::table(&change(input, &changes));
    }

    #[test]
    fn a_block_with_changed_bytes_is_answered(input in select(kept("pipeline")), changes in changes()) {
        claims::pipeline(&change(input, &changes));
    }

    #[test]
    fn a_struct_with_changed_bytes_is_answered(input in select(kept("derive")), changes in changes()) {
        claims::derive(&change(input, &changes), &dir());
    }
}
