//! Derived rows: their bytes against hand-written ones.
#![deny(warnings)]

use spate_clickhouse::{
    ClickHouse, Date, DateTime, DateTime64Millis, Row as _, Slots, StoredAs, types,
};
use spate_macros::Row;
use spate_runtime::sink::RowEncoder;

/// What an application sees as `spate`.
pub mod facade {
    /// Where derives find the rows.
    pub mod __private {
        pub use spate_clickhouse as clickhouse;
    }
}

/// In another order than the table, on purpose.
#[derive(Row)]
#[row(table = "tests/sql/everything.sql", crate = crate::facade)]
struct Everything<'a> {
    at: DateTime64Millis,
    second: DateTime,
    day: Date,
    maybe_at: Option<DateTime64Millis>,
    note: Option<&'a str>,
    region: &'a str,
    sure: f64,
    maybe: Option<u32>,
    code: [u8; 3],
    bytes: &'a [u8],
    text: String,
    f64: f64,
    f32: f32,
    u64: u64,
    u32: u32,
    u16: u16,
    u8: u8,
    i64: i64,
    i32: i32,
    i16: i16,
    i8: i8,
    #[row(rename = "flag")]
    r#type: bool,
    numbers: Vec<u32>,
    names: &'a [&'a str],
    holes: Vec<Option<f64>>,
    grid: Vec<Vec<u8>>,
}

fn everything() -> Everything<'static> {
    Everything {
        at: DateTime64Millis(1_700_000_000_123),
        second: DateTime(1_700_000_000),
        day: Date(19_675),
        maybe_at: None,
        note: None,
        region: "eu",
        sure: 1.5,
        maybe: Some(7),
        code: *b"EUR",
        bytes: &[0xff, 0],
        text: "é".to_owned(),
        f64: f64::from_bits(0x7ff8_0000_0000_0001),
        f32: -0.0,
        u64: u64::MAX,
        u32: 0x0403_0201,
        u16: 0x0201,
        u8: 200,
        i64: -2,
        i32: -2,
        i16: -2,
        i8: -2,
        r#type: true,
        numbers: vec![1, 2],
        names: &["a", ""],
        holes: vec![Some(1.0), None],
        grid: vec![vec![1], vec![]],
    }
}

#[test]
fn a_row_is_its_columns_in_the_tables_order() {
    let mut out = vec![9];
    everything().encode(&mut out).expect("a row");
    let expected: Vec<&[u8]> = vec![
        &[9],
        &[1],
        &[0xfe],
        &[0xfe, 0xff],
        &[0xfe, 0xff, 0xff, 0xff],
        &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[200],
        &[1, 2],
        &[1, 2, 3, 4],
        &[0xff; 8],
        &[0, 0, 0, 0x80],                            // -0.0 keeps its sign
        &[1, 0, 0, 0, 0, 0, 0xf8, 0x7f],             // a NaN keeps its bits
        &[2, 0xc3, 0xa9],                            // text
        &[2, 0xff, 0],                               // bytes that are no text
        b"EUR",                                      // FixedString has no length
        &[0, 7, 0, 0, 0],                            // Nullable with a value
        &[0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],          // a value that is never null in a Nullable
        &[2, b'e', b'u'],                            // LowCardinality is nothing of its own
        &[1],                                        // LowCardinality(Nullable) null
        &[0xdb, 0x4c],                               // 2023-11-14
        &[0x00, 0xf1, 0x53, 0x65],                   // 1700000000
        &[0x7b, 0x68, 0xe5, 0xcf, 0x8b, 0x01, 0, 0], // 1700000000123
        &[1],                                        // Nullable null
        &[2, 1, 0, 0, 0, 2, 0, 0, 0],                // Array
        &[2, 1, b'a', 0],                            // Array of text
        &[2, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1],    // Array of Nullable: a flag per item
        &[2, 1, 1, 0],                               // Array of Array
    ];
    assert_eq!(out, expected.concat());
}

