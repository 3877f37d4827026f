//! Payloads and schemas that are meant to do harm: each is an error before it costs memory, time or the stack.

use std::time::{Duration, Instant};

use spate_avro::AvroErrorKind;
use spate_avro::value::{ReadError, ValueReader};

/// A number as the encoding has it.
fn long(value: i64) -> Vec<u8> {
    let mut left = (value << 1 ^ value >> 63) as u64;
    let mut bytes = Vec::new();
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes
}

fn record(ty: &str) -> ValueReader {
    let schema = format!(r#"{{"type":"record","name":"R","fields":[{{"name":"f","type":{ty}}}]}}"#);
    ValueReader::new(&schema).expect("a schema")
}

fn refused(reader: &ValueReader, body: &[u8]) -> AvroErrorKind {
    match reader.read(body) {
        Err(ReadError::Payload(error)) => error.kind(),
        other => panic!("{:?}", other.map(|value| value.to_string().len())),
    }
}

const NULLS: &str = r#"{"type":"array","items":"null"}"#;

#[test]
fn counts_and_lengths_that_no_byte_pays_for_are_errors() {
    let nulls = record(NULLS);
    for count in [i64::MAX, i64::MIN + 1, 1 << 30, 65_537] {
        let size = if count < 0 { &[0][..] } else { &[] };
        let body = [&long(count)[..], size, &[0]].concat();
        let kind = refused(&nulls, &body);
        assert!(
            matches!(kind, AvroErrorKind::TooManyEmptyItems { .. }),
            "{count}: {kind}"
        );
    }
    let items = record(r#"{"type":"array","items":"long"}"#);
    let map = record(r#"{"type":"map","values":"null"}"#);
    for count in [i64::MAX, 1 << 30, 3] {
        let body = [&long(count)[..], &[0, 0]].concat();
        for reader in [&items, &map] {
            let kind = refused(reader, &body);
            assert!(
                matches!(kind, AvroErrorKind::TooManyItems { .. }),
                "{count}: {kind}"
            );
        }
    }
    // A block whose size is a lie: the size is no way around its items.
    let body = [&long(-1)[..], &long(1), &long(300)].concat();
    assert!(matches!(
        refused(&items, &body),
        AvroErrorKind::BlockSize { said: 1 }
    ));
    for ty in [r#""bytes""#, r#""string""#] {
        for length in [1 << 30, i64::MAX, 4] {
            let body = [&long(length)[..], b"abc"].concat();
            let kind = refused(&record(ty), &body);
            assert!(
                matches!(kind, AvroErrorKind::Truncated { .. }),
                "{length}: {kind}"
            );
        }
        let kind = refused(&record(ty), &long(-1));
        assert_eq!(kind, AvroErrorKind::NegativeLength { length: -1 });
    }
    let wide = record(r#"{"type":"fixed","name":"F","size":2147483647}"#);
    assert!(matches!(
        refused(&wide, &[1]),
        AvroErrorKind::Truncated { .. }
    ));
}

/// What a sized block holds is looked at too: `apache-avro` would make room for what is inside.
#[test]
fn the_items_of_a_block_with_a_size_are_looked_at() {
    let inside = long(1 << 30);
    let size = long(inside.len() as i64);
    let body = [&long(-1)[..], &size, &inside, &[0]].concat();
    let kind = refused(&record(r#"{"type":"array","items":"bytes"}"#), &body);
    assert!(matches!(kind, AvroErrorKind::Truncated { .. }), "{kind}");
}

/// Records of nothing but nulls make many values of no bytes.
#[test]
fn values_without_bytes_are_bounded_over_the_record() {
    let fields: Vec<String> = (0..1000)
        .map(|n| format!(r#"{{"name":"f{n}","type":"null"}}"#))
        .collect();
    let row = format!(
        r#"{{"type":"record","name":"Row","fields":[{}]}}"#,
        fields.join(",")
    );
    let rows = record(&format!(r#"{{"type":"array","items":{row}}}"#));
    let sixty = [&long(60)[..], &[0]].concat();
    assert!(rows.read(&sixty).is_ok(), "60,061 values");
    let many = [&long(65_536)[..], &[0]].concat();
    assert!(matches!(
        refused(&rows, &many),
        AvroErrorKind::TooManyValues { .. }
    ));
    // Each of these has a byte, and a thousand values.
    let fields = [
        &fields[..],
        &[r#"{"name":"b","type":"boolean"}"#.to_owned()],
    ]
    .concat();
    let row = format!(
        r#"{{"type":"record","name":"Row","fields":[{}]}}"#,
        fields.join(",")
    );
    let rows = record(&format!(r#"{{"type":"array","items":{row}}}"#));
    let body = [&long(100_000)[..], &vec![1; 100_000], &[0]].concat();
    assert!(matches!(
        refused(&rows, &body),
        AvroErrorKind::TooManyValues { .. }
    ));
    // Ordinary records come nowhere near it.
    let options = record(r#"{"type":"array","items":["null","int"]}"#);
    let body = [&long(500_000)[..], &vec![0; 500_000], &[0]].concat();
    let value = options
        .read(&body)
        .expect("half a million nulls of a byte each");
    assert_eq!(value.field("f").expect("a field").items().len(), 500_000);
}

/// Each record holds the one before twice: a schema of some lines whose record would have a billion values.
#[test]
fn a_schema_that_doubles_itself_is_an_error_of_its_records() {
    let mut ty = r#"{"type":"record","name":"R0","fields":[]}"#.to_owned();
    for n in 1..40 {
        let before = n - 1;
        ty = format!(
            r#"{{"type":"record","name":"R{n}","fields":[{{"name":"a","type":{ty}}},{{"name":"b","type":"R{before}"}}]}}"#
        );
    }
    let started = Instant::now();
    let reader = ValueReader::new(&ty).expect("a schema");
    assert!(matches!(
        refused(&reader, &[]),
        AvroErrorKind::TooManyValues { .. }
    ));
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

/// Runs it with the stack that a driver's thread has.
fn on_a_thread(run: impl FnOnce() + Send + 'static) {
    const STACK: usize = 2 << 20;
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no panic");
}

const TREE: &str = r#"{"type":"record","name":"Tree","fields":[{"name":"children","type":{"type":"array","items":"Tree"}}]}"#;
const CHAIN: &str =
    r#"{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}"#;

#[test]
fn records_in_themselves_are_bounded_in_depth_as_the_compiled_decoders_are() {
    on_a_thread(|| {
        let reader = ValueReader::new(CHAIN).expect("a schema");
        let chain = |nodes: usize| [&vec![2; nodes - 1][..], &[0]].concat();
        let value = reader
            .read(&chain(128))
            .expect("as deep as the compiled decoder goes");
        let shown = value.clone().to_string();
        assert_eq!(shown.matches("next").count(), 128);
        assert!(format!("{value:?}").contains("Node { next: "));
        assert_eq!(refused(&reader, &chain(129)), AvroErrorKind::TooDeep);
        assert_eq!(refused(&reader, &vec![2; 1 << 20]), AvroErrorKind::TooDeep);
        let tree = ValueReader::new(TREE).expect("a schema");
        assert_eq!(refused(&tree, &vec![2; 1 << 20]), AvroErrorKind::TooDeep);
        // One that no value ends.
        let endless =
            ValueReader::new(r#"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#);
        assert_eq!(
            refused(&endless.expect("a schema"), &[]),
            AvroErrorKind::TooDeep
        );
    });
}

/// A record that contains itself through many types: fewer records, as many values in each other.
#[test]
fn values_in_each_other_are_bounded_whatever_they_are() {
    on_a_thread(|| {
        let lists = |n: usize| {
            let open = r#"{"type":"array","items":"#.repeat(n);
            format!("{open}{}{}", r#"["null","R"]"#, "}".repeat(n))
        };
        let reader = record(&lists(30));
        // One item in each list, the second branch, and again.
        let level = |levels: usize| vec![2u8; 31 * levels];
        let kind = refused(&reader, &level(100));
        assert!(matches!(kind, AvroErrorKind::TooNested { .. }), "{kind}");
        // As deep as it may be: whoever makes, shows, clones, compares and drops it has the stack for it.
        let ends = [&level(9)[..], &[2; 30], &[0], &[0; 30 * 10]].concat();
        let value = reader.read(&ends).expect("320 values in each other");
        assert_eq!(value, value.clone());
        assert!(value.to_string().len() > 320 && format!("{value:?}").len() > 320);
    });
}

#[test]
fn a_schema_that_nests_types_too_deeply_is_refused() {
    on_a_thread(|| {
        let open = r#"{"type":"array","items":"#.repeat(3000);
        let schema = format!("{open}\"long\"{}", "}".repeat(3000));
        let error = ValueReader::new(&schema).expect_err("too deep").to_string();
        assert!(error.contains("recursion limit"), "{error}");
    });
}

#[test]
fn records_that_name_each_other_are_laid_out_in_bounded_stack() {
    let levels = 20_000;
    let mut fields = String::new();
    let mut inner = "int".to_owned();
    for level in 0..levels {
        let of = format!(
            r#"{{"type":"record","name":"L{level}","fields":[{{"name":"f","type":"{inner}"}}]}}"#
        );
        let array = format!(r#"{{"type":"array","items":{of}}}"#);
        fields.push_str(&format!(r#"{{"name":"a{level}","type":{array}}},"#));
        inner = format!("L{level}");
    }
    let schema = format!(
        r#"{{"type":"record","name":"R","fields":[{fields}{{"name":"last","type":"{inner}"}}]}}"#
    );
    let reader = ValueReader::new(&schema).expect("a schema");
    let mut body = vec![0; levels];
    body.push(2);
    let kind = refused(&reader, &body);
    assert!(matches!(kind, AvroErrorKind::TooNested { .. }), "{kind}");
}
