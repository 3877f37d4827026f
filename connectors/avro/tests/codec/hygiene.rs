//! The expansion takes nothing from where it stands: no prelude, no names, and it can come out of another macro.
#![no_implicit_prelude]

use ::spate_macros::AvroRecord;

// Names that careless generated code would pick up.
#[allow(dead_code)]
mod core {}
#[allow(dead_code)]
struct Result;
#[allow(dead_code, non_camel_case_types)]
struct wire;

#[derive(AvroRecord)]
#[avro(schema = "tests/schemas/pair.avsc", crate = crate::facade)]
struct Pair<'b> {
    value: &'b str,
    key: i64,
}

macro_rules! pair {
    ($name:ident, $key:ty) => {
        #[derive(AvroRecord)]
        #[avro(schema = "tests/schemas/pair.avsc", crate = crate::facade)]
        struct $name {
            key: $key,
        }
    };
}
pair!(Key, i64);

#[test]
fn records_are_derived_without_a_prelude_and_inside_other_macros() {
    let bytes = [8, 2, b'v'];
    let pair: Pair<'_> = ::spate_avro::decode_body(&bytes, 3).expect("a record");
    ::std::assert_eq!((pair.key, pair.value), (4, "v"));
    let key: Key = ::spate_avro::decode_body(&bytes, 3).expect("a record");
    ::std::assert_eq!(key.key, 4);
}
