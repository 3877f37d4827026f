//! Values of every type that the `apache-avro` crate encodes are decoded equal, damaged ones never end in a panic.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use apache_avro::{
    Days, Decimal as TheirDecimal, Duration as TheirDuration, Millis, Months, Schema,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use spate_avro::{
    AvroEnum, AvroRecord, Date, Decimal, Duration, LocalTimestampMicros, LocalTimestampMillis,
    LocalTimestampNanos, TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos,
    Uuid, decode_body,
};

use crate::leaves::{leaves, say};
use crate::types::{All, Event, More, Node, Origin, Passed, Place, Plain, Status};

pub(crate) const ALL: &str = include_str!("../schemas/all.avsc");

const STATUSES: [Status; 3] = [Status::New, Status::Settled, Status::InTransit];
const SYMBOLS: [&str; 3] = ["NEW", "PAID", "IN_TRANSIT"];

#[derive(Debug, Clone)]
pub(crate) enum OriginExample {
    Nowhere,
    Text(String),
    Number(i32),
    Known(usize),
    Somewhere((String, Option<i32>)),
    Path(Vec<i64>),
}

#[derive(Debug, Clone)]
pub(crate) struct Example {
    flag: bool,
    small: i32,
    big: i64,
    single: f32,
    double: f64,
    raw: Vec<u8>,
    text: String,
    status: usize,
    statuses: Vec<usize>,
    digest: [u8; 4],
    digests: Vec<[u8; 4]>,
    numbers: Vec<i64>,
    nulls: usize,
    ages: BTreeMap<String, i32>,
    names: BTreeMap<String, String>,
    places: BTreeMap<String, (String, Option<i32>)>,
    origin: OriginExample,
    events: Vec<Result<(String, Option<i32>), String>>,
    maybe_status: Option<usize>,
    chain: Vec<i32>,
    ints: [i32; 2],
    longs: [i64; 8],
    price: i32,
    amount: i64,
    id: [u8; 16],
    span: [u32; 3],
    maybe_price: Option<i32>,
    prices: BTreeMap<String, i32>,
    days: Vec<i32>,
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i8>().prop_map(i64::from),
        (any::<i64>(), 0u32..64).prop_map(|(n, shift)| n >> shift),
        Just(i64::MIN),
        Just(i64::MAX)
    ]
}

/// Nine digits at most.
fn price() -> impl Strategy<Value = i32> {
    prop_oneof![-999_999_999i32..=999_999_999, -300i32..300]
}

fn place() -> impl Strategy<Value = (String, Option<i32>)> {
    (".{0,8}", option::of(any::<i32>()))
}

fn origin() -> impl Strategy<Value = OriginExample> {
    prop_oneof![
        Just(OriginExample::Nowhere),
        ".{0,5}".prop_map(OriginExample::Text),
        any::<i32>().prop_map(OriginExample::Number),
        (0usize..3).prop_map(OriginExample::Known),
        place().prop_map(OriginExample::Somewhere),
        vec(number(), 0..4).prop_map(OriginExample::Path),
    ]
}

pub(crate) fn example() -> impl Strategy<Value = Example> {
    let first = (
        (
            any::<bool>(),
            any::<i32>(),
            number(),
            any::<f32>(),
            any::<f64>(),
        ),
        (
            vec(any::<u8>(), 0..20),
            ".{0,30}",
            0usize..3,
            vec(0usize..3, 0..4),
        ),
        (
            any::<[u8; 4]>(),
            vec(any::<[u8; 4]>(), 0..4),
            vec(number(), 0..20),
            0usize..40,
        ),
    );
    let second = (
        (
            btree_map(".{0,5}", any::<i32>(), 0..4),
            btree_map(".{0,5}", ".{0,5}", 0..4),
            btree_map(".{0,5}", place(), 0..4),
        ),
        (
            origin(),
            vec(
                prop_oneof![place().prop_map(Ok), ".{0,5}".prop_map(Err)],
                0..4,
            ),
            option::of(0usize..3),
        ),
        (
            vec(any::<i32>(), 1..6),
            any::<[i32; 2]>(),
            proptest::array::uniform8(number()),
        ),
    );
    let third = (
        (
            price(),
            -999_999_999_999_999_999i64..=999_999_999_999_999_999,
            any::<[u8; 16]>(),
            any::<[u32; 3]>(),
        ),
        (
            option::of(price()),
            btree_map(".{0,5}", price(), 0..4),
            vec(any::<i32>(), 0..4),
        ),
    );
    (first, second, third).prop_map(|(first, second, third)| {
        let (
            (flag, small, big, single, double),
            (raw, text, status, statuses),
            (digest, digests, numbers, nulls),
        ) = first;
        let ((ages, names, places), (origin, events, maybe_status), (chain, ints, longs)) = second;
        let ((price, amount, id, span), (maybe_price, prices, days)) = third;
        Example {
            flag,
            small,
            big,
            single,
            double,
            raw,
            text,
            status,
            statuses,
            digest,
            digests,
            numbers,
            nulls,
            ages,
            names,
            places,
            origin,
            events,
            maybe_status,
            chain,
            ints,
            longs,
            price,
            amount,
            id,
            span,
            maybe_price,
            prices,
            days,
        }
    })
}

