//! Container files that another library wrote are read back equal, and damaged ones are typed errors.
#![deny(warnings)]

mod claims;
mod damaged;
#[path = "../codec/leaves.rs"]
#[allow(dead_code)]
mod leaves;
#[path = "../codec/types.rs"]
#[allow(dead_code)]
mod types;
mod writers;

use std::io::BufRead;

use apache_avro::types::Value;
use apache_avro::{Codec as Theirs, Schema, Writer};
use spate_avro::container::{Codec, Container, ContainerError};
use spate_avro::{AvroError, AvroRecord as _};
use spate_macros::AvroRecord;
use spate_runtime::scratch::Scratch;

use crate::leaves::{compare, given, say};
use crate::types::All;

/// What an application sees as `spate`.
pub mod facade {
    pub use spate_avro as avro;
    pub use spate_macros::{AvroEnum, AvroRecord, AvroUnion};

    /// Where derives find the codec.
    pub mod __private {
        pub use spate_avro as avro;
    }
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/pair.avsc", crate = facade)]
struct Pair<'a> {
    key: i64,
    value: &'a str,
}

fn codecs() -> [(Codec, Theirs); 6] {
    [
        (Codec::Null, Theirs::Null),
        (Codec::Deflate, Theirs::Deflate(Default::default())),
        (Codec::Snappy, Theirs::Snappy),
        (Codec::Zstandard, Theirs::Zstandard(Default::default())),
        (Codec::Bzip2, Theirs::Bzip2(Default::default())),
        (Codec::Xz, Theirs::Xz(Default::default())),
    ]
}

/// A file of that many pairs, a block for every `each` of them.
fn file(codec: Theirs, pairs: usize, each: usize) -> Vec<u8> {
    let schema = Schema::parse_str(Pair::SCHEMA).expect("a schema");
    let mut writer = Writer::with_codec(&schema, Vec::new(), codec).expect("a writer");
    for n in 0..pairs {
        let record = Value::Record(vec![
            ("key".to_owned(), Value::Long(n as i64 - 7)),
            ("value".to_owned(), Value::String(format!("value {n}"))),
        ]);
        writer.append_value(record).expect("a record");
        if (n + 1) % each == 0 {
            writer.flush().expect("a block");
        }
    }
    writer.into_inner().expect("a file")
}

/// All pairs of a file, or the first error.
fn pairs(input: impl BufRead) -> Result<Vec<(i64, String)>, String> {
    let told = |error: ContainerError| error.to_string();
    let mut container = Container::open(input).map_err(told)?;
    container.expect::<Pair<'_>>().map_err(told)?;
    let mut buffer = Vec::new();
    let mut pairs = Vec::new();
    while let Some(block) = container.next_block(&mut buffer).map_err(told)? {
        for pair in block.records::<Pair<'_>>() {
            let Pair { key, value } = pair.map_err(|error| error.to_string())?;
            pairs.push((key, value.to_owned()));
        }
    }
    Ok(pairs)
}

fn expected(count: usize) -> Vec<(i64, String)> {
    (0..count)
        .map(|n| (n as i64 - 7, format!("value {n}")))
        .collect()
}

#[test]
fn files_of_every_codec_are_read_back_equal() {
    for (codec, theirs) in codecs() {
        let file = file(theirs, 1000, 300);
        let container = Container::open(&file[..]).expect("a file");
        assert_eq!(container.codec(), codec);
        assert_eq!(pairs(&file[..]), Ok(expected(1000)), "{codec}");
    }
}

#[test]
fn files_of_fastavro_of_every_codec_are_read_back_equal() {
    let files: [(Codec, &[u8]); 6] = [
        (Codec::Null, include_bytes!("../written/drawn.null.avro")),
        (
            Codec::Deflate,
            include_bytes!("../written/drawn.deflate.avro"),
        ),
        (
            Codec::Snappy,
            include_bytes!("../written/drawn.snappy.avro"),
        ),
        (
            Codec::Zstandard,
            include_bytes!("../written/drawn.zstandard.avro"),
        ),
        (Codec::Bzip2, include_bytes!("../written/drawn.bzip2.avro")),
        (Codec::Xz, include_bytes!("../written/drawn.xz.avro")),
    ];
    for (codec, file) in files {
        let mut container = Container::open(file).expect("a file");
        assert_eq!(container.codec(), codec);
        container.expect::<All<'_>>().expect("the schema of it");
        let (mut buffer, mut blocks, mut values) = (Vec::new(), 0, 0);
        let mut given = given().into_iter().take(40);
        while let Some(block) = container.next_block(&mut buffer).expect("a block") {
            blocks += 1;
            for record in block.records::<All<'_>>() {
                let record = record.expect("a record");
                let given = given.next().expect("no more than were written");
                values += compare(&record, given, &codec.to_string());
            }
        }
        assert_eq!(given.next(), None, "{codec}: all of them");
        assert!(blocks > 1, "{codec}: {blocks}");
        say(
            &format!("fastavro, a file with the codec {codec}"),
            40,
            values,
        );
    }
}

#[test]
fn a_file_may_come_in_small_pieces_and_have_no_records() {
    let file = file(Theirs::Snappy, 100, 7);
    let pieces = std::io::BufReader::with_capacity(1, &file[..]);
    assert_eq!(pairs(pieces), Ok(expected(100)));
    assert_eq!(pairs(&self::file(Theirs::Null, 0, 1)[..]), Ok(Vec::new()));
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nulls.avsc", crate = facade)]
struct Nulls {
    nulls: Vec<()>,
}

#[test]
fn what_no_byte_pays_for_is_bounded_for_each_record_and_not_for_its_block() {
    let schema = Schema::parse_str(Nulls::SCHEMA).expect("a schema");
    let mut writer = Writer::new(&schema, Vec::new()).expect("a writer");
    for _ in 0..3 {
        let nulls = Value::Array(vec![Value::Null; 40_000]);
        let record = Value::Record(vec![("nulls".to_owned(), nulls)]);
        writer.append_value(record).expect("a record");
    }
    let file = writer.into_inner().expect("a file");
    let mut container = Container::open(&file[..]).expect("a file");
    let mut resolution = container.resolution::<Nulls>().expect("its own schema");
    let (mut buffer, scratch) = (Vec::new(), Scratch::new());
    let block = container.next_block(&mut buffer).expect("a block");
    let block = block.expect("one block");
    let lengths = |records: Vec<Result<Nulls, AvroError>>| -> Vec<usize> {
        let length = |record: Result<Nulls, _>| record.expect("a record").nulls.len();
        records.into_iter().map(length).collect()
    };
    assert_eq!(lengths(block.records().collect()), [40_000; 3]);
    let resolved = block.resolved(&mut resolution, &scratch).collect();
    assert_eq!(lengths(resolved), [40_000; 3]);
}

#[test]
fn a_file_of_another_schema_is_refused_with_the_difference() {
    let other = Pair::SCHEMA.replace("\"long\"", "\"int\"");
    let schema = Schema::parse_str(&other).expect("a schema");
    let writer = Writer::new(&schema, Vec::new()).expect("a writer");
    let file = writer.into_inner().expect("a file");
    assert_eq!(
        pairs(&file[..]),
        Err("the file's schema is not that of `test.Pair`: it differs at field path `key`: int there, long here".to_owned())
    );
}
