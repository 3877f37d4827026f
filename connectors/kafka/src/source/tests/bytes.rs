//! How many bytes are taken at a time, and how many the client fetches ahead.

use std::thread;
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use spate_runtime::source::{Fetched, SourceLane};
use spate_test::services::EmbeddedKafka;

use super::harness::{Member, PATIENCE, STEADY, broker, unique};
use crate::source::KafkaSource;

const MIB: usize = 1 << 20;

/// Produces records of these sizes into a partition; they begin with their number.
fn produce_sizes(kafka: &EmbeddedKafka, topic: &str, partition: i32, from: usize, sizes: &[usize]) {
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka.bootstrap_servers())
        .set("message.max.bytes", "4000000")
        // The embedded broker answers with a whole batch for each partition.
        .set("batch.num.messages", "10")
        .create()
        .expect("a producer is made");
    for (index, size) in sizes.iter().enumerate() {
        let mut payload = format!("{:08}", from + index).into_bytes();
        payload.resize(*size, b'x');
        let record = BaseRecord::<[u8], [u8]>::to(topic)
            .partition(partition)
            .payload(&payload);
        producer.send(record).expect("the record is taken");
    }
    producer
        .flush(Duration::from_secs(60))
        .expect("all records are acknowledged");
}

/// The next batch: the numbers and the sizes of its records.
fn next(lane: &mut dyn SourceLane) -> Vec<(usize, usize)> {
    if lane.fetch(97).expect("nothing fails") != Fetched::Batch {
        return Vec::new();
    }
    let mut records = Vec::new();
    lane.read(&mut |batch| {
        for record in batch.records() {
            let number = std::str::from_utf8(&record.payload()[..8]).expect("a number");
            records.push((number.parse().expect("a number"), record.payload().len()));
        }
    });
    lane.finish();
    records
}

/// A member that reads nothing, once its client has fetched enough ahead.
fn filled(
    kafka: &EmbeddedKafka,
    topic: &str,
    more: &str,
    enough: impl Fn(&KafkaSource) -> bool,
) -> Member {
    let more = format!("{more}\n{STEADY}");
    let mut member = Member::join(kafka, topic, &unique("group"), &more);
    member.idle = true;
    member.until_assigned();
    member.until("the client fetches ahead", |member| enough(&member.source));
    member
}

#[test]
fn a_batch_has_a_mebibyte_at_most_or_one_record_and_nothing_is_left_out() {
    let (kafka, topic) = broker(1);
    let mut sizes = vec![300_000; 4];
    sizes.extend([MIB + 100_000, 10, MIB + 100_000]);
    sizes.extend([400_000; 3]);
    sizes.extend([100; 300]);
    produce_sizes(&kafka, &topic, 0, 0, &sizes);
    // The client has all of it before the first batch is taken.
    let more = "    queued.max.messages.kbytes: 65536\n    fetch.message.max.bytes: 16000000";
    let all = |source: &KafkaSource| source.ahead(&topic, 0) >= sizes.len();
    let mut member = filled(&kafka, &topic, more, all);
    let mut lane = member.lanes.remove(0);
    let mut batches = Vec::new();
    let began = Instant::now();
    while batches.iter().map(Vec::len).sum::<usize>() < sizes.len() {
        // The client may be busy with handing over what it has.
        assert!(began.elapsed() < PATIENCE, "{batches:?}");
        match next(&mut *lane) {
            batch if batch.is_empty() => thread::sleep(Duration::from_millis(5)),
            batch => batches.push(batch),
        }
    }
    let counts: Vec<usize> = batches.iter().map(Vec::len).collect();
    assert_eq!(counts[..7], [3, 1, 1, 1, 1, 2, 88], "{counts:?}");
    let arrived: Vec<usize> = batches.concat().iter().map(|(number, _)| *number).collect();
    assert_eq!(arrived, (0..sizes.len()).collect::<Vec<_>>());
    for batch in &batches {
        let bytes: usize = batch.iter().map(|(_, size)| size).sum();
        assert!(batch.len() == 1 || bytes <= MIB, "{bytes}");
    }
}

