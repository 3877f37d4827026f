//! A partition whose newest records were compacted away: its offsets end behind the last record that is left. No producer
//! makes such a batch, so it is written by hand.

use std::io::{Read, Write};
use std::net::TcpStream;

use spate_test::services::EmbeddedKafka;

use super::harness::{Member, broker, produce, unique};

/// Sends a batch that spans `span` offsets and has records at these only, counted from its first.
fn produce_compacted(kafka: &EmbeddedKafka, topic: &str, at: &[u8], span: i32) {
    let records = records(at);
    let count = i32::try_from(at.len()).expect("a few");
    let mut batch = Vec::new();
    // The leader's epoch, the version, no checksum, the attributes; then timestamps, and nothing of a producer.
    batch.extend([&[0xff; 4][..], &[2], &[0; 4], &[0; 2]].concat());
    batch.extend((span - 1).to_be_bytes());
    batch.extend([&[0; 16][..], &[0xff; 14]].concat());
    batch.extend(count.to_be_bytes());
    batch.extend(&records);

    let mut request = Vec::new();
    // Produce, version 3, correlation 7, no client id, no transaction, acknowledged by all.
    request.extend([0, 0, 0, 3, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    request.extend(60_000_i32.to_be_bytes());
    request.extend(1_i32.to_be_bytes());
    request.extend(i16::try_from(topic.len()).expect("short").to_be_bytes());
    request.extend(topic.as_bytes());
    request.extend(
        [1_i32, 0, length(&batch) + 12]
            .map(i32::to_be_bytes)
            .concat(),
    );
    request.extend(0_i64.to_be_bytes());
    request.extend(length(&batch).to_be_bytes());
    request.extend(&batch);

    let mut stream = TcpStream::connect(kafka.bootstrap_servers()).expect("the broker listens");
    stream
        .write_all(&[&length(&request).to_be_bytes()[..], &request].concat())
        .expect("it is sent");
    let mut size = [0; 4];
    stream.read_exact(&mut size).expect("an answer");
    let mut answer = vec![0; usize::try_from(i32::from_be_bytes(size)).expect("a size")];
    stream.read_exact(&mut answer).expect("all of it");
    // Correlation, a topic, its name, a partition, its number; then the error.
    let error = 4 + 4 + 2 + topic.len() + 4 + 4;
    assert_eq!(answer[error..error + 2], [0, 0], "{answer:?}");
}

/// Records with the payload `left` at these offsets of a batch.
fn records(at: &[u8]) -> Vec<u8> {
    let record = |delta: &u8| {
        // Attributes, timestamp, offset, no key, four bytes, no header; numbers are zigzagged.
        let record = [&[0, 0, 2 * delta, 1, 8][..], b"left", &[0]].concat();
        [
            &[2 * u8::try_from(record.len()).expect("short")],
            &record[..],
        ]
        .concat()
    };
    at.iter().flat_map(record).collect()
}

fn length(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).expect("short")
}

#[test]
fn offsets_without_records_at_the_end_of_a_partition_are_passed_and_committed() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    // The embedded broker counts records: three of ten offsets. The offsets of the other seven belong to the batch, so they
    // are never sent to anybody who reads on behind it.
    produce_compacted(&kafka, &topic, &[1, 2, 5], 10);
    produce(&kafka, &topic, 1, 1_000, 7);

    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("the end is reached", |member| {
        member.passed.values().any(|&next| next == 20)
    });
    let offsets = |member: &Member| member.got.iter().map(|got| got.offset).collect::<Vec<_>>();
    assert_eq!(
        offsets(&member),
        [(0..10).collect(), vec![11, 12, 15]].concat()
    );
    member.until("nothing is left to read", |member| member.lag() == [(0, 0)]);
    member.leave();

    // The end was committed: a restart waits there for what comes.
    let mut member = Member::join(&kafka, &topic, &group, "  start_offset: fail\n");
    member.until_assigned();
    assert_eq!(member.lanes.len(), 1);
    produce(&kafka, &topic, 1, 20, 5);
    member.until("the new ones arrive", |member| member.count() == 5);
    member.assert_got(0, 20, 5);
}
