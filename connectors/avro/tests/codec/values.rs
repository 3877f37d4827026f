//! Values without a compiled schema are those that the compiled decoder gives, for payloads of three other implementations; and what it refuses is refused, in the
//! same words.

use std::fmt::Debug;
use std::sync::LazyLock;

use apache_avro::types::Value as Theirs;
use proptest::collection::vec;
use proptest::prelude::*;
use spate_avro::value::{NoField, Value, ValueReader};
use spate_avro::{AvroEnum as _, BigDecimal, Decimal, decode_body};

use crate::fuzzed::{kept, written};
use crate::types::{All, Event, More, Node, Origin, Place};
use crate::types_interop::{ALL, encode, example};

const MORE: &str = include_str!("../schemas/more.avsc");

static READER: LazyLock<ValueReader> = LazyLock::new(|| ValueReader::new(ALL).expect("a schema"));

fn same<T: Debug + PartialEq>(found: Option<T>, expected: T, field: &str) {
    assert_eq!(found, Some(expected), "{field}");
}

fn decimal<const SCALE: u32>(decimal: Decimal<SCALE>) -> BigDecimal {
    BigDecimal {
        unscaled: decimal.0,
        scale: SCALE as i32,
    }
}

fn is_place(value: &Value, place: &Place<'_>) {
    same(
        value.get("city").and_then(Value::as_str),
        place.city,
        "city",
    );
    let zip = value.field("zip").expect("a field");
    assert_eq!(zip.as_i64(), place.zip.map(i64::from));
    assert_eq!(zip.is_null(), place.zip.is_none());
}

fn is_node(value: &Value, node: &Node) {
    same(
        value.get("value").and_then(Value::as_i64),
        node.value.into(),
        "value",
    );
    match (&node.next, value.field("next").expect("a field")) {
        (None, next) => assert!(next.is_null()),
        (Some(node), next) => is_node(next, node),
    }
}

