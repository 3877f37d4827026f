//! A container file: see `claims::container`.

#![no_main]

#[path = "../../connectors/avro/tests/container/claims.rs"]
mod claims;

use spate_macros::AvroRecord;

/// Where derives find the codec; they read their schemas through the link `tests`.
pub mod facade {
    pub mod __private {
        pub use spate_avro as avro;
    }
}

/// Key and value.
#[derive(AvroRecord, Debug)]
#[avro(schema = "tests/schemas/pair.avsc", crate = facade)]
pub struct Pair<'a> {
    pub key: i64,
    pub value: &'a str,
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::container(bytes));
