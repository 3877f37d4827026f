//! Kafka for tests through librdkafka: the embedded broker, and helpers that work against any broker.
//!
//! No type of rdkafka is public here, so that users of this crate do not depend on its version.

mod admin;
mod embedded;
mod producer;

use super::error::ServiceError;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::time::{Duration, Instant};

pub use admin::{add_partitions, create_topic, delete_records, delete_topic};
pub use embedded::{BROKER_ALL, EmbeddedKafka, KafkaApi, KafkaError};
pub use producer::{Producer, Record};

const TIMEOUT: Duration = Duration::from_secs(60);

/// A topic to create.
#[derive(Debug, Clone)]
pub struct Topic {
    name: String,
    partitions: i32,
    replicas: i32,
    config: Vec<(String, String)>,
}

impl Topic {
    /// A topic with one replica.
    pub fn new(name: &str, partitions: i32) -> Topic {
        Topic {
            name: name.to_owned(),
            partitions,
            replicas: 1,
            config: Vec::new(),
        }
    }

    /// Adds a topic configuration such as `retention.ms`.
    #[must_use]
    pub fn config(mut self, name: &str, value: &str) -> Topic {
        self.config.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The offsets that `group` has committed for partitions 0 to `partitions` - 1 of `topic`.
///
/// # Errors
/// [`ServiceError::Kafka`].
pub fn committed_offsets(
    brokers: &str,
    group: &str,
    topic: &str,
    partitions: i32,
) -> Result<Vec<Option<i64>>, ServiceError> {
    let fail = |e: rdkafka::error::KafkaError| {
        kafka_error(
            brokers,
            format!("reading the offsets of group {group}"),
            e.to_string(),
        )
    };
    let consumer: BaseConsumer = client_config(brokers)
        .set("group.id", group)
        .set("enable.auto.commit", "false")
        .create()
        .map_err(fail)?;
    let mut list = TopicPartitionList::new();
    list.add_partition_range(topic, 0, partitions - 1);
    // A coordinator that has just been chosen, or moved, says so and is asked again.
    let end = std::time::Instant::now() + TIMEOUT;
    let found = loop {
        match consumer.committed_offsets(list.clone(), TIMEOUT) {
            Ok(found) => break found,
            Err(error) if is_moving(&error) && std::time::Instant::now() < end => {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            Err(error) => return Err(fail(error)),
        }
    };
    let offset = |p: i32| match found.find_partition(topic, p).map(|e| e.offset()) {
        Some(Offset::Offset(n)) => Some(n),
        _ => None,
    };
    Ok((0..partitions).map(offset).collect())
}

/// Whether the group's coordinator is not settled yet.
fn is_moving(error: &rdkafka::error::KafkaError) -> bool {
    use rdkafka::types::RDKafkaErrorCode as Code;
    matches!(
        error.rdkafka_error_code(),
        Some(
            Code::NotCoordinator | Code::CoordinatorNotAvailable | Code::CoordinatorLoadInProgress
        )
    )
}

/// The first and the next offset of a partition.
///
/// # Errors
/// [`ServiceError::Kafka`].
pub fn watermarks(brokers: &str, topic: &str, partition: i32) -> Result<(i64, i64), ServiceError> {
    let fail = |e: rdkafka::error::KafkaError| {
        kafka_error(
            brokers,
            format!("reading the watermarks of {topic}/{partition}"),
            e.to_string(),
        )
    };
    let consumer: BaseConsumer = client_config(brokers).create().map_err(fail)?;
    consumer
        .fetch_watermarks(topic, partition, TIMEOUT)
        .map_err(fail)
}

/// The payloads of a partition from its first offset to its end now; a tombstone is `None`.
///
/// # Errors
/// [`ServiceError::Kafka`], also when the end is not reached within a minute.
pub fn read_topic(
    brokers: &str,
    topic: &str,
    partition: i32,
) -> Result<Vec<Option<Vec<u8>>>, ServiceError> {
    let action = format!("reading {topic}/{partition}");
    let fail = |e: rdkafka::error::KafkaError| kafka_error(brokers, &action, e.to_string());
    let (first, end) = watermarks(brokers, topic, partition)?;
    let consumer: BaseConsumer = client_config(brokers)
        .set("group.id", "spate-test-reader")
        .set("enable.auto.commit", "false")
        .create()
        .map_err(fail)?;
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, Offset::Offset(first))
        .map_err(fail)?;
    consumer.assign(&list).map_err(fail)?;
    let mut out = Vec::new();
    let mut next = first;
    let deadline = Instant::now() + TIMEOUT;
    while next < end {
        if Instant::now() > deadline {
            return Err(kafka_error(
                brokers,
                &action,
                format!("offset {next} of {end} reached after a minute"),
            ));
        }
        if let Some(message) = consumer.poll(Duration::from_millis(100)) {
            let message = message.map_err(fail)?;
            next = message.offset() + 1;
            out.push(message.payload().map(<[u8]>::to_vec));
        }
    }
    Ok(out)
}

fn client_config(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", brokers)
        .set("log_level", "2");
    config
}

fn kafka_error(
    brokers: &str,
    action: impl Into<String>,
    detail: impl Into<String>,
) -> ServiceError {
    ServiceError::Kafka {
        brokers: brokers.to_owned(),
        action: action.into(),
        detail: detail.into(),
    }
}

fn code_error(brokers: &str, action: &str, code: RDKafkaErrorCode) -> ServiceError {
    kafka_error(brokers, action, code.to_string())
}
