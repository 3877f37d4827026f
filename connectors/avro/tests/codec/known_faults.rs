//! Faults that Avro decoders are known for, each with the few bytes that show it.

use std::collections::HashMap;

use spate_avro::{
    AvroError, AvroErrorKind, AvroRecord, Date, Decimal, LocalTimestampMicros, Resolution,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, Uuid, canonical_form,
    decode_body, fingerprint,
};
use spate_macros::{AvroEnum, AvroRecord, AvroUnion};
use spate_runtime::scratch::Scratch;

/// A record that was written with the compiled schema.
fn straight<'b, R: AvroRecord<'b>>(bytes: &'b [u8]) -> Result<R, AvroErrorKind> {
    decode_body(bytes, bytes.len()).map_err(|error| error.kind())
}

/// A record of the schema `writer`, read as the stage reads it.
fn resolved<R: for<'b> AvroRecord<'b>>(writer: &str, bytes: &[u8]) -> Result<R, String> {
    let mut resolution = Resolution::new::<R>(writer).map_err(|error| error.to_string())?;
    let record = resolution.decode(bytes, bytes.len(), &Scratch::new());
    record.map_err(|error: AvroError| error.to_string())
}

/// A writer's record schema of that full name.
fn writer(name: &str, fields: &str) -> String {
    format!(r#"{{"type":"record","name":"{name}","fields":[{fields}]}}"#)
}

macro_rules! records {
    ($($record:literal: $name:ident { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(AvroRecord, Debug, PartialEq)]
        #[avro(schema = "tests/schemas/known_faults.avsc", record = $record, crate = crate::facade)]
        struct $name { $($field: $ty),* }
    )*};
}

records! {
    "LateNull": LateNull { a: i64, b: Option<i32> }
    "Symbol": Symbol { e: E }
    "MaybeSymbol": MaybeSymbol { inner: Option<Symbol> }
    "Strict": Strict { s: Status }
    "Outcome": Outcome { of: Of }
    "Failed": Failed { reason: String }
    "Cancelled": Cancelled { reason: String }
    "Namesakes": Namesakes { of: Event }
    "one.Event": One { x: i32 }
    "two.Event": Two { x: i32, y: i32 }
    "MaybeLong": MaybeLong { n: Option<i64> }
    "Money": Money { price: Decimal<2> }
    "WideMoney": WideMoney { price: Decimal<10> }
    "OneBranch": OneBranch { n: i64, at: TimestampMillis }
    "Renamed": Renamed { customer_id: i64 }
    "BothNames": BothNames { a: i64, b: i64 }
    "Holder": Holder { v: Option<NewName> }
    "NewName": NewName { x: i32 }
    "Nested": Nested { x: i32 }
    "Sample": Sample {
        nested: Nested, nested_again: Nested, list: Vec<Nested>, map: HashMap<String, Nested>, top: Top, top_again: Top,
        dotted: [u8; 1], dotted_again: [u8; 1]
    }
    "Sizes": Nulls { nulls: Vec<()> }
    "Sizes": NoNulls {}
    "Raw": Raw { raw: Vec<u8> }
    "Text": Text { text: String }
    "Longs": Longs { items: Vec<i64> }
    "Short": Short { a: i64 }
    "Grown": Grown { a: i64, new: String, b: String }
}

macro_rules! enums {
    ($($part:literal: $name:ident { $($variant:ident),* })*) => {$(
        #[derive(AvroEnum, Debug, PartialEq)]
        #[avro(schema = "tests/schemas/known_faults.avsc", name = $part, crate = crate::facade)]
        enum $name { $($variant),* }
    )*};
}

enums! {
    "E": E { B, A }
    "Status": Status { Active, Closed, Pending }
    "Top": Top { T }
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/known_faults.avsc", field = "Outcome.of", crate = crate::facade)]
enum Of {
    Failed(Failed),
    Cancelled(Cancelled),
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/known_faults.avsc", field = "Namesakes.of", crate = crate::facade)]
enum Event {
    #[avro(branch = "two.Event")]
    Two(Two),
    #[avro(branch = "one.Event")]
    One(One),
}

/// Every logical type in the same container.
macro_rules! logical {
    ($($record:literal: $name:ident of $of:ident;)*) => {$(records! {
        $record: $name {
            day: $of<Date>, time_millis: $of<TimeMillis>, time_micros: $of<TimeMicros>, at_millis: $of<TimestampMillis>,
            at_micros: $of<TimestampMicros>, at_nanos: $of<TimestampNanos>, local_micros: $of<LocalTimestampMicros>,
            id: $of<Uuid>, key: $of<Uuid>, price: $of<Decimal<2>>
        }
    })*};
}

type Itself<T> = T;
type ByKey<T> = HashMap<String, T>;

logical! {
    "Plain": Plain of Itself;
    "Maybe": Maybe of Option;
    "Lists": Lists of Vec;
    "Maps": Maps of ByKey;
}

#[test]
fn null_is_a_default_wherever_its_branch_stands() {
    let before = writer("faults.LateNull", r#"{"name":"a","type":"long"}"#);
    assert_eq!(resolved(&before, &[2]), Ok(LateNull { a: 1, b: None }));
    assert_eq!(straight(&[2, 2]), Ok(LateNull { a: 1, b: None }));
    assert_eq!(straight(&[2, 0, 14]), Ok(LateNull { a: 1, b: Some(7) }));
}

#[test]
fn a_writers_default_that_fits_only_a_later_branch_is_no_obstacle() {
    let theirs = writer(
        "faults.LateNull",
        r#"{"name":"gone","type":["null","string"],"default":""},{"name":"a","type":"long"},{"name":"b","type":["int","null"],"default":null}"#,
    );
    let expected = LateNull { a: 1, b: Some(7) };
    assert_eq!(resolved(&theirs, &[2, 2, b'x', 2, 0, 14]), Ok(expected));
    // One that fits no branch is not needed to read what was written.
    let wrong = theirs.replace(r#""default":"""#, r#""default":17"#);
    assert_ne!(wrong, theirs);
    assert_eq!(resolved(&wrong, &[0, 2, 2]), Ok(LateNull { a: 1, b: None }));
}

#[test]
fn an_unknown_symbol_is_the_enums_default_and_never_the_fields() {
    let of_e = |symbols: &str| {
        format!(r#"{{"name":"e","type":{{"type":"enum","name":"E","symbols":[{symbols}]}}}}"#)
    };
    let symbol = writer("faults.Symbol", &of_e(r#""A","B","C""#));
    assert_eq!(resolved(&symbol, &[4]), Ok(Symbol { e: E::A }));
    assert_eq!(resolved(&symbol, &[2]), Ok(Symbol { e: E::B }));
    let none = writer("faults.Symbol", "");
    assert_eq!(
        resolved(&none, &[]),
        Ok(Symbol { e: E::B }),
        "the field's own"
    );
    let inside = writer(
        "faults.MaybeSymbol",
        &format!(r#"{{"name":"inner","type":["null",{symbol}]}}"#),
    );
    let inner = Some(Symbol { e: E::A });
    assert_eq!(resolved(&inside, &[2, 4]), Ok(MaybeSymbol { inner }));
}

#[test]
fn an_unknown_symbol_without_a_default_is_its_records_error_alone() {
    let theirs = writer(
        "faults.Strict",
        r#"{"name":"s","type":{"type":"enum","name":"Status","symbols":["ACTIVE","PAUSED"]}}"#,
    );
    let error = resolved::<Strict>(&theirs, &[2]).expect_err("unknown");
    assert!(error.contains("symbol 1 of the writer's enum"), "{error}");
    assert_eq!(resolved(&theirs, &[0]), Ok(Strict { s: Status::Active }));
}

#[test]
fn a_symbol_is_what_its_name_says_whatever_its_number_is() {
    let theirs = writer(
        "faults.Strict",
        r#"{"name":"s","type":{"type":"enum","name":"Status","symbols":["ACTIVE","CLOSED","PENDING"]}}"#,
    );
    for (byte, here, there) in [
        (0, Status::Pending, Status::Active),
        (2, Status::Active, Status::Closed),
        (4, Status::Closed, Status::Pending),
    ] {
        assert_eq!(straight(&[byte]), Ok(Strict { s: here }));
        assert_eq!(resolved(&theirs, &[byte]), Ok(Strict { s: there }));
    }
}

#[test]
fn of_two_records_with_the_same_fields_the_written_one_is_read() {
    let foo = [2, 6, b'f', b'o', b'o'];
    let reason = "foo".to_owned();
    let cancelled = Outcome {
        of: Of::Cancelled(Cancelled { reason }),
    };
    assert_eq!(straight(&foo).as_ref(), Ok(&cancelled));
    let branch = |name: &str| {
        format!(
            r#"{{"type":"record","name":"{name}","fields":[{{"name":"reason","type":"string"}}]}}"#
        )
    };
    let union = |a: &str, b: &str| {
        let (a, b) = (branch(a), branch(b));
        writer(
            "faults.Outcome",
            &format!(r#"{{"name":"of","type":[{a},{b}]}}"#),
        )
    };
    let mut turned = foo;
    assert_eq!(
        resolved(&union("Failed", "Cancelled"), &foo).as_ref(),
        Ok(&cancelled)
    );
    turned[0] = 0;
    assert_eq!(
        resolved(&union("Cancelled", "Failed"), &turned),
        Ok(cancelled)
    );
}

#[test]
fn of_two_records_with_the_same_name_the_one_of_the_namespace_is_read() {
    let x = r#"{"name":"x","type":"int"}"#;
    let of = |branches: &str| {
        writer(
            "faults.Namesakes",
            &format!(r#"{{"name":"of","type":{branches}}}"#),
        )
    };
    let both = r#"{"name":"x","type":"int"},{"name":"y","type":"int"}"#;
    let (one, two) = (writer("one.Event", x), writer("two.Event", both));
    let turned = of(&format!("[{two},{one}]"));
    let expected = |of| Ok(Namesakes { of });
    let event = Event::Two(Two { x: 7, y: 8 });
    assert_eq!(resolved(&turned, &[0, 14, 16]), expected(event));
    assert_eq!(
        resolved(&turned, &[2, 14]),
        expected(Event::One(One { x: 7 }))
    );
    // By its name alone the first one that fits is as good as any.
    let third = of(&writer("three.Event", x));
    assert_eq!(resolved(&third, &[14]), expected(Event::One(One { x: 7 })));
    // A record that lacks something is not taken for its namesake.
    let lacking = writer("two.Event", x);
    let error = resolved::<Namesakes>(&of(&lacking), &[14]).expect_err("no y");
    assert!(error.contains("field path `of.y`"), "{error}");
    let lacking = of(&format!("[{one},{lacking}]"));
    let error = resolved::<Namesakes>(&lacking, &[2, 14]).expect_err("no y");
    assert!(error.contains("branch 1 of the writer's union"), "{error}");
}

#[test]
fn a_branch_is_promoted_where_none_is_of_the_very_type() {
    let theirs = writer("faults.MaybeLong", r#"{"name":"n","type":["null","int"]}"#);
    assert_eq!(resolved(&theirs, &[2, 2]), Ok(MaybeLong { n: Some(1) }));
    assert_eq!(resolved(&theirs, &[0]), Ok(MaybeLong { n: None }));
}

#[test]
fn decimals_have_their_sign_and_their_width_whatever_bytes_they_take() {
    for (bytes, expected) in [
        (&[0x02, 0xff][..], "-0.01"),
        (&[0x04, 0x00, 0xff], "2.55"),
        (&[0x04, 0xfb, 0x32], "-12.30"),
        (&[0x00], "0.00"),
        (
            &[
                0x14, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
            ],
            "-0.02",
        ),
    ] {
        let money: Money = straight(bytes).expect("a decimal");
        assert_eq!(money.price.to_string(), expected);
    }
    for (unscaled, expected) in [
        (-1, "-0.0000000001"),
        (255, "0.0000000255"),
        (
            10i128.pow(38) - 1,
            "9999999999999999999999999999.9999999999",
        ),
        (
            1 - 10i128.pow(38),
            "-9999999999999999999999999999.9999999999",
        ),
    ] {
        let money: WideMoney = straight(&unscaled.to_be_bytes()).expect("a decimal");
        assert_eq!(money.price.to_string(), expected);
    }
    let refused = AvroErrorKind::DecimalPrecision { precision: 38 };
    for unscaled in [10i128.pow(38), -10i128.pow(38), i128::MIN] {
        assert_eq!(straight::<WideMoney>(&unscaled.to_be_bytes()), Err(refused));
    }
}

/// The fields of `Plain`, each as `in_container` writes it.
fn logical_values(in_container: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let text = ID.as_bytes();
    [
        long(19_000),
        long(35_245_000),
        long(20_192_000_000_000),
        long(1_700_000_000_123),
        long(62_135_596_800_000_000),
        long(1_700_000_000_123_456_789),
        long(62_135_596_800_000_000),
        [long(text.len() as i64), text.to_vec()].concat(),
        (0..16).collect(),
        vec![4, 0xfb, 0x32],
    ]
    .iter()
    .flat_map(|value| in_container(value))
    .collect()
}

const ID: &str = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";

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

fn plain() -> Plain {
    Plain {
        day: Date(19_000),
        time_millis: TimeMillis(35_245_000),
        time_micros: TimeMicros(20_192_000_000_000),
        at_millis: TimestampMillis(1_700_000_000_123),
        at_micros: TimestampMicros(62_135_596_800_000_000),
        at_nanos: TimestampNanos(1_700_000_000_123_456_789),
        local_micros: LocalTimestampMicros(62_135_596_800_000_000),
        id: Uuid::parse(ID).expect("a UUID"),
        key: Uuid(std::array::from_fn(|n| n as u8)),
        price: Decimal(-1230),
    }
}

/// `plain()` with every value in a container.
macro_rules! all_in {
    ($name:ident, $of:expr) => {{
        let Plain {
            day,
            time_millis,
            time_micros,
            at_millis,
            at_micros,
            at_nanos,
            local_micros,
            id,
            key,
            price,
        } = plain();
        $name {
            day: $of(day),
            time_millis: $of(time_millis),
            time_micros: $of(time_micros),
            at_millis: $of(at_millis),
            at_micros: $of(at_micros),
            at_nanos: $of(at_nanos),
            local_micros: $of(local_micros),
            id: $of(id),
            key: $of(key),
            price: $of(price),
        }
    }};
}

#[test]
fn a_logical_type_is_the_same_in_an_option_a_list_and_a_map() {
    assert_eq!(straight(&logical_values(<[u8]>::to_vec)), Ok(plain()));
    // Null stands second in two of the unions.
    let nth = std::cell::Cell::new(0);
    let some = |value: &[u8]| {
        nth.set(nth.get() + 1);
        let branch = if matches!(nth.get(), 2 | 4) { 0 } else { 2 };
        [&[branch], value].concat()
    };
    assert_eq!(straight(&logical_values(some)), Ok(all_in!(Maybe, Some)));
    let list = |value: &[u8]| [&[2], value, &[0]].concat();
    assert_eq!(
        straight(&logical_values(list)),
        Ok(all_in!(Lists, |value| vec![value]))
    );
    let map = |value: &[u8]| [&[2, 2, b'k'], value, &[0]].concat();
    assert_eq!(
        straight(&logical_values(map)),
        Ok(all_in!(Maps, |value| HashMap::from([(
            "k".to_owned(),
            value
        )])))
    );
    let one = [vec![0], long(-7), vec![0], long(1_700_000_000_123)].concat();
    let at = TimestampMillis(1_700_000_000_123);
    assert_eq!(straight(&one), Ok(OneBranch { n: -7, at }));
}

#[test]
fn a_renamed_field_has_its_value_and_not_its_default() {
    let before = writer("faults.Renamed", r#"{"name":"cust_id","type":"long"}"#);
    assert_eq!(resolved(&before, &[84]), Ok(Renamed { customer_id: 42 }));
    let both = r#"{"name":"cust_id","type":"long"},{"name":"customer_id","type":"long"}"#;
    let both = writer("faults.Renamed", both);
    assert_eq!(resolved(&both, &[2, 84]), Ok(Renamed { customer_id: 42 }));
}

#[test]
fn an_alias_takes_nothing_from_a_field_of_that_very_name() {
    let ab = r#"{"name":"a","type":"long"},{"name":"b","type":"long"}"#;
    let expected = BothNames { a: 1, b: 2 };
    assert_eq!(
        resolved(&writer("faults.BothNames", ab), &[2, 4]),
        Ok(expected)
    );
    let ba = r#"{"name":"b","type":"long"},{"name":"a","type":"long"}"#;
    let expected = BothNames { a: 1, b: 2 };
    assert_eq!(
        resolved(&writer("faults.BothNames", ba), &[4, 2]),
        Ok(expected)
    );
}

#[test]
fn an_alias_gives_no_value_a_second_time() {
    let a = writer("faults.BothNames", r#"{"name":"a","type":"long"}"#);
    let error = resolved::<BothNames>(&a, &[2]).expect_err("nothing is left for b");
    assert!(
        error.contains("field path `b`: the writer does not have it"),
        "{error}"
    );
}

#[test]
fn a_renamed_record_of_another_namespace_is_found_in_a_union() {
    for name in ["faults.OldName", "elsewhere.NewName"] {
        let inner = writer(name, r#"{"name":"x","type":"int"}"#);
        let before = writer(
            "faults.Holder",
            &format!(r#"{{"name":"v","type":["null",{inner}]}}"#),
        );
        let v = Some(NewName { x: 7 });
        assert_eq!(resolved(&before, &[2, 14]), Ok(Holder { v }), "{name}");
    }
}

#[test]
fn names_mean_what_they_mean_to_every_other_implementation() {
    let nested = [
        &[2u8, 4][..],
        &[2, 6, 0],
        &[2, 2, b'k', 8, 0],
        &[0, 0],
        &[9, 9],
    ]
    .concat();
    let sample: Sample = straight(&nested).expect("a record");
    assert_eq!(
        (sample.nested, sample.nested_again),
        (Nested { x: 1 }, Nested { x: 2 })
    );
    assert_eq!(sample.list, [Nested { x: 3 }]);
    assert_eq!(sample.map["k"], Nested { x: 4 });
    assert_eq!((sample.top, sample.top_again), (Top::T, Top::T));
    assert_eq!((sample.dotted, sample.dotted_again), ([9], [9]));
    // What Java writes of it.
    let expected = concat!(
        r#"{"name":"test.Sample","type":"record","fields":[{"name":"nested","type":{"name":"test.Nested","type":"record","#,
        r#""fields":[{"name":"x","type":"int"}]}},{"name":"nested_again","type":"test.Nested"},"#,
        r#"{"name":"list","type":{"type":"array","items":"test.Nested"}},{"name":"map","type":{"type":"map","values":"test.Nested"}},"#,
        r#"{"name":"top","type":{"name":"Top","type":"enum","symbols":["T"]}},{"name":"top_again","type":"Top"},"#,
        r#"{"name":"dotted","type":{"name":"a.b.C","type":"fixed","size":1}},{"name":"dotted_again","type":"a.b.C"}]}"#,
    );
    assert_eq!(canonical_form(Sample::SCHEMA).expect("a schema"), expected);
    assert_eq!(fingerprint(expected), Sample::FINGERPRINT);
}

#[test]
fn a_few_bytes_that_say_to_be_many_are_refused_at_once() {
    let many = AvroErrorKind::TooManyEmptyItems { count: 10_000_000 };
    let ten_million = [0x80, 0xda, 0xc4, 0x09, 0];
    assert_eq!(straight::<Nulls>(&ten_million), Err(many));
    assert_eq!(straight::<NoNulls>(&ten_million), Err(many), "passed over");
    let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let many = AvroErrorKind::TooManyEmptyItems {
        count: i64::MAX as u64,
    };
    assert_eq!(straight::<Nulls>(&most), Err(many));
    assert_eq!(straight::<NoNulls>(&most), Err(many), "passed over");
    let huge = [0x80, 0x80, 0x80, 0x80, 0x08];
    let cut = AvroErrorKind::Truncated { needed: 1 << 30 };
    assert_eq!(straight::<Raw>(&huge), Err(cut));
    assert_eq!(straight::<Text>(&huge), Err(cut));
    let negative = AvroErrorKind::NegativeLength { length: -1 };
    assert_eq!(straight::<Raw>(&[1]), Err(negative));
    assert_eq!(straight::<Text>(&[1]), Err(negative));
    // Minus one item of one byte, said to take five.
    let bogus = AvroErrorKind::BlockSize { said: 5 };
    assert_eq!(straight::<Longs>(&[1, 10, 2, 0]), Err(bogus));
    // The same of a record of another schema, which is read before it is decoded.
    let nulls = |more: &str| {
        let more = format!(r#"{more}{{"name":"nulls","type":{{"type":"array","items":"null"}}}}"#);
        writer("faults.Sizes", &more)
    };
    let with_more = nulls(r#"{"name":"gone","type":"bytes"},"#);
    for bytes in [
        &[&[0], &ten_million[..]].concat(),
        &[&[0], &most[..]].concat(),
        &huge.to_vec(),
        &vec![1],
    ] {
        let error = resolved::<Nulls>(&with_more, bytes).expect_err("too many");
        assert!(error.contains("byte"), "{error}");
    }
}

#[test]
fn bytes_that_are_left_or_missing_are_an_error() {
    let body = [2, 6, b'f', b'o', b'o'];
    assert_eq!(
        straight::<Short>(&body),
        Err(AvroErrorKind::Trailing { left: 4 })
    );
    let two = writer(
        "faults.Short",
        r#"{"name":"a","type":"long"},{"name":"b","type":"string"}"#,
    );
    assert_eq!(resolved(&two, &body), Ok(Short { a: 1 }));
    for cut in 0..body.len() {
        assert!(resolved::<Short>(&two, &body[..cut]).is_err(), "{cut}");
    }
    let text = &body[1..];
    for cut in 0..text.len() {
        assert!(straight::<Text>(&text[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_message_from_before_a_field_came_in_the_middle_keeps_its_values() {
    let before = writer(
        "faults.Grown",
        r#"{"name":"a","type":"long"},{"name":"b","type":"string"}"#,
    );
    let body = [2, 6, b'f', b'o', b'o'];
    let expected = Grown {
        a: 1,
        new: "none".to_owned(),
        b: "foo".to_owned(),
    };
    assert_eq!(resolved(&before, &body), Ok(expected));
    assert!(
        straight::<Grown>(&body).is_err(),
        "by the newest schema it would be another record"
    );
}
