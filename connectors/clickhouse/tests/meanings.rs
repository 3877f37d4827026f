//! Values that decoders make in the columns that hold them: their bytes, what the real engine reads out of these, what is refused.
#![deny(warnings)]

mod support;

use spate_clickhouse::{ClickHouse, DateTime, Row as _, Slots, StoreError, StoredAs, types};
use spate_macros::Row;
use spate_runtime::sink::RowEncoder as _;
use spate_runtime::value::{Date, Decimal, TimestampMicros, TimestampMillis, TimestampNanos, Uuid};
use spate_test::services::ClickHouse as Server;
use support::{block, open_columns};

/// What an application sees as `spate`.
pub mod facade {
    /// Where derives find the rows.
    pub mod __private {
        pub use spate_clickhouse as clickhouse;
    }
}

#[derive(Row, Clone)]
#[row(table = "tests/sql/meanings.sql", crate = crate::facade)]
struct Meanings {
    id: Uuid,
    maybe_id: Option<Uuid>,
    day: Date,
    wide_day: Date,
    maybe_day: Option<Date>,
    milli: TimestampMillis,
    micro: TimestampMicros,
    nano: TimestampNanos,
    milli_as_micro: TimestampMillis,
    milli_as_nano: TimestampMillis,
    micro_as_nano: Option<TimestampMicros>,
    milli_as_ten: TimestampMillis,
    small: Decimal<2>,
    middle: Decimal<4>,
    large: Decimal<10>,
    huge: Decimal<0>,
    maybe: Option<Decimal<2>>,
    ids: Vec<Uuid>,
    prices: Vec<Option<Decimal<2>>>,
}

const ID: &str = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";

fn some() -> Meanings {
    let id = Uuid::parse(ID).expect("a UUID");
    Meanings {
        id,
        maybe_id: Some(id),
        day: Date(19_000),
        wide_day: Date(-25_567),
        maybe_day: Some(Date(120_529)),
        milli: TimestampMillis(1_700_000_000_123),
        micro: TimestampMicros(1_700_000_000_123_456),
        nano: TimestampNanos(1_700_000_000_123_456_789),
        milli_as_micro: TimestampMillis(1_700_000_000_123),
        milli_as_nano: TimestampMillis(-1),
        micro_as_nano: Some(TimestampMicros(1_700_000_000_123_456)),
        milli_as_ten: TimestampMillis(1_700_000_000_123),
        small: Decimal(-1),
        middle: Decimal(-123_000),
        large: Decimal(10i128.pow(38) - 1),
        huge: Decimal(i128::MIN),
        maybe: Some(Decimal(255)),
        ids: vec![id, Uuid([0; 16])],
        prices: vec![Some(Decimal(-1230)), None],
    }
}

fn none() -> Meanings {
    Meanings {
        maybe_id: None,
        maybe_day: None,
        micro_as_nano: None,
        maybe: None,
        ids: Vec::new(),
        prices: Vec::new(),
        small: Decimal(999_999_999),
        huge: Decimal(i128::MAX),
        ..some()
    }
}

fn encoded(row: &Meanings) -> Vec<u8> {
    let mut out = Vec::new();
    row.encode(&mut out).expect("a row");
    out
}

#[test]
fn the_engine_reads_what_the_decoder_read() {
    let Some(server) = Server::required() else {
        return;
    };
    let db = server.create_database("meanings").expect("a database");
    let sql = include_str!("sql/meanings.sql");
    db.execute(&sql.replace("TABLE meanings", "TABLE t"))
        .expect("a table");
    let more = format!(
        "database: {}\ntable: t\nuser: {}\npassword: '{}'\n",
        db.name(),
        server.user(),
        server.password()
    );
    let sink = open_columns(server.url(), &more, Meanings::COLUMNS);
    sink.check().expect("the table is as compiled");
    sink.write_once(&block(&[encoded(&some()), encoded(&none())], "1"))
        .expect("stored");
    let days = "2022-01-08\t1900-01-01";
    let times = "2023-11-14 22:13:20.123\t2023-11-14 22:13:20.123456\t2023-11-14 22:13:20.123456789\t\
                 2023-11-14 22:13:20.123000\t1969-12-31 23:59:59.999000000";
    let ten = "2023-11-14 22:13:20.1230";
    let large = "9999999999999999999999999999.9999999999";
    let first = format!(
        "{ID}\t{ID}\t{days}\t2299-12-31\t{times}\t2023-11-14 22:13:20.123456000\t{ten}\t-0.01\t-12.3\t{large}\t{}\t2.55\t\
         ['{ID}','00000000-0000-0000-0000-000000000000']\t[-12.3,NULL]",
        i128::MIN
    );
    let second = format!(
        "{ID}\t\\N\t{days}\t\\N\t{times}\t\\N\t{ten}\t9999999.99\t-12.3\t{large}\t{}\t\\N\t[]\t[]",
        i128::MAX
    );
    let found = db
        .query("SELECT * FROM t ORDER BY small")
        .expect("an answer");
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(found, [first, second]);
}