/// Whether the value is the record.
fn is_all(value: &Value, all: &All<'_>) {
    let of = |name: &str| value.field(name).expect("a field");
    assert!(of("nothing").is_null());
    same(of("flag").as_bool(), all.flag, "flag");
    same(of("small").as_i64(), all.small.into(), "small");
    same(of("big").as_i64(), all.big, "big");
    assert_eq!(of("single").kind(), "float");
    same(
        of("single").as_f64().map(f64::to_bits),
        f64::from(all.single).to_bits(),
        "single",
    );
    same(
        of("double").as_f64().map(f64::to_bits),
        all.double.to_bits(),
        "double",
    );
    same(of("raw").as_bytes(), all.raw, "raw");
    same(of("text").as_str(), all.text, "text");
    same(of("status").as_str(), all.status.symbol(), "status");
    same(of("status_text").as_str(), all.status_text, "status_text");
    let statuses: Vec<&str> = all.statuses.iter().map(|status| status.symbol()).collect();
    let found: Vec<&str> = of("statuses").items().filter_map(Value::as_str).collect();
    assert_eq!(found, statuses);
    same(of("digest").as_bytes(), &all.digest[..], "digest");
    same(
        of("digest_bytes").as_bytes(),
        all.digest_bytes,
        "digest_bytes",
    );
    let found: Vec<&[u8]> = of("digests").items().filter_map(Value::as_bytes).collect();
    assert!(all.digests.iter().map(|digest| &digest[..]).eq(found));
    assert!(
        all.numbers
            .iter()
            .eq(of("numbers").items().filter_map(Value::as_i64))
    );
    assert_eq!(
        all.nulls.len(),
        of("nulls").items().filter(|null| null.is_null()).count()
    );
    let mut ages: Vec<(&str, i64)> = all
        .ages
        .iter()
        .map(|(key, age)| (key, age.into()))
        .collect();
    ages.reverse();
    ages.sort_by_key(|(key, _)| *key);
    ages.dedup_by_key(|(key, _)| *key);
    let found = of("ages")
        .entries()
        .filter_map(|(key, age)| Some((key, age.as_i64()?)));
    assert_eq!(found.collect::<Vec<_>>(), ages, "the last value of a key");
    for (key, name) in &all.names {
        let last = all
            .names
            .iter()
            .rfind(|(other, _)| other == key)
            .map(|(_, name)| *name);
        assert_eq!(of("names").get(key).and_then(Value::as_str), last, "{name}");
    }
    assert_eq!(of("places").entries().count(), all.places.len());
    for (key, place) in &all.places {
        is_place(of("places").get(key).expect("an entry"), place);
    }
    let origin = of("origin");
    let branch = origin.as_union().expect("a union");
    let (number, name) = match &all.origin {
        Origin::Nowhere => (0, "null"),
        Origin::Text(text) => {
            same(origin.as_str(), *text, "origin");
            (1, "string")
        }
        Origin::Number(number) => {
            same(origin.as_i64(), (*number).into(), "origin");
            (2, "int")
        }
        Origin::Known(status) => {
            same(
                origin.as_enum().map(|symbol| symbol.symbol()),
                status.symbol(),
                "origin",
            );
            same(
                origin.as_enum().map(|symbol| symbol.name()),
                "types.Status",
                "origin",
            );
            (3, "types.Status")
        }
        Origin::Somewhere(place) => {
            is_place(origin, place);
            same(
                origin.as_record().map(|record| record.name()),
                "types.Place",
                "origin",
            );
            (4, "types.Place")
        }
        Origin::Path(path) => {
            assert!(
                origin
                    .items()
                    .filter_map(Value::as_i64)
                    .eq(path.iter().copied())
            );
            (5, "array")
        }
    };
    assert_eq!((branch.branch(), branch.branch_name()), (number, name));
    assert_eq!(of("events").items().len(), all.events.len());
    for (event, found) in all.events.iter().zip(of("events").items()) {
        match event {
            Event::Text(text) => same(found.as_str(), text, "events"),
            Event::Arrived(place) => is_place(found, &place),
        }
    }
    assert_eq!(
        of("maybe_status").as_str(),
        all.maybe_status.map(|status| status.symbol())
    );
    is_node(of("chain"), &all.chain);
    same(of("day").as_date(), all.day, "day");
    same(
        of("time_millis").as_time_millis(),
        all.time_millis,
        "time_millis",
    );
    same(
        of("time_micros").as_time_micros(),
        all.time_micros,
        "time_micros",
    );
    same(
        of("at_millis").as_timestamp_millis(),
        all.at_millis,
        "at_millis",
    );
    same(
        of("at_micros").as_timestamp_micros(),
        all.at_micros,
        "at_micros",
    );
    same(
        of("at_nanos").as_timestamp_nanos(),
        all.at_nanos,
        "at_nanos",
    );
    same(
        of("local_millis").as_local_timestamp_millis(),
        all.local_millis,
        "local_millis",
    );
    same(
        of("local_micros").as_local_timestamp_micros(),
        all.local_micros,
        "local_micros",
    );
    same(
        of("local_nanos").as_local_timestamp_nanos(),
        all.local_nanos,
        "local_nanos",
    );
    same(of("price").as_decimal(), decimal(all.price), "price");
    same(of("amount").as_decimal(), decimal(all.amount), "amount");
    same(of("id").as_uuid(), all.id, "id");
    same(of("span").as_duration(), all.span, "span");
    assert_eq!(of("maybe_price").as_decimal(), all.maybe_price.map(decimal));
    assert_eq!(of("prices").entries().count(), all.prices.len());
    for (key, price) in &all.prices {
        same(
            of("prices").get(key).and_then(Value::as_decimal),
            decimal(*price),
            "prices",
        );
    }
    assert!(
        all.days
            .iter()
            .eq(of("days").items().filter_map(Value::as_date))
    );
    same(of("only_at").as_timestamp_micros(), all.only_at, "only_at");
    same(
        of("only_at").as_union().map(|union| union.branch_name()),
        "long",
        "only_at",
    );
    assert_eq!(value.fields().count(), 40);
}

/// The value and the record are the same, or the same error.
fn agree(payload: &[u8]) {
    let all = decode_body::<All<'_>>(payload, payload.len());
    match (READER.read(payload), all) {
        (Ok(value), Ok(all)) => is_all(&value, &all),
        (Err(error), Err(compiled)) => assert_eq!(error.to_string(), compiled.to_string()),
        (value, all) => panic!("{value:?}\n{all:?}"),
    }
}

