//! Unions in branches of unions: named by the branch, declared by `avro_schema!` or by hand, in every way of decoding.

use spate_avro::{AvroRecord as _, Resolution, Seq, decode_body};
use spate_macros::{AvroRecord, AvroUnion};
use spate_runtime::scratch::Scratch;

mod declared {
    spate_macros::avro_schema_impl!([crate::facade] "tests/schemas/nested_unions.avsc");
}

mod owned {
    spate_macros::avro_schema_impl!([crate::facade] "tests/schemas/nested_unions.avsc", owned);
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nested_unions.avsc", crate = crate::facade)]
struct Reading<'a> {
    value: Value<'a>,
    at: i64,
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nested_unions.avsc", field = "Reading.value", crate = crate::facade)]
enum Value<'a> {
    Text(&'a str),
    #[avro(branch = "array")]
    Items(Vec<Item<'a>>),
    #[avro(branch = "map")]
    Map(Vec<(&'a str, Option<Other<'a>>)>),
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nested_unions.avsc", field = "test.Reading.value/array", crate = crate::facade)]
enum Item<'a> {
    Number(i32),
    Text(&'a str),
    Map(Seq<'a, (&'a str, Option<Deep>)>),
}

#[derive(AvroUnion, Clone, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nested_unions.avsc", field = "value/array/map", crate = crate::facade)]
enum Deep {
    Number(f64),
    Flag(bool),
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/nested_unions.avsc", field = "value/map", crate = crate::facade)]
enum Other<'a> {
    Number(i32),
    Text(&'a str),
}

/// An array of 3, `x`, and a map of null and true.
const VALUE: [u8; 18] = [
    2, 6, 0, 6, 2, 2, b'x', 4, 4, 2, b'k', 0, 2, b'l', 4, 1, 0, 0,
];

/// A list of a list of null and of a list of 4 and of a byte.
const LISTS: [u8; 14] = [2, 2, 4, 0, 2, 4, 0, 8, 2, 2, 0xff, 0, 0, 0];

#[test]
fn a_union_in_a_branch_of_another_has_an_enum_of_its_own() {
    let bytes = [&[2][..], &VALUE, &LISTS].concat();
    let reading: Reading<'_> = decode_body(&bytes, bytes.len()).expect("a record");
    let Value::Items(items) = &reading.value else {
        panic!("{reading:?}")
    };
    let [Item::Number(3), Item::Text("x"), Item::Map(map)] = items.as_slice() else {
        panic!("{items:?}")
    };
    let entries: Vec<_> = map.iter().collect();
    assert_eq!(entries, [("k", None), ("l", Some(Deep::Flag(true)))]);

    let all: declared::Reading<'_> = decode_body(&bytes, bytes.len()).expect("a record");
    let text = r#"Reading { at: 1, value: Array([Int(3), String("x"), Map([("k", Null), ("l", Boolean(true))])]), lists: [Some([None, Some([Long(4), Bytes([255])])])] }"#;
    assert_eq!(format!("{all:?}"), text);
    let owned: owned::Reading = decode_body(&bytes, bytes.len()).expect("a record");
    assert_eq!(format!("{owned:?}"), text);

    for cut in 0..bytes.len() {
        assert!(
            decode_body::<declared::Reading<'_>>(&bytes[..cut], cut).is_err(),
            "{cut}"
        );
    }
    let map = [0, 4, 4, 2, b'a', 4, 2, b'z', 2, b'b', 2, 1, 0, 0];
    let reading: Reading<'_> = decode_body(&map, map.len()).expect("a record");
    let expected = vec![
        ("a", Some(Other::Text("z"))),
        ("b", Some(Other::Number(-1))),
    ];
    assert_eq!(reading.value, Value::Map(expected));
}

#[test]
fn a_union_in_a_branch_of_another_is_resolved_like_any() {
    // The writer has other orders and an int where a double is read.
    let writer = Reading::SCHEMA
        .replace(r#"["int","string",{"#, r#"["string","int",{"#)
        .replace("double", "float");
    assert_ne!(writer, Reading::SCHEMA);
    let mut resolution = Resolution::new::<Reading<'_>>(&writer).expect("it can be read");
    let mut bytes = vec![2, 2, 6, 2, 6, 0, 2, b'x', 4, 2, 2, b'k', 2];
    bytes.extend_from_slice(&0.5f32.to_le_bytes());
    bytes.extend_from_slice(&[0, 0, 0]);
    let scratch = Scratch::new();
    let reading = resolution.decode::<Reading<'_>>(&bytes, bytes.len(), &scratch);
    let Value::Items(items) = reading.expect("a record").value else {
        panic!("a list")
    };
    let [Item::Number(3), Item::Text("x"), Item::Map(map)] = items.as_slice() else {
        panic!("{items:?}")
    };
    let entries: Vec<_> = map.iter().collect();
    assert_eq!(entries, [("k", Some(Deep::Number(0.5)))]);
}
