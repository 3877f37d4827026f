//! What arrives: every record, in order, once, with everything it carries.

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use spate_runtime::source::{Fetched, LaneId, Source};
use spate_runtime::time::Time;
use spate_test::services::Record;
use std::time::Duration;

use super::harness::{Member, STEADY, broker, produce, unique};

#[test]
fn all_records_of_eight_partitions_arrive_in_order_exactly_once() {
    let (kafka, topic) = broker(8);
    produce(&kafka, &topic, 8, 0, 400);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("the first half arrives", |member| member.count() >= 8 * 400);
    produce(&kafka, &topic, 8, 400, 400);
    member.until("all arrive", |member| member.count() >= 8 * 800);
    for partition in 0..8 {
        member.assert_got(partition, 0, 800);
    }
    // Once assigned, no time that passes ends the pipeline.
    let much_later = Time::ZERO.after(Duration::from_secs(24 * 3600));
    assert!(member.source.poll(much_later).is_ok());
    assert_eq!(member.leave().len(), 8 * 800);
}

#[test]
fn a_record_arrives_with_its_key_headers_and_timestamp_and_a_tombstone_is_no_empty_payload() {
    let (kafka, topic) = broker(1);
    let headers: [(&str, Option<&[u8]>); 4] = [
        ("source", Some(b"pos-7")),
        ("note", None),
        ("empty", Some(b"")),
        ("source", Some(b"pos-8")),
    ];
    let record =
        |key: Option<&'static [u8]>, payload: Option<&'static [u8]>, headers, timestamp_ms| {
            let topic = topic.as_str();
            kafka
                .producer()
                .send(Record {
                    topic,
                    partition: Some(0),
                    key,
                    payload,
                    headers,
                    timestamp_ms,
                })
                .expect("the record is taken");
        };
    record(
        Some(b"user-1"),
        Some(b"hello"),
        &headers,
        Some(1_700_000_000_123),
    );
    record(Some(b"user-1"), None, &[], Some(1_700_000_000_124));
    record(None, Some(b""), &[], None);
    record(Some(b""), Some(b"x"), &headers[..1], None);
    kafka
        .producer()
        .flush(Duration::from_secs(60))
        .expect("all records are acknowledged");

    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("all arrive", |member| member.count() == 4);
    let got = &member.got;
    assert_eq!(got[0].key.as_deref(), Some(&b"user-1"[..]));
    assert_eq!(got[0].payload.as_deref(), Some(&b"hello"[..]));
    assert_eq!(got[0].timestamp, Some(1_700_000_000_123));
    let owned: Vec<_> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.map(<[u8]>::to_vec)))
        .collect();
    assert_eq!(got[0].headers, owned);
    assert_eq!((got[1].payload.as_deref(), got[1].headers.len()), (None, 0));
    assert_eq!(got[1].key.as_deref(), Some(&b"user-1"[..]));
    assert_eq!(
        (got[2].payload.as_deref(), got[2].key.as_deref()),
        (Some(&b""[..]), None)
    );
    assert!(
        got[2]
            .timestamp
            .is_some_and(|millis| millis > 1_700_000_000_124),
        "the producer's clock"
    );
    assert_eq!(
        (got[3].key.as_deref(), got[3].headers.len()),
        (Some(&b""[..]), 1)
    );
    assert_eq!(
        got.iter().map(|got| got.offset).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
}

#[test]
fn batches_of_every_codec_are_read() {
    let (kafka, topic) = broker(1);
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    for codec in codecs {
        let producer: BaseProducer = ClientConfig::new()
            .set("bootstrap.servers", kafka.bootstrap_servers())
            .set("compression.type", codec)
            .create()
            .expect("a producer is made");
        let payload = codec.repeat(200);
        for _ in 0..20 {
            let record = BaseRecord::<[u8], [u8]>::to(&topic)
                .partition(0)
                .payload(payload.as_bytes());
            producer.send(record).expect("the record is taken");
        }
        producer
            .flush(Duration::from_secs(60))
            .expect("all records are acknowledged");
    }
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("all arrive", |member| member.count() == 100);
    for (index, got) in member.got.iter().enumerate() {
        assert_eq!(
            got.payload,
            Some(codecs[index / 20].repeat(200).into_bytes())
        );
    }
}

#[test]
fn a_paused_lane_hands_out_nothing_and_goes_on_without_a_gap() {
    let (kafka, topic) = broker(2);
    produce(&kafka, &topic, 2, 0, 1_000);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("some arrive", |member| member.count() > 0);
    for round in 1..=5 {
        let lanes: Vec<LaneId> = member.lanes.iter().map(|lane| lane.id()).collect();
        member.source.pause(&lanes).expect("paused");
        let before = member.count();
        for _ in 0..200 {
            member.turn();
        }
        assert_eq!(member.count(), before, "round {round}");
        produce(&kafka, &topic, 2, 900 + round * 100, 100);
        member.source.resume(&lanes).expect("resumed");
        member.until("more arrives", |member| member.count() > before);
    }
    member.until("all arrive", |member| member.count() >= 2 * 1_500);
    for partition in 0..2 {
        member.assert_got(partition, 0, 1_500);
    }
}

#[test]
fn a_batch_stays_readable_until_it_is_finished() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 10);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.idle = true;
    member.until_assigned();
    let mut lane = member.lanes.remove(0);
    let mut fetched = Fetched::Empty;
    while fetched == Fetched::Empty {
        member.turn();
        fetched = lane.fetch(4).expect("nothing fails");
    }
    let read = |lane: &dyn spate_runtime::source::SourceLane| {
        let mut seen = Vec::new();
        lane.read(&mut |batch| {
            seen.extend(
                batch
                    .records()
                    .iter()
                    .map(|r| (r.offset(), r.payload().to_vec())),
            )
        });
        seen
    };
    let first = read(&*lane);
    assert!(!first.is_empty() && first.len() <= 4);
    for _ in 0..50 {
        member.turn();
    }
    assert_eq!(read(&*lane), first);
    lane.finish();
    assert_eq!(first[0], (0, b"0/0".to_vec()));
}

#[test]
fn records_that_went_to_the_wrong_queue_are_fetched_again_in_order() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 50);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("the first arrive", |member| member.count() >= 50);
    member.misrouted = true;
    for round in 0..5 {
        // What a partition looks like that was not split off in time.
        member.source.misroute(&topic, 0);
        produce(&kafka, &topic, 1, 50 + round * 50, 50);
        let wanted = 100 + usize::try_from(round).expect("small") * 50;
        member.until("all arrive", |member| member.count() >= wanted);
    }
    member.assert_got(0, 0, 300);
    assert!(member.source.leaks > 0, "the test did what it says");
}

#[test]
fn records_that_the_client_delivers_again_are_not_handed_out_again() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 100);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("the first arrive", |member| member.count() >= 100);
    for round in 0..5 {
        member.source.set_back(&topic, 0, round * 17);
        produce(&kafka, &topic, 1, 100 + round * 10, 10);
        let wanted = 110 + usize::try_from(round).expect("small") * 10;
        member.until("the others arrive", |member| member.count() >= wanted);
    }
    member.assert_got(0, 0, 150);
}
