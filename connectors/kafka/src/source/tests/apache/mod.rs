//! What the embedded broker does otherwise than Apache Kafka or not at all: commits during a rebalance, fencing, a broker that
//! is killed; transactions, deletions, added partitions.

use spate_test::services::{ApacheKafka, Producer};

use super::harness::{self, unique};
use crate::config::Settings;

mod members;
mod offsets;
#[cfg(feature = "tls")]
mod security;
mod topics;
mod transactions;

/// The shared broker with a producer; `None` where the broker is skipped.
fn shared() -> Option<(&'static str, Producer)> {
    let kafka = ApacheKafka::required()?;
    let producer = kafka.producer().expect("a producer is made");
    Some((kafka.bootstrap_servers(), producer))
}

/// A topic on the shared broker with a producer; `None` where the broker is skipped.
fn topic(partitions: i32) -> Option<(&'static str, String, Producer)> {
    let (brokers, producer) = shared()?;
    let topic = new_topic(brokers, partitions);
    Some((brokers, topic, producer))
}

/// [`harness::settings`] that are [`calm`].
fn settings(brokers: &str, topic: &str, group: &str, more: &str) -> Settings {
    harness::settings(brokers, topic, group, &calm(more))
}

/// With a session that no busy machine lets expire: nobody waits for its end. Under the broker's own protocol it is the broker's.
fn calm(more: &str) -> String {
    if more.contains("group_protocol: consumer") || more.contains("session.timeout.ms") {
        return more.to_owned();
    }
    format!("    session.timeout.ms: 45000\n{more}")
}

/// A topic that no run before used.
fn new_topic(brokers: &str, partitions: i32) -> String {
    let topic = name("topic");
    create(brokers, &topic, partitions);
    topic
}

fn create(brokers: &str, topic: &str, partitions: i32) {
    let topic = spate_test::services::Topic::new(topic, partitions);
    spate_test::services::create_topic(brokers, &topic).expect("the topic is created");
}

/// A name that no run before used.
fn name(kind: &str) -> String {
    unique(&format!("{kind}-{}", std::process::id()))
}

/// A group that no run before used.
fn group() -> String {
    name("group")
}
