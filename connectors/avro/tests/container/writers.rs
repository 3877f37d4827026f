//! Files of other writers' schemas: their records are read as the compiled record, or as values.

use apache_avro::types::Value as Theirs;
use apache_avro::{Schema, Writer};
use spate_avro::AvroRecord as _;
use spate_avro::container::Container;
#[cfg(feature = "value")]
use spate_avro::container::ContainerError;
use spate_runtime::scratch::Scratch;

use crate::{Pair, codecs, expected};

/// All pairs of a file by the resolution of its schema, or the first error.
fn pairs(file: &[u8]) -> Result<Vec<(i64, String)>, String> {
    let mut container = Container::open(file).map_err(|error| error.to_string())?;
    let resolution = container.resolution::<Pair<'_>>();
    let mut resolution = resolution.map_err(|error| error.to_string())?;
    let mut pairs = Vec::new();
    let mut buffer = Vec::new();
    let mut scratch = Scratch::new();
    while let Some(block) = container
        .next_block(&mut buffer)
        .map_err(|error| error.to_string())?
    {
        for pair in block.resolved::<Pair<'_>>(&mut resolution, &scratch) {
            let Pair { key, value } = pair.map_err(|error| error.to_string())?;
            pairs.push((key, value.to_owned()));
        }
        scratch.clear();
    }
    Ok(pairs)
}

/// All records of a file as text, or the first error.
#[cfg(feature = "value")]
fn values(file: &[u8]) -> Result<Vec<String>, String> {
    let told = |error: ContainerError| error.to_string();
    let mut container = Container::open(file).map_err(told)?;
    let reader = container.value_reader().map_err(told)?;
    let mut values = Vec::new();
    let mut buffer = Vec::new();
    while let Some(block) = container.next_block(&mut buffer).map_err(told)? {
        for value in block.values(&reader) {
            values.push(value.map_err(|error| error.to_string())?.to_string());
        }
    }
    Ok(values)
}

/// What fastavro wrote, by the codec.
fn written() -> Vec<(&'static str, Vec<u8>)> {
    let line = |line: &'static str| {
        let (codec, hex) = line.split_once(' ').expect("a codec and a file");
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("digits");
        (codec, (0..hex.len()).step_by(2).map(byte).collect())
    };
    include_str!("../written/files.hex")
        .lines()
        .map(line)
        .collect()
}

#[test]
fn files_of_an_older_schema_that_fastavro_wrote_are_read_as_the_compiled_record() {
    let written = written();
    assert_eq!(written.len(), 6, "one for each codec");
    for (codec, file) in written {
        let container = Container::open(&file[..]).expect("a file");
        assert_eq!(container.codec().to_string(), codec);
        assert!(container.expect::<Pair<'_>>().is_err(), "another schema");
        assert_eq!(pairs(&file), Ok(expected(40)), "{codec}");
    }
}

#[cfg(feature = "value")]
#[test]
fn files_that_fastavro_wrote_are_read_as_values() {
    for (codec, file) in written() {
        let values = values(&file).expect("a file");
        assert_eq!(values.len(), 40, "{codec}");
        assert_eq!(values[0], r#"{"value": "value 0", "at": 0, "key": -7}"#);
        assert_eq!(
            values[39],
            r#"{"value": "value 39", "at": null, "key": 32}"#
        );
    }
}

#[test]
fn files_of_a_newer_schema_are_read_with_every_codec() {
    // One more field in front and one behind, a union where there was none, another order.
    let newer = r#"{"type":"record","name":"Pair","namespace":"test","fields":[
        {"name":"more","type":{"type":"array","items":"double"}},
        {"name":"value","type":["null","string"]},
        {"name":"key","type":"long"},
        {"name":"last","type":{"type":"enum","name":"E","symbols":["A","B"]}}]}"#;
    let schema = Schema::parse_str(newer).expect("a schema");
    let record = |n: usize| {
        let more = (0..n % 3).map(|it| Theirs::Double(it as f64)).collect();
        let value = Theirs::Union(1, Box::new(Theirs::String(format!("value {n}"))));
        Theirs::Record(vec![
            ("more".to_owned(), Theirs::Array(more)),
            ("value".to_owned(), value),
            ("key".to_owned(), Theirs::Long(n as i64 - 7)),
            ("last".to_owned(), Theirs::Enum(1, "B".to_owned())),
        ])
    };
    for (codec, theirs) in codecs() {
        let mut writer = Writer::with_codec(&schema, Vec::new(), theirs).expect("a writer");
        for n in 0..500 {
            writer.append_value(record(n)).expect("a record");
            if n % 90 == 0 {
                writer.flush().expect("a block");
            }
        }
        let file = writer.into_inner().expect("a file");
        assert_eq!(pairs(&file), Ok(expected(500)), "{codec}");
        #[cfg(feature = "value")]
        assert_eq!(
            values(&file).expect("a file")[8],
            r#"{"more": [0.0, 1.0], "value": "value 8", "key": 1, "last": "B"}"#
        );
    }
}