#[test]
fn values_of_what_fastavro_and_avro_for_python_wrote_are_the_compiled_decoders() {
    let payloads = written();
    assert!(payloads.len() >= 5, "{}", payloads.len());
    for payload in &payloads {
        assert!(READER.read(payload).is_ok());
        agree(payload);
    }
}

#[test]
fn values_of_what_they_drew_are_the_compiled_decoders() {
    let drawn = [
        include_str!("../written/drawn.fastavro.hex"),
        include_str!("../written/drawn.python.hex"),
    ];
    for line in drawn.into_iter().flat_map(str::lines) {
        let byte = |at| u8::from_str_radix(&line[at..at + 2], 16).expect("digits");
        let payload: Vec<u8> = (0..line.len()).step_by(2).map(byte).collect();
        assert!(READER.read(&payload).is_ok());
        agree(&payload);
    }
}

#[test]
fn values_of_the_kept_corpus_are_the_compiled_decoders_or_its_errors() {
    let kept = kept("decode");
    assert!(!kept.is_empty());
    kept.iter().for_each(|payload| agree(payload));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn values_of_what_apache_avro_wrote_are_the_compiled_decoders(example in example()) {
        let bytes = encode(ALL, example.value());
        prop_assert!(READER.read(&bytes).is_ok());
        agree(&bytes);
    }

    #[test]
    fn damage_is_the_same_error_as_of_the_compiled_decoder(
        example in example(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        noise in vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = encode(ALL, example.value());
        agree(&bytes[..cut.index(bytes.len())]);
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        agree(&bytes);
        agree(&noise);
        bytes.push(0);
        agree(&bytes);
    }
}

#[test]
fn a_big_decimal_a_fixed_uuid_and_a_wide_decimal_are_values() {
    let reader = ValueReader::new(MORE).expect("a schema");
    let fields = [
        (
            "big",
            Theirs::BigDecimal("-12.30".parse().expect("a number")),
        ),
        ("key", Theirs::Uuid(uuid::Uuid::from_u128(7))),
        (
            "wide",
            Theirs::Decimal(apache_avro::Decimal::from(vec![0xff, 0x85])),
        ),
    ];
    let fields = fields
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    let bytes = encode(MORE, Theirs::Record(fields));
    let more: More = decode_body(&bytes, bytes.len()).expect("a record");
    let value = reader.read(&bytes).expect("a value");
    assert_eq!(value.get("big"), Some(&Value::BigDecimal(more.big)));
    assert_eq!(value.get("key"), Some(&Value::Uuid(more.key)));
    assert_eq!(value.get("wide"), Some(&Value::Decimal(decimal(more.wide))));
    assert_eq!(
        value.to_string(),
        r#"{"big": -12.30, "key": "00000000-0000-0000-0000-000000000007", "wide": -0.123}"#
    );
}

#[test]
fn logical_types_are_known_inside_unions_arrays_and_maps_and_ignored_where_they_are_not_valid() {
    let schema = r#"{"type": "record", "name": "R", "namespace": "n", "fields": [
        {"name": "at", "type": {"type": "array", "items": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}},
        {"name": "days", "type": {"type": "map", "values": {"type": "int", "logicalType": "date"}}},
        {"name": "either", "type": [{"type": "string", "logicalType": "uuid"}, {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}]},
        {"name": "no_uuid", "type": {"type": "bytes", "logicalType": "uuid"}},
        {"name": "no_date", "type": {"type": "long", "logicalType": "date"}},
        {"name": "no_decimal", "type": {"type": "bytes", "logicalType": "decimal", "precision": 1, "scale": 2}},
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 3, "logicalType": "uuid"}}]}"#;
    let reader = ValueReader::new(schema).expect("a schema");
    let body = [
        4, 2, 14, 0, 0, // at: 7, null
        2, 2, b'a', 2, 0, // days
        2, 2, 0x7f, // either: 12.7
        2, 9, 6, 2, 5, 1, 2, 3,
    ];
    let value = reader.read(&body).expect("a value");
    assert_eq!(
        value.to_string(),
        r#"{"at": [7, null], "days": {"a": 1}, "either": 12.7, "no_uuid": 0x09, "no_date": 3, "no_decimal": 0x05, "key": 0x010203}"#
    );
    let at = value.field("at").expect("a field").at(0).expect("an item");
    assert_eq!(at.kind(), "timestamp-millis");
    assert_eq!(at.as_i64(), None, "a number of a unit is no plain one");
    assert_eq!(value.get("no_date").map(Value::kind), Some("long"));
    assert_eq!(
        format!("{value:?}"),
        "Record(n.R { at: Array([Union(1, long: TimestampMillis(TimestampMillis(7))), Union(0, null: Null)]), \
         days: Map({\"a\": Date(Date(1))}), either: Union(1, bytes: Decimal(BigDecimal { unscaled: 127, scale: 1 })), \
         no_uuid: Bytes([9]), no_date: Long(3), no_decimal: Bytes([5]), key: Fixed([1, 2, 3]) })"
    );
}

