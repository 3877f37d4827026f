//! Payloads that two other implementations wrote (`tests/written/write.py`) are the values that were given to them.

use std::collections::{BTreeMap, HashMap};

use spate_avro::{
    Date, Decimal, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos, Seq,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, decode_body,
};

use crate::leaves::{compare, given, say};
use crate::types::{All, Event, Node, Origin, Place, Plain, Status};

fn payloads(hex: &str) -> Vec<Vec<u8>> {
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    let line = |line: &str| line.as_bytes().chunks(2).map(byte).collect();
    hex.lines().map(line).collect()
}

/// What a `Seq` holds.
fn items<'b, T: spate_avro::Item<'b>>(seq: Seq<'b, T>) -> Vec<T> {
    seq.iter().collect()
}

fn is_the_first(bytes: &[u8]) {
    let all: All<'_> = decode_body(bytes, bytes.len()).expect("a record");
    assert_eq!((all.flag, all.small, all.big), (true, -5, 1 << 40));
    assert_eq!((all.single, all.double), (1.5, -2.25));
    assert_eq!((all.raw, all.text), (&[0, 0xff][..], "grüße"));
    assert_eq!(
        (all.status, all.status_text),
        (Status::Settled, "IN_TRANSIT")
    );
    assert_eq!(items(all.statuses), [Status::New, Status::InTransit]);
    assert_eq!(
        (all.digest, all.digest_bytes),
        (*b"abcd", &[0, 1, 2, 3][..])
    );
    assert_eq!(items(all.digests), [b"wxyz"]);
    assert_eq!(items(all.numbers), [1, -1, 64]);
    assert_eq!(all.nulls.len(), 2);
    assert_eq!(items(all.ages), [("a", 1), ("b", -2)]);
    assert_eq!(all.names, [("k", "v")]);
    let place = |city, zip| Place { city, zip };
    assert_eq!(
        all.places,
        HashMap::from_iter([("home", place("Ulm", Some(89_073)))])
    );
    assert_eq!(all.origin, Origin::Somewhere(place("Bonn", None)));
    assert_eq!(
        items(all.events),
        [Event::Arrived(place("Rom", Some(1))), Event::Text("text")]
    );
    assert_eq!(all.maybe_status, Some(Status::New));
    let end = Node {
        value: 2,
        next: None,
    };
    assert_eq!(
        all.chain,
        Node {
            value: 1,
            next: Some(Box::new(end))
        }
    );
    assert_eq!(
        (all.day, all.time_millis),
        (Date(19_000), TimeMillis(35_245_000))
    );
    assert_eq!(all.time_micros, TimeMicros(20_192_000_000));
    assert_eq!(all.at_millis, TimestampMillis(-1));
    assert_eq!(
        all.at_micros,
        TimestampMicros(62_135_596_800_000_000),
        "the year 3939"
    );
    assert_eq!(all.at_nanos, TimestampNanos(1));
    assert_eq!(
        (all.local_millis, all.local_micros),
        (LocalTimestampMillis(2), LocalTimestampMicros(3))
    );
    assert_eq!(all.local_nanos, LocalTimestampNanos(4));
    assert_eq!(
        (all.price.to_string(), all.amount.to_string()),
        ("-12.30".to_owned(), "-0.0002".to_owned())
    );
    assert_eq!(all.id.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
    assert_eq!(
        all.span,
        Duration {
            months: 1,
            days: 2,
            millis: 3
        }
    );
    assert_eq!(all.maybe_price, Some(Decimal(255)));
    assert_eq!(all.prices, BTreeMap::from([("p".to_owned(), Decimal(-1))]));
    assert_eq!(items(all.days), [Date(0), Date(-1)]);
    assert_eq!(all.only_at, TimestampMicros(i64::MIN));
    let plain: Plain = decode_body(bytes, bytes.len()).expect("a record");
    assert_eq!(
        (plain.price, plain.status.as_str()),
        (vec![0xfb, 0x32], "PAID")
    );
}

fn is_the_second(bytes: &[u8]) {
    let all: All<'_> = decode_body(bytes, bytes.len()).expect("a record");
    assert_eq!((all.small, all.big), (i32::MIN, i64::MIN));
    assert_eq!((all.raw, all.text, all.status), (&[][..], "", Status::New));
    assert!(
        all.statuses.is_empty()
            && all.nulls.is_empty()
            && all.ages.is_empty()
            && all.places.is_empty()
    );
    assert_eq!((all.origin, all.maybe_status), (Origin::Nowhere, None));
    assert_eq!(
        all.chain,
        Node {
            value: i32::MAX,
            next: None
        }
    );
    assert_eq!(all.day, Date(-719_162), "the first day of the first year");
    assert_eq!(
        (all.price, all.amount, all.maybe_price),
        (Decimal(0), Decimal(0), None)
    );
}

#[test]
fn what_fastavro_wrote_is_what_it_was_given() {
    let payloads = payloads(include_str!("../written/fastavro.hex"));
    let [first, second, of_logical_types] = &payloads[..] else {
        panic!("{} payloads", payloads.len());
    };
    is_the_first(first);
    is_the_second(second);
    is_the_first(of_logical_types);
}

#[test]
fn what_avro_for_python_wrote_is_what_it_was_given() {
    let payloads = payloads(include_str!("../written/python.hex"));
    let [first, second] = &payloads[..] else {
        panic!("{} payloads", payloads.len());
    };
    is_the_first(first);
    is_the_second(second);
}

fn are_the_drawn(writer: &str, hex: &str) {
    let (payloads, given) = (payloads(hex), given());
    assert_eq!(payloads.len(), given.len());
    let mut values = 0;
    for (n, (bytes, given)) in payloads.iter().zip(&given).enumerate() {
        let what = format!("{writer}, record {n}");
        let all = decode_body::<All<'_>>(bytes, bytes.len());
        let all = all.unwrap_or_else(|error| panic!("{what}: {error}"));
        values += compare(&all, given, &what);
    }
    say(writer, payloads.len(), values);
}

#[test]
fn every_value_that_others_wrote_is_read_back_equal() {
    are_the_drawn("fastavro", include_str!("../written/drawn.fastavro.hex"));
    are_the_drawn(
        "Avro for Python",
        include_str!("../written/drawn.python.hex"),
    );
}