fn bytes<M, T: StoredAs<M>>(value: &T) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    let mut slots = Slots::new(&mut out, value.size());
    value.store(&mut slots)?;
    slots.finish();
    assert_eq!(out.len(), value.size());
    Ok(out)
}

#[test]
fn a_uuid_is_two_little_endian_numbers() {
    let id = Uuid::parse(ID).expect("a UUID");
    let expected = [
        0xe7, 0x11, 0xb3, 0x5c, 0x04, 0xc4, 0xf0, 0x61, 0xa0, 0xdb, 0xd3, 0x6a, 0x00, 0xa6, 0x7b,
        0x90,
    ];
    assert_eq!(bytes::<types::UUID, _>(&id), Ok(expected.to_vec()));
    let nullable = bytes::<types::Nullable<types::UUID>, _>(&Some(id)).expect("a value");
    assert_eq!((nullable[0], &nullable[1..]), (0, &expected[..]));
}

#[test]
fn a_decimal_takes_the_width_of_its_column_and_never_more_digits() {
    type Narrow = types::Decimal<9, 2>;
    type Wider = types::Decimal<10, 2>;
    assert_eq!(bytes::<Narrow, _>(&Decimal::<2>(-1)), Ok(vec![0xff; 4]));
    assert_eq!(
        bytes::<Wider, _>(&Decimal::<2>(-2)).map(|bytes| bytes.len()),
        Ok(8)
    );
    let twenty = bytes::<types::Decimal<20, 2>, _>(&Decimal::<2>(1));
    assert_eq!(twenty.map(|bytes| bytes.len()), Ok(16));
    let huge = bytes::<types::Decimal<39, 2>, _>(&Decimal::<2>(-1));
    assert_eq!(huge, Ok(vec![0xff; 32]));
    let refused = |unscaled, precision| {
        Err(StoreError::Decimal {
            unscaled,
            precision,
        })
    };
    for beyond in [1_000_000_000, -1_000_000_000, 1 << 32, i128::MIN] {
        assert_eq!(
            bytes::<Narrow, _>(&Decimal::<2>(beyond)),
            refused(beyond, 9)
        );
        assert_eq!(
            bytes::<types::Nullable<Narrow>, _>(&Some(Decimal::<2>(beyond))),
            refused(beyond, 9)
        );
    }
    let beyond = 10i128.pow(38);
    assert_eq!(
        bytes::<types::Decimal<38, 2>, _>(&Decimal::<2>(beyond)),
        refused(beyond, 38)
    );
}

#[test]
fn days_and_times_outside_of_the_column_are_refused_and_never_wrapped() {
    let days = |days: i32| bytes::<types::Date, _>(&Date(days));
    assert_eq!(days(65_535), Ok(vec![0xff, 0xff]));
    for outside in [-1, 65_536, i32::MAX] {
        assert!(days(outside).is_err(), "{outside}");
    }
    let days = |days: i32| bytes::<types::Date32, _>(&Date(days)).is_ok();
    for (day, fits) in [
        (-25_567, true),
        (120_529, true),
        (-25_568, false),
        (120_530, false),
    ] {
        assert_eq!(days(day), fits, "{day}");
    }
    let millis = |millis: i64| bytes::<types::DateTime64<3>, _>(&TimestampMillis(millis)).is_ok();
    let micros = |micros: i64| bytes::<types::DateTime64<6>, _>(&TimestampMicros(micros)).is_ok();
    let (first, last) = (-2_208_988_800_000i64, 10_413_791_999_999i64);
    for (time, fits) in [
        (first, true),
        (last, true),
        (first - 1, false),
        (last + 1, false),
    ] {
        assert_eq!(millis(time), fits, "{time}");
        assert_eq!(micros(time * 1_000), fits, "{time}");
    }
    assert!(!micros(62_135_596_800_000_000), "the year 3939");
    // In nanoseconds 64 bits end in 2262.
    let nanos = |millis: i64| bytes::<types::DateTime64<9>, _>(&TimestampMillis(millis));
    assert!(nanos(9_223_372_036_854).is_ok());
    assert_eq!(
        nanos(9_223_372_036_855),
        Err(StoreError::Timestamp {
            value: 9_223_372_036_855,
            unit: "ms",
            precision: 9
        })
    );
    assert!(nanos(i64::MAX).is_err() && nanos(i64::MIN).is_err() && nanos(first - 1).is_err());
    let row = Meanings {
        milli: TimestampMillis(last + 1),
        ..some()
    };
    let error = ClickHouse::encode(&row, &mut Vec::new()).expect_err("the year 2300");
    assert!(
        error
            .to_string()
            .starts_with("column `milli`: 10413792000000 ms"),
        "{error}"
    );
    // Seconds are stored as seconds, as before.
    assert!(bytes::<types::DateTime, _>(&DateTime(7)).is_ok());
}
