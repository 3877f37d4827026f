//! What a broker's administrator does: topics, partitions, records deleted. The embedded broker has no admin protocol.
//!
//! A controller answers before the brokers know what it did: each function waits until the metadata tells it, so that whoever
//! asks next finds it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::FromClientConfig;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::super::error::ServiceError;
use super::{TIMEOUT, Topic, client_config, kafka_error};

type Client = AdminClient<DefaultClientContext>;

/// Creates a topic ([`super::EmbeddedKafka::create_topic`] for the embedded broker) and waits until the broker's metadata has
/// all of its partitions.
///
/// # Errors
/// [`ServiceError::Kafka`], also when the topic exists.
pub fn create_topic(brokers: &str, topic: &Topic) -> Result<(), ServiceError> {
    let mut new = NewTopic::new(
        &topic.name,
        topic.partitions,
        TopicReplication::Fixed(topic.replicas),
    );
    for (name, value) in &topic.config {
        new = new.set(name, value);
    }
    act(
        brokers,
        format!("creating topic {}", topic.name),
        |client| {
            let results = block_on(client.create_topics([&new], &options()));
            first(results.map_err(|e| e.to_string())?)?;
            known(client, &topic.name, topic.partitions)
        },
    )
}

/// Deletes a topic and waits until the broker's metadata does not name it any more.
///
/// # Errors
/// [`ServiceError::Kafka`].
pub fn delete_topic(brokers: &str, topic: &str) -> Result<(), ServiceError> {
    act(brokers, format!("deleting topic {topic}"), |client| {
        let results = block_on(client.delete_topics(&[topic], &options()));
        first(results.map_err(|e| e.to_string())?)?;
        known(client, topic, 0)
    })
}

/// Gives a topic more partitions, `partitions` is how many it has then, and waits until the broker's metadata has them all.
///
/// # Errors
/// [`ServiceError::Kafka`].
pub fn add_partitions(brokers: &str, topic: &str, partitions: usize) -> Result<(), ServiceError> {
    let new = NewPartitions::new(topic, partitions);
    act(brokers, format!("adding partitions to {topic}"), |client| {
        let results = block_on(client.create_partitions([&new], &options()));
        first(results.map_err(|e| e.to_string())?)?;
        known(client, topic, i32::try_from(partitions).unwrap_or(i32::MAX))
    })
}

/// Deletes the records of a partition before `offset`, which becomes its first one.
///
/// # Errors
/// [`ServiceError::Kafka`].
pub fn delete_records(
    brokers: &str,
    topic: &str,
    partition: i32,
    offset: i64,
) -> Result<(), ServiceError> {
    act(
        brokers,
        format!("deleting records of {topic}/{partition}"),
        |client| {
            let mut list = TopicPartitionList::new();
            list.add_partition_offset(topic, partition, Offset::Offset(offset))
                .map_err(|e| e.to_string())?;
            let deleted =
                block_on(client.delete_records(&list, &options())).map_err(|e| e.to_string())?;
            let failed = deleted.elements().iter().find_map(|e| e.error().err());
            failed.map_or(Ok(()), |error| Err(error.to_string()))
        },
    )
}

fn act(
    brokers: &str,
    action: String,
    job: impl FnOnce(&Client) -> Result<(), String>,
) -> Result<(), ServiceError> {
    let client = Client::from_config(&client_config(brokers)).map_err(|e| e.to_string());
    client
        .and_then(|client| job(&client))
        .map_err(|detail| kafka_error(brokers, action, detail))
}

/// Waits until the metadata has so many partitions of a topic, each with a leader; none: until the topic is not named.
fn known(client: &Client, topic: &str, partitions: i32) -> Result<(), String> {
    let end = Instant::now() + TIMEOUT;
    loop {
        // Of all topics: who asks for one by its name may create it.
        let metadata = client.inner().fetch_metadata(None, TIMEOUT);
        let metadata = metadata.map_err(|e| e.to_string())?;
        let found = metadata.topics().iter().find(|found| found.name() == topic);
        let led = found.map_or(0, |found| {
            let led = found.partitions().iter().filter(|p| p.leader() >= 0);
            led.count()
        });
        if i32::try_from(led) == Ok(partitions) && found.is_some() == (partitions > 0) {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!(
                "the metadata has {led} partitions instead of {partitions} after {TIMEOUT:?}"
            ));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn options() -> AdminOptions {
    AdminOptions::new()
        .request_timeout(Some(TIMEOUT))
        .operation_timeout(Some(TIMEOUT))
}

/// The result of the one thing that was asked for.
fn first(results: Vec<rdkafka::admin::TopicResult>) -> Result<(), String> {
    match results.into_iter().next() {
        Some(Ok(_)) => Ok(()),
        Some(Err((_, code))) => Err(code.to_string()),
        None => Err("the broker answered without a result".to_owned()),
    }
}

/// Waits for a future on this thread: the admin client has its own, so no runtime is needed.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(out) => return out,
            Poll::Pending => thread::park(),
        }
    }
}
