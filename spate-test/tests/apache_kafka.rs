//! Apache Kafka: the broker keeps what it acknowledged over kill -9, and freezes on demand.

use spate_test::services::{
    ApacheKafka, ApacheKafkaOptions, Producer, Record, Topic, create_topic, read_topic, watermarks,
};
use std::time::Duration;

fn send(producer: &Producer, topic: &str, payload: &str) {
    producer
        .send(Record {
            topic,
            partition: Some(0),
            payload: Some(payload.as_bytes()),
            ..Default::default()
        })
        .unwrap();
}

#[test]
fn records_are_kept_over_kill_9_and_the_broker_can_be_frozen() {
    let Some(kafka) = ApacheKafka::required_own(ApacheKafkaOptions {
        // So that the killed broker is let in again soon.
        properties: vec![("broker.session.timeout.ms".to_owned(), "3000".to_owned())],
        ..ApacheKafkaOptions::default()
    }) else {
        return;
    };
    kafka.create_topic("t", 1).unwrap();
    let producer = kafka.producer().unwrap();
    send(&producer, "t", "one");
    producer.flush(Duration::from_secs(60)).unwrap();

    kafka.kill().unwrap();
    assert!(kafka.pause().is_err());
    kafka.restart().unwrap();
    assert_eq!(
        read_topic(kafka.bootstrap_servers(), "t", 0).unwrap(),
        [Some(b"one".to_vec())]
    );

    kafka.pause().unwrap();
    send(&producer, "t", "two");
    assert!(producer.flush(Duration::from_millis(500)).is_err());
    kafka.resume().unwrap();
    producer.flush(Duration::from_secs(60)).unwrap();
    assert_eq!(
        watermarks(kafka.bootstrap_servers(), "t", 0).unwrap(),
        (0, 2)
    );
}

#[test]
fn topics_are_created_with_their_configuration_and_not_twice() {
    let Some(kafka) = ApacheKafka::required() else {
        return;
    };
    let name = format!("configured-{}", std::process::id());
    let topic = Topic::new(&name, 3).config("retention.ms", "60000");
    create_topic(kafka.bootstrap_servers(), &topic).unwrap();
    let error = create_topic(kafka.bootstrap_servers(), &topic)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("creating topic {name} failed")),
        "{error}"
    );
    let wrong = Topic::new("wrong", 1).config("no.such.config", "1");
    assert!(create_topic(kafka.bootstrap_servers(), &wrong).is_err());
    assert_eq!(
        watermarks(kafka.bootstrap_servers(), &name, 2).unwrap(),
        (0, 0)
    );
}

#[test]
fn a_wrong_property_is_an_error_that_quotes_the_brokers_log() {
    let Some(_) = ApacheKafka::required() else {
        return;
    };
    let properties = vec![("num.io.threads".to_owned(), "none".to_owned())];
    let error = ApacheKafka::start(ApacheKafkaOptions {
        properties,
        ..Default::default()
    })
    .err()
    .unwrap()
    .to_string();
    assert!(error.contains("num.io.threads"), "{error}");
}
