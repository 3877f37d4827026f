//! Logical types as types of other crates: the same values, and an error for each that the type does not reach.
#![deny(warnings)]

use spate_avro::{AvroErrorKind, FromAvro, ItemOf, Reader, Seq, wire};

fn long(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [long(bytes.len() as i64), bytes.to_vec()].concat()
}

/// Reads a value; checking it has to end alike.
fn read<W, T: for<'b> FromAvro<'b, W>>(bytes: &[u8]) -> Result<T, AvroErrorKind> {
    let read = T::read(&mut Reader::new(bytes, bytes.len())).map_err(|error| error.kind());
    let checked = T::check(&mut Reader::new(bytes, bytes.len())).map_err(|error| error.kind());
    assert_eq!(read.as_ref().map(drop), checked.as_ref().map(drop));
    read
}

fn text<W, T: for<'b> FromAvro<'b, W> + ToString>(value: i64) -> String {
    read::<W, T>(&long(value)).expect("a value").to_string()
}

fn out_of_range<W, T: for<'b> FromAvro<'b, W>>(value: i64) {
    match read::<W, T>(&long(value)) {
        Err(kind) => assert_eq!(kind, AvroErrorKind::OutOfRange { value }),
        Ok(_) => panic!("{value} should be out of range"),
    }
}

#[test]
fn dates_and_times_of_chrono() {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
    assert_eq!(text::<wire::Date, NaiveDate>(19_000), "2022-01-08");
    assert_eq!(text::<wire::Date, NaiveDate>(-1), "1969-12-31");
    out_of_range::<wire::Date, NaiveDate>(i32::MAX.into());
    out_of_range::<wire::Date, NaiveDate>(i32::MIN.into());
    assert_eq!(
        text::<wire::TimeMillis, NaiveTime>(35_245_001),
        "09:47:25.001"
    );
    assert_eq!(
        text::<wire::TimeMicros, NaiveTime>(86_399_999_999),
        "23:59:59.999999"
    );
    for outside in [-1, 86_400_000] {
        out_of_range::<wire::TimeMillis, NaiveTime>(outside);
    }
    for outside in [-1, 86_400_000_000, i64::MIN, i64::MAX] {
        out_of_range::<wire::TimeMicros, NaiveTime>(outside);
    }
    assert_eq!(
        text::<wire::TimestampMillis, DateTime<Utc>>(-1),
        "1969-12-31 23:59:59.999 UTC"
    );
    assert_eq!(
        text::<wire::TimestampMicros, DateTime<Utc>>(1_700_000_000_000_001),
        "2023-11-14 22:13:20.000001 UTC"
    );
    assert_eq!(
        text::<wire::TimestampNanos, DateTime<Utc>>(i64::MIN),
        "1677-09-21 00:12:43.145224192 UTC"
    );
    assert_eq!(
        text::<wire::LocalTimestampMillis, NaiveDateTime>(1),
        "1970-01-01 00:00:00.001"
    );
    assert_eq!(
        text::<wire::LocalTimestampMicros, NaiveDateTime>(-1),
        "1969-12-31 23:59:59.999999"
    );
    assert_eq!(
        text::<wire::LocalTimestampNanos, NaiveDateTime>(i64::MAX),
        "2262-04-11 23:47:16.854775807"
    );
    for outside in [i64::MIN, i64::MAX] {
        out_of_range::<wire::TimestampMillis, DateTime<Utc>>(outside);
        out_of_range::<wire::LocalTimestampMillis, NaiveDateTime>(outside);
    }
}