#[test]
fn columns_are_named_and_typed_as_the_server_does_and_computed_ones_are_left_out() {
    let columns: Vec<String> = Everything::COLUMNS
        .iter()
        .map(|column| format!("{} {}", column.name, column.ty))
        .collect();
    assert_eq!(
        columns,
        [
            "flag Bool",
            "i8 Int8",
            "i16 Int16",
            "i32 Int32",
            "i64 Int64",
            "u8 UInt8",
            "u16 UInt16",
            "u32 UInt32",
            "u64 UInt64",
            "f32 Float32",
            "f64 Float64",
            "text String",
            "bytes String",
            "code FixedString(3)",
            "maybe Nullable(UInt32)",
            "sure Nullable(Float64)",
            "region LowCardinality(String)",
            "note LowCardinality(Nullable(String))",
            "day Date",
            "second DateTime('UTC')",
            "at DateTime64(3, 'UTC')",
            "maybe_at Nullable(DateTime64(3))",
            "numbers Array(UInt32)",
            "names Array(LowCardinality(String))",
            "holes Array(Nullable(Float64))",
            "grid Array(Array(UInt8))",
        ]
    );
    let info = <ClickHouse as RowEncoder<Everything<'_>>>::row();
    assert_eq!(
        (info.row, info.columns.len(), Everything::TABLE),
        ("Everything", 26, "everything")
    );
}

#[test]
fn a_time_that_the_server_would_wrap_is_refused_with_its_column() {
    for (millis, fits) in [
        (DateTime64Millis::MIN.0, true),
        (DateTime64Millis::MAX.0, true),
        (DateTime64Millis::MIN.0 - 1, false),
        (DateTime64Millis::MAX.0 + 1, false),
        (i64::MIN, false),
        (1_700_000_000_000_000, false), // microseconds
    ] {
        let row = Everything {
            at: DateTime64Millis(millis),
            ..everything()
        };
        let result = <ClickHouse as RowEncoder<_>>::encode(&row, &mut Vec::new());
        assert_eq!(result.is_ok(), fits, "{millis}");
        if let Err(error) = result {
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("column `at`: {millis} ms since 1970")),
                "{error}"
            );
        }
    }
}

#[test]
fn lengths_are_varints() {
    for (length, expected) in [
        (0, vec![0]),
        (127, vec![127]),
        (128, vec![0x80, 1]),
        (300, vec![0xac, 2]),
        (16_384, vec![0x80, 0x80, 1]),
    ] {
        let text = "x".repeat(length);
        let mut out = Vec::new();
        // More than the size that is asked for does not fit.
        let mut slots = Slots::new(&mut out, StoredAs::<types::String>::size(&text));
        StoredAs::<types::String>::store(&text, &mut slots).expect("text");
        slots.finish();
        assert_eq!(out[..expected.len()], expected[..]);
        assert_eq!(out.len(), expected.len() + length);
    }
}

#[test]
fn a_row_is_encoded_within_its_one_reservation() {
    let row = everything();
    let mut out = Vec::new();
    row.encode(&mut out).expect("a row");
    let (place, room) = (out.as_ptr(), out.capacity());
    out.clear();
    row.encode(&mut out).expect("a row");
    assert_eq!(
        (out.as_ptr(), out.capacity()),
        (place, room),
        "a second row needs no more room"
    );
}

/// Some columns of a table with defaults, by a name with its database.
mod subset {
    use super::*;

    #[derive(Row)]
    #[row(table = "tests/sql/two.sql", name = "shop.refunds", crate = crate::facade)]
    struct Refund {
        id: u64,
    }

    #[test]
    fn columns_with_defaults_may_be_left_out() {
        let mut out = Vec::new();
        Refund { id: 5 }.encode(&mut out).expect("a row");
        assert_eq!(out, [5, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Refund::COLUMNS.len(), 1);
        assert_eq!(Refund::TABLE, "shop.refunds");
    }
}