#[test]
fn accessors_look_through_unions_and_say_what_is_not_there() {
    let schema = r#"{"type": "record", "name": "shop.Order", "fields": [
        {"name": "customer", "type": ["null", {"type": "record", "name": "Customer", "fields": [{"name": "name", "type": "string"}]}]},
        {"name": "qty", "type": "int"}]}"#;
    let reader = ValueReader::new(schema).expect("a schema");
    let order = reader.read(&[2, 4, b'E', b'\n', 6]).expect("a value");
    let name = order
        .get("customer")
        .and_then(|customer| customer.get("name"));
    assert_eq!(name.and_then(Value::as_str), Some("E\n"));
    assert_eq!(order.get("qty").and_then(Value::as_f64), Some(3.0));
    assert_eq!(order.get("qty").and_then(Value::as_str), None);
    assert_eq!(order.at(0), None);
    assert_eq!((order.items().len(), order.entries().count()), (0, 0));
    assert_eq!(
        order.to_string(),
        r#"{"customer": {"name": "E\n"}, "qty": 3}"#
    );
    let missing = order.field("quantity").expect_err("no such field");
    assert_eq!(
        missing.to_string(),
        "the record `shop.Order` has no field `quantity`; it has customer, qty"
    );
    let order = reader.read(&[0, 6]).expect("a value");
    let customer = order.field("customer").expect("it is there, and null");
    assert_eq!((customer.is_null(), customer.get("name")), (true, None));
    let found = customer.field("name").expect_err("null has none");
    assert_eq!(
        found,
        NoField::NoRecord {
            field: "name".to_owned(),
            found: "null"
        }
    );
    assert_ne!(order, reader.read(&[0, 8]).expect("a value"));
    assert_eq!(order, order.clone());
}

#[test]
fn every_schema_of_the_specification_is_one_of_values_and_no_other() {
    let reader = ValueReader::new("\"string\"").expect("a schema without a record");
    let value = reader.read(&[4, b'h', b'i']).expect("a value");
    assert_eq!(value.as_str(), Some("hi"));
    // One name in two namespaces, of which one is none: what a library makes of it does not matter.
    let reader = ValueReader::new(
        r#"{"type": "record", "name": "R", "namespace": "n", "fields": [
            {"name": "a", "type": {"type": "enum", "name": "E", "namespace": "", "symbols": ["A", "B"]}},
            {"name": "b", "type": {"type": "fixed", "name": "E", "size": 2}},
            {"name": "c", "type": "n.E"}]}"#,
    )
    .expect("a schema");
    let value = reader.read(&[2, 1, 2, 3, 4]).expect("a value");
    assert_eq!(value.to_string(), r#"{"a": "B", "b": 0x0102, "c": 0x0304}"#);
    for (schema, reason) in [
        ("{", "it is not JSON"),
        (
            r#"{"type": "record", "name": "a-b", "fields": []}"#,
            "`a-b` is not a name",
        ),
        (
            r#"{"type": "array", "items": "Nowhere"}"#,
            "does not define it",
        ),
    ] {
        let error = ValueReader::new(schema).expect_err(schema).to_string();
        assert!(error.contains(reason), "{error}");
    }
}