#[test]
fn dates_and_times_of_time() {
    use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};
    assert_eq!(text::<wire::Date, Date>(19_000), "2022-01-08");
    assert_eq!(text::<wire::Date, Date>(-1), "1969-12-31");
    for outside in [i32::MAX, i32::MIN, 2_932_897] {
        out_of_range::<wire::Date, Date>(outside.into());
    }
    assert_eq!(text::<wire::TimeMillis, Time>(35_245_001), "9:47:25.001");
    assert_eq!(
        text::<wire::TimeMicros, Time>(86_399_999_999),
        "23:59:59.999999"
    );
    for outside in [-1, 86_400_000] {
        out_of_range::<wire::TimeMillis, Time>(outside);
    }
    for outside in [-1, 86_400_000_000, i64::MIN, i64::MAX, 1 << 60] {
        out_of_range::<wire::TimeMicros, Time>(outside);
    }
    assert_eq!(
        text::<wire::TimestampMillis, OffsetDateTime>(-1),
        "1969-12-31 23:59:59.999 +00:00:00"
    );
    assert_eq!(
        text::<wire::TimestampMicros, OffsetDateTime>(1_700_000_000_000_001),
        "2023-11-14 22:13:20.000001 +00:00:00"
    );
    assert_eq!(
        text::<wire::TimestampNanos, OffsetDateTime>(i64::MIN),
        "1677-09-21 0:12:43.145224192 +00:00:00"
    );
    assert_eq!(
        text::<wire::LocalTimestampMillis, PrimitiveDateTime>(1),
        "1970-01-01 0:00:00.001"
    );
    assert_eq!(
        text::<wire::LocalTimestampMicros, PrimitiveDateTime>(-1),
        "1969-12-31 23:59:59.999999"
    );
    assert_eq!(
        text::<wire::LocalTimestampNanos, PrimitiveDateTime>(i64::MAX),
        "2262-04-11 23:47:16.854775807"
    );
    for outside in [i64::MIN, i64::MAX] {
        out_of_range::<wire::TimestampMillis, OffsetDateTime>(outside);
        out_of_range::<wire::LocalTimestampMicros, PrimitiveDateTime>(outside);
    }
}

#[test]
fn uuids_of_the_crate() {
    let text = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let uuid: uuid::Uuid = text.parse().expect("a UUID");
    assert_eq!(
        read::<wire::Uuid, uuid::Uuid>(&sized(text.as_bytes())),
        Ok(uuid)
    );
    assert_eq!(
        read::<wire::UuidFixed, uuid::Uuid>(uuid.as_bytes()),
        Ok(uuid)
    );
    // The crate itself would take these.
    for other in [
        "67e5504410b1426f9247bb680e5fe0c8",
        "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
    ] {
        assert_eq!(
            read::<wire::Uuid, uuid::Uuid>(&sized(other.as_bytes())),
            Err(AvroErrorKind::Uuid)
        );
    }
}

#[test]
fn decimals_of_rust_decimal() {
    use rust_decimal::Decimal;
    let decimal = |unscaled: i128| sized(&unscaled.to_be_bytes());
    let refused = |kind| matches!(kind, Err(AvroErrorKind::Refused { .. }));
    assert_eq!(
        read::<wire::Decimal<9, 2>, Decimal>(&decimal(-1230))
            .expect("a value")
            .to_string(),
        "-12.30"
    );
    assert_eq!(
        read::<wire::DecimalFixed<2, 4, 2>, Decimal>(&[0xfb, 0x32])
            .expect("a value")
            .to_string(),
        "-12.30"
    );
    assert_eq!(
        read::<wire::Decimal<9, 2>, Decimal>(&decimal(1_000_000_000)),
        Err(AvroErrorKind::DecimalPrecision { precision: 9 })
    );
    assert!(refused(read::<wire::Decimal<38, 2>, Decimal>(&decimal(
        1 << 96
    ))));
    assert!(
        refused(read::<wire::Decimal<38, 29>, Decimal>(&decimal(1))),
        "a scale of 29"
    );
    let big =
        |unscaled: i64, scale: i64| sized(&[sized(&unscaled.to_be_bytes()), long(scale)].concat());
    assert_eq!(
        read::<wire::BigDecimal, Decimal>(&big(-1230, 2))
            .expect("a value")
            .to_string(),
        "-12.30"
    );
    assert_eq!(
        read::<wire::BigDecimal, Decimal>(&big(-123, -3))
            .expect("a value")
            .to_string(),
        "-123000"
    );
    for (unscaled, scale) in [(1, 29), (1, -29), (1, -40), (-1, i64::from(i32::MIN))] {
        assert!(
            refused(read::<wire::BigDecimal, Decimal>(&big(unscaled, scale))),
            "{unscaled} {scale}"
        );
    }
    assert_eq!(
        read::<wire::BigDecimal, Decimal>(&big(0, -40))
            .expect("a value")
            .to_string(),
        "0"
    );
}

