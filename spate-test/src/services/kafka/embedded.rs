//! A Kafka broker in this process: librdkafka's mock cluster, reachable by TCP from any client.
//!
//! Its limits: at most **5 MiB and 100 000 records per partition** (the oldest go), no admin protocol, no isolation of
//! transactions, no persistence. For those, use [`super::super::ApacheKafka`].

use super::super::error::ServiceError;
use super::{Producer, Record, kafka_error};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// All brokers, for [`EmbeddedKafka::broker_down`] and the like.
pub const BROKER_ALL: i32 = -1;

/// A request type in which errors can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // The names are the protocol's.
pub enum KafkaApi {
    Produce,
    Fetch,
    ListOffsets,
    Metadata,
    OffsetCommit,
    OffsetFetch,
    FindCoordinator,
    JoinGroup,
    Heartbeat,
    LeaveGroup,
    SyncGroup,
    ApiVersion,
    InitProducerId,
}

impl KafkaApi {
    fn key(self) -> RDKafkaApiKey {
        match self {
            KafkaApi::Produce => RDKafkaApiKey::Produce,
            KafkaApi::Fetch => RDKafkaApiKey::Fetch,
            KafkaApi::ListOffsets => RDKafkaApiKey::ListOffsets,
            KafkaApi::Metadata => RDKafkaApiKey::Metadata,
            KafkaApi::OffsetCommit => RDKafkaApiKey::OffsetCommit,
            KafkaApi::OffsetFetch => RDKafkaApiKey::OffsetFetch,
            KafkaApi::FindCoordinator => RDKafkaApiKey::FindCoordinator,
            KafkaApi::JoinGroup => RDKafkaApiKey::JoinGroup,
            KafkaApi::Heartbeat => RDKafkaApiKey::Heartbeat,
            KafkaApi::LeaveGroup => RDKafkaApiKey::LeaveGroup,
            KafkaApi::SyncGroup => RDKafkaApiKey::SyncGroup,
            KafkaApi::ApiVersion => RDKafkaApiKey::ApiVersion,
            KafkaApi::InitProducerId => RDKafkaApiKey::InitProducerId,
        }
    }
}

/// An error that the broker answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // The names are the protocol's.
pub enum KafkaError {
    /// The broker closes the connection instead of answering.
    Disconnect,
    RequestTimedOut,
    NotLeaderForPartition,
    LeaderNotAvailable,
    UnknownTopicOrPartition,
    OffsetOutOfRange,
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    NotCoordinator,
    IllegalGeneration,
    UnknownMemberId,
    RebalanceInProgress,
    NotEnoughReplicas,
    TopicAuthorizationFailed,
    GroupAuthorizationFailed,
    /// The request succeeds: a gap between two errors.
    None,
}

impl KafkaError {
    fn code(self) -> RDKafkaRespErr {
        match self {
            KafkaError::Disconnect => RDKafkaRespErr::RD_KAFKA_RESP_ERR__TRANSPORT,
            KafkaError::RequestTimedOut => RDKafkaRespErr::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            KafkaError::NotLeaderForPartition => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION
            }
            KafkaError::LeaderNotAvailable => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE
            }
            KafkaError::UnknownTopicOrPartition => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
            }
            KafkaError::OffsetOutOfRange => RDKafkaRespErr::RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
            KafkaError::CoordinatorLoadInProgress => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS
            }
            KafkaError::CoordinatorNotAvailable => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE
            }
            KafkaError::NotCoordinator => RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
            KafkaError::IllegalGeneration => RDKafkaRespErr::RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
            KafkaError::UnknownMemberId => RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
            KafkaError::RebalanceInProgress => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS
            }
            KafkaError::NotEnoughReplicas => RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            KafkaError::TopicAuthorizationFailed => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
            }
            KafkaError::GroupAuthorizationFailed => {
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED
            }
            KafkaError::None => RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR,
        }
    }
}

type Mock = MockCluster<'static, DefaultProducerContext>;
type Job = Box<dyn FnOnce(&Mock) + Send>;

/// The embedded cluster. Dropping it ends it.
pub struct EmbeddedKafka {
    brokers: String,
    // Before `jobs`: it says goodbye to a cluster that still answers.
    producer: Producer,
    /// The cluster lives on a thread of its own, for its handle is not `Send`; this asks that thread.
    jobs: mpsc::Sender<Job>,
}

