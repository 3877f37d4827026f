//! What tests do to a source behind the engine's back, and see of its client.

use std::sync::Arc;
use std::time::Duration;

use rdkafka::consumer::Consumer;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::source::LaneId;

use crate::error::Code;
use crate::native::{self, Event, Queue, Slot};
use crate::source::{KafkaSource, Rebalance};
use crate::topics::{Described, TopicId};

impl KafkaSource {
    /// Sends a partition's records to the consumer's queue, as if it had not been split off.
    pub(super) fn misroute(&self, topic: &str, partition: i32) {
        let connection = self.connection.as_ref().expect("it is started");
        let queue = Queue::of_partition(&connection.client, topic, partition)
            .expect("the partition has a queue");
        queue.forward_to(&connection.queue);
    }

    /// How many records of a partition the client has fetched and no lane has taken.
    pub(super) fn ahead(&self, topic: &str, partition: i32) -> usize {
        let client = &self.connection.as_ref().expect("it is started").client;
        let queue = Queue::of_partition(client, topic, partition);
        queue.expect("the partition has a queue").len()
    }

    /// Makes the client fetch a lane again from its position on.
    pub(super) fn go_back(&mut self, lane: LaneId) {
        self.rewind(lane).expect("it is ordered");
    }

    /// Makes the client deliver again from `offset` on.
    pub(super) fn set_back(&self, topic: &str, partition: i32, offset: i64) {
        let consumer = self
            .connection
            .as_ref()
            .expect("it is started")
            .client
            .consumer();
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Offset(offset))
            .expect("an offset");
        consumer
            .seek_partitions(list, Duration::ZERO)
            .expect("it is ordered");
    }

    /// Reports that the group gives partitions, as if the client had said it.
    pub(super) fn give(&mut self, topic: &str, partitions: &[i32]) {
        let given = Event::Assign(slots(topic, partitions));
        self.take(given).expect("it is taken");
    }

    /// Reports that the group takes partitions, as if the client had said it.
    pub(super) fn take_away(&mut self, topic: &str, partitions: &[i32]) {
        let taken = Event::Revoke(slots(topic, partitions));
        self.take(taken).expect("it is taken");
    }

    /// Whether the client waits for the answer to a rebalance.
    pub(super) fn is_rebalancing(&self) -> bool {
        !matches!(self.rebalance, Rebalance::None)
    }

    /// Reports a rebalance that went wrong.
    pub(super) fn fail_rebalance(&mut self) {
        let error = native::client_error(Code::STATE, "the rebalance failed".to_owned(), false);
        self.take(Event::RebalanceFailed(error))
            .expect("it is taken");
    }

    /// Raises the error of a fenced static member.
    pub(super) fn fence(&self) {
        native::raise_fatal_error(&self.connection.as_ref().expect("it is started").client);
    }

    /// Tells what the brokers know of the topic, as if they had been asked.
    pub(super) fn describe(&mut self, topic: &str, id: u128) {
        let (topic, result) = (topic.to_owned(), Ok(TopicId(id)));
        let described = Event::Described {
            token: self.topics_token,
            result: Ok(vec![Described { topic, result }]),
        };
        self.take(described).expect("it is taken");
    }

    /// What the client said last of why nothing is assigned.
    #[cfg(all(feature = "it", feature = "tls"))]
    pub(super) fn reason(&self) -> Option<&str> {
        self.health.reason().map(|(_, reason)| reason)
    }

    /// What is wrong with the topics.
    #[cfg(all(feature = "it", feature = "tls"))]
    pub(super) fn complaints(&self) -> Vec<String> {
        self.topics.complaints()
    }

    /// Whether the brokers have described the topic.
    #[cfg(feature = "it")]
    pub(super) fn knows(&self, topic: &str) -> bool {
        self.topics.knows(topic)
    }

    /// Whether it waits for an assignment, which has to come in time.
    pub(super) fn waits(&self) -> bool {
        self.health.is_waiting()
    }

    /// Tells whether the client is still there.
    pub(super) fn client_alive(&self) -> impl Fn() -> bool + use<> {
        let client = &self.connection.as_ref().expect("it is started").client;
        let context = Arc::downgrade(client.consumer().context());
        move || context.strong_count() > 0
    }
}

fn slots(topic: &str, partitions: &[i32]) -> Vec<Slot> {
    let slot = |&partition: &i32| Slot {
        topic: topic.to_owned(),
        partition,
        offset: 0,
        error: Code::NONE,
    };
    partitions.iter().map(slot).collect()
}