#[test]
fn what_is_left_of_a_fetch_is_let_go_when_the_client_delivers_it_again() {
    let (kafka, topic) = broker(1);
    produce_sizes(&kafka, &topic, 0, 0, &[400_000; 11]);
    let more = "    queued.max.messages.kbytes: 65536";
    // A client that has fetched again before the test looks shows nothing: then once more.
    for _ in 0..10 {
        let mut member = filled(&kafka, &topic, more, |source| source.ahead(&topic, 0) >= 11);
        let mut lane = member.lanes.remove(0);
        // Two are the batch, nine are left in the lane.
        let mut arrived = next(&mut *lane);
        member.source.go_back(lane.id());
        let again = next(&mut *lane);
        let let_go = again.is_empty();
        arrived.extend(again);
        while arrived.len() < 11 {
            member.turn();
            arrived.extend(next(&mut *lane));
        }
        let numbers: Vec<usize> = arrived.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (0..11).collect::<Vec<_>>());
        if let_go {
            return;
        }
    }
    panic!("what was left went on");
}

/// What the client has fetched ahead for each of four partitions: at least `floor` records, and it fetches nothing more.
fn ahead(size: usize, count: usize, floor: usize, more: &str) -> Vec<usize> {
    let (kafka, topic) = broker(4);
    for partition in 0..4 {
        produce_sizes(&kafka, &topic, partition, 0, &vec![size; count]);
    }
    let look = |source: &KafkaSource| -> Vec<usize> {
        let ahead = |partition| source.ahead(&topic, partition);
        (0..4).map(ahead).collect()
    };
    let mut member = filled(&kafka, &topic, more, |source| {
        look(source).iter().all(|records| *records >= floor)
    });
    // A hundred looks of the client at a full queue.
    for _ in 0..500 {
        member.turn();
        thread::sleep(Duration::from_millis(1));
    }
    look(&member.source)
}

#[test]
fn the_clients_limit_counts_for_each_partition_by_itself() {
    let more = "    queued.max.messages.kbytes: 500\n    fetch.message.max.bytes: 50000";
    let ahead = ahead(5_000, 400, 100, more);
    // The limit, and a batch; one queue for all would have an eighth of it each.
    for records in &ahead {
        assert!((100..=110).contains(records), "{ahead:?}");
    }
}

#[test]
fn the_client_fetches_a_bounded_number_of_bytes_and_records_ahead() {
    // Of 4 MB it takes 1024 kB (of 1000 bytes), and a batch, which has ten records or fewer.
    let bytes = ahead(10_000, 400, 103, "");
    for records in &bytes {
        assert!((103..=113).contains(records), "{bytes:?}");
    }
    // Of 20,000 small records it takes 2,048, and a batch.
    let records = ahead(100, 20_000, 2_048, "");
    for records in &records {
        assert!((2_048..=2_058).contains(records), "{records:?}");
    }
}

#[test]
fn of_many_partitions_the_client_fetches_less_ahead_of_each() {
    const PARTITIONS: i32 = 128;
    let (kafka, topic) = broker(PARTITIONS);
    for partition in 0..PARTITIONS {
        produce_sizes(&kafka, &topic, partition, 0, &[100; 1_500]);
    }
    let mut seen = Vec::new();
    // A source that is not told in time how many there are fetches as of few: then once more.
    let mut member = loop {
        assert!(seen.len() < 10, "much was fetched ahead: {seen:?}");
        let mut member = filled(&kafka, &topic, "", |source| {
            (0..PARTITIONS).all(|partition| source.ahead(&topic, partition) >= 1_024)
        });
        for _ in 0..500 {
            member.turn();
            thread::sleep(Duration::from_millis(1));
        }
        let ahead = |partition| member.source.ahead(&topic, partition);
        let all: Vec<usize> = (0..PARTITIONS).map(ahead).collect();
        if all.iter().all(|ahead| (1_024..=1_034).contains(ahead)) {
            break member;
        }
        seen.push(all);
    };
    member.idle = false;
    let all = usize::try_from(PARTITIONS).expect("small") * 1_500;
    member.until("all arrive", |member| member.count() >= all);
    assert_eq!(member.count(), all);
}