impl EmbeddedKafka {
    /// Starts a cluster of `brokers` brokers (numbered from 1) on free ports of 127.0.0.1.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when librdkafka cannot make it.
    pub fn start(brokers: i32) -> Result<EmbeddedKafka, ServiceError> {
        let fail =
            |detail: String| kafka_error("127.0.0.1", "starting the embedded cluster", detail);
        let (jobs, queue) = mpsc::channel::<Job>();
        let (ready, started) = mpsc::channel();
        let own = move || match MockCluster::new(brokers) {
            Ok(mock) => {
                let _ = ready.send(Ok(mock.bootstrap_servers()));
                for job in queue {
                    job(&mock);
                }
            }
            Err(error) => drop(ready.send(Err(error.to_string()))),
        };
        thread::Builder::new()
            .name("embedded-kafka".into())
            .spawn(own)
            .map_err(|e| fail(e.to_string()))?;
        let brokers = started
            .recv()
            .map_err(|e| fail(e.to_string()))?
            .map_err(fail)?;
        let producer = Producer::connect(&brokers)?;
        Ok(EmbeddedKafka {
            brokers,
            jobs,
            producer,
        })
    }

    /// What a client's `bootstrap.servers` takes.
    pub fn bootstrap_servers(&self) -> &str {
        &self.brokers
    }

    /// Creates a topic with one replica.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`], also when the topic exists.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<(), ServiceError> {
        let topic = name.to_owned();
        self.call(format!("creating topic {name}"), move |mock| {
            mock.create_topic(&topic, partitions, 1)
        })
    }

    /// Produces one record and waits until it is acknowledged. For many, use [`EmbeddedKafka::producer`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`].
    pub fn produce(
        &self,
        topic: &str,
        partition: i32,
        key: Option<&[u8]>,
        payload: Option<&[u8]>,
        headers: &[(&str, Option<&[u8]>)],
    ) -> Result<(), ServiceError> {
        let partition = Some(partition);
        self.producer.send(Record {
            topic,
            partition,
            key,
            payload,
            headers,
            timestamp_ms: None,
        })?;
        self.producer.flush(Duration::from_secs(60))
    }

    /// The cluster's producer, for bulk: `send` many, `flush` once.
    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    /// Answers the next requests of this type with these errors, one each, in this order.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the cluster is gone.
    pub fn request_errors(&self, api: KafkaApi, errors: &[KafkaError]) -> Result<(), ServiceError> {
        let codes: Vec<RDKafkaRespErr> = errors.iter().map(|e| e.code()).collect();
        self.call("injecting errors".to_owned(), move |mock| {
            mock.request_errors(api.key(), &codes);
            Ok(())
        })
    }

    /// Forgets the errors that are still to come for this type.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the cluster is gone.
    pub fn clear_request_errors(&self, api: KafkaApi) -> Result<(), ServiceError> {
        self.call("clearing errors".to_owned(), move |mock| {
            mock.clear_request_errors(api.key());
            Ok(())
        })
    }

    /// Answers metadata requests for the topic with this error, until called again with [`KafkaError::None`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the topic is unknown.
    pub fn topic_error(&self, topic: &str, error: KafkaError) -> Result<(), ServiceError> {
        let topic = topic.to_owned();
        self.call(format!("setting an error on {topic}"), move |mock| {
            mock.topic_error(&topic, error.code())
        })
    }

    /// Closes the broker's connections and refuses new ones ([`BROKER_ALL`]: of all brokers).
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when there is no such broker.
    pub fn broker_down(&self, broker: i32) -> Result<(), ServiceError> {
        self.call(format!("taking broker {broker} down"), move |mock| {
            mock.broker_down(broker)
        })
    }

    /// Ends [`EmbeddedKafka::broker_down`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when there is no such broker.
    pub fn broker_up(&self, broker: i32) -> Result<(), ServiceError> {
        self.call(format!("bringing broker {broker} up"), move |mock| {
            mock.broker_up(broker)
        })
    }

    /// Delays every answer of the broker.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when there is no such broker.
    pub fn round_trip_time(&self, broker: i32, delay: Duration) -> Result<(), ServiceError> {
        self.call(format!("slowing broker {broker}"), move |mock| {
            mock.broker_round_trip_time(broker, delay)
        })
    }

    /// Moves a partition's leadership; `None` leaves it without a leader.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when there is no such partition or broker.
    pub fn partition_leader(
        &self,
        topic: &str,
        partition: i32,
        broker: Option<i32>,
    ) -> Result<(), ServiceError> {
        let topic = topic.to_owned();
        self.call(format!("moving {topic}/{partition}"), move |mock| {
            mock.partition_leader(&topic, partition, broker)
        })
    }

    fn call(
        &self,
        action: String,
        job: impl FnOnce(&Mock) -> rdkafka::error::KafkaResult<()> + Send + 'static,
    ) -> Result<(), ServiceError> {
        let (done, result) = mpsc::channel();
        let sent = self.jobs.send(Box::new(move |mock| {
            drop(done.send(job(mock).map_err(|e| e.to_string())))
        }));
        let outcome = match sent {
            Ok(()) => result
                .recv()
                .unwrap_or_else(|_| Err("its thread has ended".to_owned())),
            Err(_) => Err("its thread has ended".to_owned()),
        };
        outcome.map_err(|detail| kafka_error(&self.brokers, action, detail))
    }
}