#[test]
fn a_file_of_the_compiled_schema_may_be_read_either_way() {
    let file = crate::file(apache_avro::Codec::Null, 100, 30);
    assert_eq!(pairs(&file), Ok(expected(100)));
    #[cfg(feature = "value")]
    assert_eq!(values(&file).map(|values| values.len()), Ok(100));
}

#[test]
fn a_file_that_can_never_be_read_is_refused_with_the_fields_path() {
    let other = Pair::SCHEMA.replace("\"long\"", "\"string\"");
    let schema = Schema::parse_str(&other).expect("a schema");
    let writer = Writer::new(&schema, Vec::new()).expect("a writer");
    let file = writer.into_inner().expect("a file");
    assert_eq!(
        pairs(&file),
        Err("the file's schema is not that of `test.Pair`: it cannot be read as `test.Pair`, at field path `key`: string there cannot be read as long here".to_owned())
    );
}

/// A file of one block without compression.
fn damaged(schema: &str, count: i64, records: &[u8]) -> Vec<u8> {
    let mut file = b"Obj\x01\x02\x16avro.schema".to_vec();
    crate::damaged::long(&mut file, schema.len() as i64);
    file.extend_from_slice(schema.as_bytes());
    file.push(0);
    file.extend_from_slice(&[7; 16]);
    crate::damaged::long(&mut file, count);
    crate::damaged::long(&mut file, records.len() as i64);
    file.extend_from_slice(records);
    file.extend_from_slice(&[7; 16]);
    file
}

#[test]
fn an_error_of_a_record_says_where_in_the_block_it_is_and_is_the_last() {
    let older = Pair::SCHEMA.replace("\"long\"", "\"int\"");
    let whole = [2, 2, b'a', 4, 2, b'b'];
    let read = |count, records: &[u8]| {
        let file = damaged(&older, count, records);
        let pairs = pairs(&file);
        #[cfg(feature = "value")]
        match (&pairs, values(&file)) {
            (Ok(pairs), Ok(values)) => assert_eq!(pairs.len(), values.len()),
            (Err(pairs), Err(values)) => assert_eq!(*pairs, values),
            other => panic!("{other:?}"),
        }
        pairs
    };
    let two = vec![(1, "a".to_owned()), (2, "b".to_owned())];
    assert_eq!(read(2, &whole), Ok(two));
    for (count, records, error) in [
        (
            1,
            &whole[..],
            "byte 3 of 6: 3 bytes are left behind the end of the record: it was written with another schema",
        ),
        (
            3,
            &whole,
            "field `key`, byte 6 of 6: the payload ends here, 1 more bytes are needed",
        ),
        (
            2,
            &whole[..5],
            "field `value`, byte 5 of 5: the payload ends here, 1 more bytes are needed",
        ),
    ] {
        assert_eq!(read(count, records), Err(error.to_owned()));
    }
    let text = [2, 2, b'a', 4, 2, 0xff];
    let error = read(2, &text).expect_err("no text");
    assert!(
        error.contains("field `value`, byte 6 of 6: text that is not UTF-8"),
        "{error}"
    );
}

#[test]
fn a_count_of_records_without_bytes_keeps_nobody_busy() {
    let empty = r#"{"type":"record","name":"Pair","namespace":"test","fields":[]}"#;
    let file = damaged(empty, i64::MAX, &[]);
    #[cfg(feature = "value")]
    {
        assert!(values(&file).is_err_and(|error| error.contains("items without bytes")));
        let read = |count| values(&damaged(empty, count, &[])).map(|values| values.len());
        assert_eq!(read(65_536), Ok(65_536));
        assert!(read(65_537).is_err());
    }
    let error = Container::open(&file[..])
        .expect("a file")
        .resolution::<Pair<'_>>();
    assert!(error.is_err(), "it has no key");
}
