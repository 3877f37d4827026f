//! The embedded broker and the producer.

use spate_test::services::{
    BROKER_ALL, EmbeddedKafka, KafkaApi, KafkaError, Record, Service, committed_offsets,
    read_topic, require, watermarks,
};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn kafka() -> Option<EmbeddedKafka> {
    require(Service::Kafka).map(|()| EmbeddedKafka::start(1).unwrap())
}

#[test]
fn what_is_produced_is_there_in_order_tombstones_included() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("t", 2).unwrap();
    let headers = [("trace", Some(b"1".as_slice())), ("none", None)];
    kafka
        .produce("t", 1, Some(b"k"), Some(b"one"), &headers)
        .unwrap();
    kafka.produce("t", 1, Some(b"k"), None, &[]).unwrap();
    kafka.produce("t", 1, None, Some(b""), &[]).unwrap();
    let all = read_topic(kafka.bootstrap_servers(), "t", 1).unwrap();
    assert_eq!(all, [Some(b"one".to_vec()), None, Some(Vec::new())]);
    assert_eq!(
        watermarks(kafka.bootstrap_servers(), "t", 0).unwrap(),
        (0, 0)
    );
}

#[test]
fn bulk_records_beyond_the_queues_size_all_arrive() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("bulk", 4).unwrap();
    // Twice librdkafka's default queue of 100 000.
    for i in 0..200_000i32 {
        let (payload, partition) = (i.to_be_bytes(), Some(i % 4));
        kafka
            .producer()
            .send(Record {
                topic: "bulk",
                partition,
                payload: Some(&payload),
                ..Default::default()
            })
            .unwrap();
    }
    kafka.producer().flush(MINUTE).unwrap();
    let ends = (0..4).map(|p| watermarks(kafka.bootstrap_servers(), "bulk", p).unwrap().1);
    assert_eq!(ends.sum::<i64>(), 200_000);
}

#[test]
fn a_topic_that_exists_is_an_error_that_names_it() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("twice", 1).unwrap();
    let error = kafka.create_topic("twice", 1).unwrap_err().to_string();
    assert!(error.contains("creating topic twice failed"), "{error}");
}

#[test]
fn a_record_that_the_broker_refuses_is_reported_by_flush() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("refused", 1).unwrap();
    kafka
        .request_errors(KafkaApi::Produce, &[KafkaError::TopicAuthorizationFailed])
        .unwrap();
    let error = kafka
        .produce("refused", 0, None, Some(b"x"), &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("1 records failed"), "{error}");
    kafka.producer().flush(MINUTE).unwrap();
}

#[test]
fn retryable_errors_and_an_outage_lose_nothing() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("t", 1).unwrap();
    kafka
        .request_errors(
            KafkaApi::Produce,
            &[KafkaError::RequestTimedOut, KafkaError::Disconnect],
        )
        .unwrap();
    kafka
        .produce("t", 0, None, Some(b"over errors"), &[])
        .unwrap();
    kafka.broker_down(BROKER_ALL).unwrap();
    kafka
        .producer()
        .send(Record {
            topic: "t",
            partition: Some(0),
            payload: Some(b"over an outage"),
            ..Default::default()
        })
        .unwrap();
    assert!(kafka.producer().flush(Duration::from_millis(300)).is_err());
    kafka.broker_up(BROKER_ALL).unwrap();
    kafka.producer().flush(MINUTE).unwrap();
    let all = read_topic(kafka.bootstrap_servers(), "t", 0).unwrap();
    assert_eq!(
        all,
        [
            Some(b"over errors".to_vec()),
            Some(b"over an outage".to_vec())
        ]
    );
}

#[test]
fn a_group_that_never_committed_has_no_offsets() {
    let Some(kafka) = kafka() else { return };
    kafka.create_topic("t", 3).unwrap();
    assert_eq!(
        committed_offsets(kafka.bootstrap_servers(), "g", "t", 3).unwrap(),
        [None, None, None]
    );
}