fn record(fields: Vec<(&str, Value)>) -> Value {
    Value::Record(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn branch(number: u32, value: Value) -> Value {
    Value::Union(number, Box::new(value))
}

fn map<V>(entries: &BTreeMap<String, V>, value: impl Fn(&V) -> Value) -> Value {
    Value::Map(
        entries
            .iter()
            .map(|(key, held)| (key.clone(), value(held)))
            .collect::<HashMap<_, _>>(),
    )
}

fn status(symbol: usize) -> Value {
    Value::Enum(symbol as u32, SYMBOLS[symbol].to_owned())
}

fn place_value((city, zip): &(String, Option<i32>)) -> Value {
    let zip = zip.map_or(branch(0, Value::Null), |zip| branch(1, Value::Int(zip)));
    record(vec![("city", Value::String(city.clone())), ("zip", zip)])
}

/// In as few bytes as its value needs.
fn decimal(unscaled: i32) -> Value {
    let bytes = unscaled.to_be_bytes();
    let says_nothing = |n: usize| {
        let sign = if bytes[n + 1] & 0x80 != 0 { 0xff } else { 0 };
        bytes[n] == sign
    };
    let first = (0..3).take_while(|n| says_nothing(*n)).count();
    Value::Decimal(TheirDecimal::from(bytes[first..].to_vec()))
}

impl Example {
    pub(crate) fn value(&self) -> Value {
        let longs =
            |numbers: &[i64]| Value::Array(numbers.iter().map(|n| Value::Long(*n)).collect());
        let origin = match &self.origin {
            OriginExample::Nowhere => branch(0, Value::Null),
            OriginExample::Text(text) => branch(1, Value::String(text.clone())),
            OriginExample::Number(number) => branch(2, Value::Int(*number)),
            OriginExample::Known(symbol) => branch(3, status(*symbol)),
            OriginExample::Somewhere(place) => branch(4, place_value(place)),
            OriginExample::Path(path) => branch(5, longs(path)),
        };
        let event = |event: &Result<(String, Option<i32>), String>| match event {
            Ok(place) => branch(0, place_value(place)),
            Err(text) => branch(1, Value::String(text.clone())),
        };
        let mut chain = branch(0, Value::Null);
        for value in self.chain[1..].iter().rev() {
            chain = branch(
                1,
                record(vec![("value", Value::Int(*value)), ("next", chain)]),
            );
        }
        let chain = record(vec![("value", Value::Int(self.chain[0])), ("next", chain)]);
        let digest = |bytes: &[u8; 4]| Value::Fixed(4, bytes.to_vec());
        let [months, days, millis] = self.span;
        record(vec![
            ("nothing", Value::Null),
            ("flag", Value::Boolean(self.flag)),
            ("small", Value::Int(self.small)),
            ("big", Value::Long(self.big)),
            ("single", Value::Float(self.single)),
            ("double", Value::Double(self.double)),
            ("raw", Value::Bytes(self.raw.clone())),
            ("text", Value::String(self.text.clone())),
            ("status", status(self.status)),
            ("status_text", status(self.status)),
            (
                "statuses",
                Value::Array(self.statuses.iter().map(|n| status(*n)).collect()),
            ),
            ("digest", digest(&self.digest)),
            ("digest_bytes", digest(&self.digest)),
            (
                "digests",
                Value::Array(self.digests.iter().map(digest).collect()),
            ),
            ("numbers", longs(&self.numbers)),
            ("nulls", Value::Array(vec![Value::Null; self.nulls])),
            ("ages", map(&self.ages, |age| Value::Int(*age))),
            (
                "names",
                map(&self.names, |name| Value::String(name.clone())),
            ),
            ("places", map(&self.places, place_value)),
            ("origin", origin),
            (
                "events",
                Value::Array(self.events.iter().map(event).collect()),
            ),
            (
                "maybe_status",
                self.maybe_status
                    .map_or(branch(0, Value::Null), |n| branch(1, status(n))),
            ),
            ("chain", chain),
            ("day", Value::Date(self.ints[0])),
            ("time_millis", Value::TimeMillis(self.ints[1])),
            ("time_micros", Value::TimeMicros(self.longs[0])),
            ("at_millis", Value::TimestampMillis(self.longs[1])),
            ("at_micros", Value::TimestampMicros(self.longs[2])),
            ("at_nanos", Value::TimestampNanos(self.longs[3])),
            ("local_millis", Value::LocalTimestampMillis(self.longs[4])),
            ("local_micros", Value::LocalTimestampMicros(self.longs[5])),
            ("local_nanos", Value::LocalTimestampNanos(self.longs[6])),
            ("price", decimal(self.price)),
            (
                "amount",
                Value::Decimal(TheirDecimal::from(self.amount.to_be_bytes().to_vec())),
            ),
            ("id", Value::Uuid(uuid::Uuid::from_bytes(self.id))),
            (
                "span",
                Value::Duration(TheirDuration::new(
                    Months::new(months),
                    Days::new(days),
                    Millis::new(millis),
                )),
            ),
            (
                "maybe_price",
                self.maybe_price
                    .map_or(branch(0, Value::Null), |price| branch(1, decimal(price))),
            ),
            ("prices", map(&self.prices, |price| decimal(*price))),
            (
                "days",
                Value::Array(self.days.iter().map(|day| Value::Date(*day)).collect()),
            ),
            ("only_at", branch(0, Value::TimestampMicros(self.longs[7]))),
        ])
    }
}

pub(crate) fn encode(schema: &str, value: Value) -> Vec<u8> {
    let schema = Schema::parse_str(schema).expect("the schema");
    let writer = GenericDatumWriter::builder(&schema)
        .build()
        .expect("a writer");
    writer
        .write_value_to_vec(value)
        .expect("a value of the schema")
}

fn place_of(place: &(String, Option<i32>)) -> Place<'_> {
    Place {
        city: &place.0,
        zip: place.1,
    }
}

fn chain(node: &Node) -> Vec<i32> {
    std::iter::successors(Some(node), |node| node.next.as_deref())
        .map(|node| node.value)
        .collect()
}

#[test]
fn every_type_is_decoded_equal() {
    let counted = Cell::new((0, 0));
    let result = TestRunner::new(ProptestConfig::default()).run(&example(), |example| {
        let (records, values) = counted.get();
        counted.set((records + 1, values + is_decoded_equal(&example)?));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (records, values) = counted.get();
    say("apache-avro", records, values);
}

/// Compares what is decoded with what was encoded, and tells how many values that were.
fn is_decoded_equal(example: &Example) -> Result<usize, TestCaseError> {
    let bytes = encode(ALL, example.value());
    let all: All<'_> = decode_body(&bytes, bytes.len()).expect("a record");
    prop_assert_eq!(
        (all.flag, all.small, all.big),
        (example.flag, example.small, example.big)
    );
    prop_assert_eq!(
        (all.single.to_bits(), all.double.to_bits()),
        (example.single.to_bits(), example.double.to_bits())
    );
    prop_assert_eq!((all.raw, all.text), (&example.raw[..], &example.text[..]));
    prop_assert_eq!(
        (all.status, all.status_text),
        (STATUSES[example.status], SYMBOLS[example.status])
    );
    prop_assert_eq!(all.status.symbol(), all.status_text);
    prop_assert!(
        all.statuses
            .iter()
            .eq(example.statuses.iter().map(|n| STATUSES[*n]))
    );
    prop_assert_eq!(
        (all.digest, all.digest_bytes),
        (example.digest, &example.digest[..])
    );
    prop_assert!(all.digests.iter().eq(&example.digests));
    prop_assert!(all.numbers.iter().eq(example.numbers.iter().copied()));
    prop_assert_eq!(all.nulls.len(), example.nulls);
    prop_assert_eq!(all.ages.len(), example.ages.len());
    prop_assert_eq!(
        all.ages
            .iter()
            .map(|(key, age)| (key.to_owned(), age))
            .collect::<BTreeMap<_, _>>(),
        example.ages.clone()
    );
    let names: BTreeMap<&str, &str> = all.names.iter().copied().collect();
    prop_assert!(
        names.into_iter().eq(example
            .names
            .iter()
            .map(|(key, name)| (&key[..], &name[..])))
    );
    prop_assert_eq!(
        &all.places,
        &example
            .places
            .iter()
            .map(|(key, place)| (&key[..], place_of(place)))
            .collect::<HashMap<_, _, _>>()
    );
    let origin = match &example.origin {
        OriginExample::Nowhere => Origin::Nowhere,
        OriginExample::Text(text) => Origin::Text(text),
        OriginExample::Number(number) => Origin::Number(*number),
        OriginExample::Known(symbol) => Origin::Known(STATUSES[*symbol]),
        OriginExample::Somewhere(place) => Origin::Somewhere(place_of(place)),
        OriginExample::Path(path) => Origin::Path(path.clone()),
    };
    prop_assert_eq!(&all.origin, &origin);
    let event = |event: &Result<(String, Option<i32>), String>| match event {
        Ok(place) => format!("{:?}", Event::Arrived(place_of(place))),
        Err(text) => format!("{:?}", Event::Text(text)),
    };
    let events: Vec<String> = all
        .events
        .iter()
        .map(|found| format!("{found:?}"))
        .collect();
    prop_assert_eq!(events, example.events.iter().map(event).collect::<Vec<_>>());
    prop_assert_eq!(all.maybe_status, example.maybe_status.map(|n| STATUSES[n]));
    prop_assert_eq!(&chain(&all.chain), &example.chain);
    let [day, time] = example.ints;
    prop_assert_eq!((all.day, all.time_millis), (Date(day), TimeMillis(time)));
    let longs = example.longs;
    prop_assert_eq!(
        (all.time_micros, all.at_millis, all.at_micros, all.at_nanos),
        (
            TimeMicros(longs[0]),
            TimestampMillis(longs[1]),
            TimestampMicros(longs[2]),
            TimestampNanos(longs[3])
        )
    );
    prop_assert_eq!(
        (
            all.local_millis,
            all.local_micros,
            all.local_nanos,
            all.only_at
        ),
        (
            LocalTimestampMillis(longs[4]),
            LocalTimestampMicros(longs[5]),
            LocalTimestampNanos(longs[6]),
            TimestampMicros(longs[7])
        )
    );
    prop_assert_eq!(
        (all.price, all.amount),
        (
            Decimal(example.price.into()),
            Decimal(example.amount.into())
        )
    );
    prop_assert_eq!(all.id, Uuid(example.id));
    let [months, days, millis] = example.span;
    prop_assert_eq!(
        all.span,
        Duration {
            months,
            days,
            millis
        }
    );
    prop_assert_eq!(
        all.maybe_price,
        example.maybe_price.map(|price| Decimal(price.into()))
    );
    prop_assert!(
        all.prices
            .iter()
            .map(|(key, price)| (key.clone(), price.0))
            .eq(example
                .prices
                .iter()
                .map(|(key, price)| (key.clone(), i128::from(*price))))
    );
    prop_assert!(
        all.days
            .iter()
            .eq(example.days.iter().map(|day| Date(*day)))
    );

    let plain: Plain = decode_body(&bytes, bytes.len()).expect("a record");
    prop_assert_eq!(&plain.status, SYMBOLS[example.status]);
    prop_assert!(plain.statuses.iter().copied().eq(all.statuses));
    prop_assert_eq!(
        (&plain.digest[..], &plain.digests),
        (&example.digest[..], &example.digests)
    );
    prop_assert!(
        plain
            .ages
            .iter()
            .map(|(key, age)| (key.clone(), *age))
            .eq(example
                .ages
                .iter()
                .map(|(key, age)| (key.clone(), i64::from(*age))))
    );
    prop_assert_eq!(
        &plain.names,
        &example
            .names
            .clone()
            .into_iter()
            .collect::<HashMap<_, _, _>>()
    );
    prop_assert_eq!(chain(&plain.chain), example.chain.as_slice());
    prop_assert_eq!(
        (
            plain.day,
            plain.time_micros,
            plain.local_nanos,
            plain.only_at
        ),
        (day, longs[0], longs[6], longs[7])
    );
    prop_assert_eq!(plain.amount, example.amount.to_be_bytes());
    prop_assert_eq!(plain.id, Uuid(example.id).to_string());
    prop_assert_eq!(plain.span[8..].to_vec(), millis.to_le_bytes());
    prop_assert!(
        plain
            .days
            .iter()
            .copied()
            .eq(example.days.iter().map(|day| i64::from(*day)))
    );

    let _: Passed = decode_body(&bytes, bytes.len()).expect("everything can be passed over");
    Ok(leaves(&all).lines().count())
}

proptest! {
    #[test]
    fn a_payload_of_every_type_that_is_cut_or_goes_on_is_an_error(example in example(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(ALL, example.value());
        let short = &bytes[..cut.index(bytes.len())];
        prop_assert!(decode_body::<All<'_>>(short, short.len()).is_err());
        prop_assert!(decode_body::<Plain>(short, short.len()).is_err());
        prop_assert!(decode_body::<Passed>(short, short.len()).is_err());
        let mut long = bytes;
        long.push(0);
        prop_assert!(decode_body::<All<'_>>(&long, long.len()).is_err());
        prop_assert!(decode_body::<Passed>(&long, long.len()).is_err());
    }

    #[test]
    fn damage_to_every_type_is_answered_without_a_panic_and_checking_agrees_with_decoding(
        example in example(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        noise in vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = encode(ALL, example.value());
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        for payload in [&bytes, &noise] {
            agree::<All<'_>>(payload)?;
            agree::<Plain>(payload)?;
            agree::<More>(payload)?;
            agree::<Passed>(payload)?;
            if let Ok(all) = decode_body::<All<'_>>(payload, payload.len()) {
                prop_assert_eq!(all.ages.iter().count(), all.ages.len());
                prop_assert_eq!(all.events.iter().count(), all.events.len());
                prop_assert_eq!(all.statuses.iter().count(), all.statuses.len());
            }
        }
    }
}

/// Decoding and checking end alike.
fn agree<'b, R: AvroRecord<'b>>(payload: &'b [u8]) -> Result<(), TestCaseError> {
    let decoded = decode_body::<R>(payload, payload.len()).map(drop);
    let mut reader = spate_avro::Reader::new(payload, payload.len());
    let checked = R::check(&mut reader).and_then(|()| reader.finish());
    prop_assert_eq!(
        decoded.map_err(|e| e.to_string()),
        checked.map_err(|e| e.to_string())
    );
    Ok(())
}

#[test]
fn a_big_decimal_a_fixed_uuid_and_a_wide_decimal_are_what_another_implementation_wrote() {
    let schema = include_str!("../schemas/more.avsc");
    for (text, unscaled, scale) in [
        ("-12.30", -1230, 2),
        ("0", 0, 0),
        ("12345678901234567890.5", 123_456_789_012_345_678_905, 1),
    ] {
        let big: bigdecimal::BigDecimal = text.parse().expect("a number");
        let key = uuid::Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);
        let bytes = encode(
            schema,
            record(vec![
                ("big", Value::BigDecimal(big)),
                ("key", Value::Uuid(key)),
                ("wide", Value::Decimal(TheirDecimal::from(vec![0xff, 0x85]))),
            ]),
        );
        let more: More = decode_body(&bytes, bytes.len()).expect("a record");
        assert_eq!(
            (more.big.unscaled, more.big.scale),
            (unscaled, scale),
            "{text}"
        );
        assert_eq!(more.key.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
        assert_eq!(more.wide.to_string(), "-0.123");
    }
}