/// Every item of a lazy list is what a collected one has.
fn lazy<'b, W, T>(bytes: &'b [u8])
where
    T: ItemOf<'b, W> + PartialEq + std::fmt::Debug,
{
    let list = [&[4], bytes, bytes, &[0]].concat();
    let list: &'b [u8] = list.leak();
    let mut reader = Reader::new(list, list.len());
    let lazy = <Seq<'b, T> as FromAvro<'b, wire::Array<W>>>::read(&mut reader).expect("a list");
    let mut reader = Reader::new(list, list.len());
    let items = <Vec<T> as FromAvro<'b, wire::Array<W>>>::read(&mut reader).expect("a list");
    assert_eq!(items.len(), 2);
    assert_eq!(lazy.iter().collect::<Vec<_>>(), items);
}

#[test]
fn all_of_them_are_items() {
    const ID: &[u8] = b"\x4861f0c404-5cb3-11e7-907b-a6006ad3dba0";
    lazy::<wire::Uuid, uuid::Uuid>(ID);
    lazy::<wire::UuidFixed, uuid::Uuid>(&[7; 16]);
    lazy::<wire::Decimal<9, 2>, rust_decimal::Decimal>(&[4, 0xfb, 0x32]);
    lazy::<wire::DecimalFixed<3, 6, 2>, rust_decimal::Decimal>(&[0xff, 0xfb, 0x32]);
    lazy::<wire::BigDecimal, rust_decimal::Decimal>(&[8, 4, 0xfb, 0x32, 4]);
    lazy::<wire::Date, chrono::NaiveDate>(&[2]);
    lazy::<wire::TimeMillis, chrono::NaiveTime>(&[2]);
    lazy::<wire::TimeMicros, chrono::NaiveTime>(&[2]);
    lazy::<wire::TimestampMillis, chrono::DateTime<chrono::Utc>>(&[2]);
    lazy::<wire::TimestampMicros, chrono::DateTime<chrono::Utc>>(&[2]);
    lazy::<wire::TimestampNanos, chrono::DateTime<chrono::Utc>>(&[2]);
    lazy::<wire::LocalTimestampMillis, chrono::NaiveDateTime>(&[2]);
    lazy::<wire::LocalTimestampMicros, chrono::NaiveDateTime>(&[2]);
    lazy::<wire::LocalTimestampNanos, chrono::NaiveDateTime>(&[2]);
    lazy::<wire::Date, time::Date>(&[2]);
    lazy::<wire::TimeMillis, time::Time>(&[2]);
    lazy::<wire::TimeMicros, time::Time>(&[2]);
    lazy::<wire::TimestampMillis, time::OffsetDateTime>(&[2]);
    lazy::<wire::TimestampMicros, time::OffsetDateTime>(&[2]);
    lazy::<wire::TimestampNanos, time::OffsetDateTime>(&[2]);
    lazy::<wire::LocalTimestampMillis, time::PrimitiveDateTime>(&[2]);
    lazy::<wire::LocalTimestampMicros, time::PrimitiveDateTime>(&[2]);
    lazy::<wire::LocalTimestampNanos, time::PrimitiveDateTime>(&[2]);
}
