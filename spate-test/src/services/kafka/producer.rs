//! A producer for test data: waits when the queue is full, and no lost record goes unnoticed.

use super::super::error::ServiceError;
use super::{client_config, code_error, kafka_error};
use rdkafka::ClientContext;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _, ProducerContext};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One record to produce.
#[derive(Debug, Clone, Copy, Default)]
pub struct Record<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The partition; `None`: by the key's hash, or any.
    pub partition: Option<i32>,
    /// The key.
    pub key: Option<&'a [u8]>,
    /// The payload; `None` is a tombstone.
    pub payload: Option<&'a [u8]>,
    /// Headers; a value may be null.
    pub headers: &'a [(&'a str, Option<&'a [u8]>)],
    /// Milliseconds since 1970; `None`: now.
    pub timestamp_ms: Option<i64>,
}

/// A producer. Records of one partition keep their order. [`Producer::flush`] before dropping it, or what is still queued
/// is lost.
pub struct Producer {
    inner: BaseProducer<Deliveries>,
    brokers: String,
}

#[derive(Default)]
struct Deliveries {
    failed: Mutex<Failed>,
}

#[derive(Default)]
struct Failed {
    count: u64,
    first: Option<String>,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((error, _)) = result {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.count += 1;
            failed.first.get_or_insert_with(|| error.to_string());
        }
    }
}

impl Producer {
    /// A producer for these brokers. Nothing is connected yet.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the client cannot be made.
    pub fn connect(brokers: &str) -> Result<Producer, ServiceError> {
        let mut config = client_config(brokers);
        config
            .set("enable.idempotence", "true")
            .set("linger.ms", "5")
            .set("message.timeout.ms", "240000");
        let inner = BaseProducer::from_config_and_context(&config, Deliveries::default())
            .map_err(|e| kafka_error(brokers, "making a producer", e.to_string()))?;
        Ok(Producer {
            inner,
            brokers: brokers.to_owned(),
        })
    }

    /// A producer whose records belong to transactions; see [`Producer::begin`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the broker does not take it within 60 s.
    pub fn transactional(brokers: &str, id: &str) -> Result<Producer, ServiceError> {
        let mut config = client_config(brokers);
        config.set("transactional.id", id).set("linger.ms", "5");
        let fail = |e: KafkaError| kafka_error(brokers, "making a producer", e.to_string());
        let inner =
            BaseProducer::from_config_and_context(&config, Deliveries::default()).map_err(fail)?;
        inner
            .init_transactions(Duration::from_secs(60))
            .map_err(fail)?;
        Ok(Producer {
            inner,
            brokers: brokers.to_owned(),
        })
    }

    /// Begins a transaction of a [`Producer::transactional`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`].
    pub fn begin(&self) -> Result<(), ServiceError> {
        self.transaction("beginning", self.inner.begin_transaction())
    }

    /// Commits what was sent since [`Producer::begin`].
    ///
    /// # Errors
    /// [`ServiceError::Kafka`].
    pub fn commit(&self) -> Result<(), ServiceError> {
        let ended = self.inner.commit_transaction(Duration::from_secs(60));
        self.transaction("committing", ended)
    }

    /// Takes back what was sent since [`Producer::begin`] and has been [flushed](Producer::flush).
    ///
    /// # Errors
    /// [`ServiceError::Kafka`].
    pub fn abort(&self) -> Result<(), ServiceError> {
        let ended = self.inner.abort_transaction(Duration::from_secs(60));
        self.transaction("aborting", ended)
    }

    fn transaction(&self, doing: &str, result: Result<(), KafkaError>) -> Result<(), ServiceError> {
        let action = format!("{doing} a transaction");
        result.map_err(|e| kafka_error(&self.brokers, action, e.to_string()))
    }

    /// Queues a record, waiting while the queue is full, for at most 60 s.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the record cannot be queued. Delivery errors are reported by [`Producer::flush`].
    pub fn send(&self, record: Record<'_>) -> Result<(), ServiceError> {
        let mut next = BaseRecord::<[u8], [u8]>::to(record.topic);
        (next.partition, next.key, next.payload) = (record.partition, record.key, record.payload);
        next.timestamp = record.timestamp_ms;
        if !record.headers.is_empty() {
            let empty = OwnedHeaders::new_with_capacity(record.headers.len());
            next.headers = Some(record.headers.iter().fold(empty, |all, (key, value)| {
                all.insert(Header { key, value: *value })
            }));
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            match self.inner.send(next) {
                Ok(()) => {
                    self.inner.poll(Duration::ZERO);
                    return Ok(());
                }
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back))
                    if Instant::now() < deadline =>
                {
                    self.inner.poll(Duration::from_millis(20));
                    next = back;
                }
                Err((error, _)) => {
                    let action = format!("producing to {}", record.topic);
                    return Err(match error {
                        KafkaError::MessageProduction(code) => {
                            code_error(&self.brokers, &action, code)
                        }
                        other => kafka_error(&self.brokers, action, other.to_string()),
                    });
                }
            }
        }
    }

    /// Waits until everything queued is acknowledged.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when that takes longer than `timeout`, or when any record since the last call failed.
    pub fn flush(&self, timeout: Duration) -> Result<(), ServiceError> {
        self.inner.flush(timeout).map_err(|e| {
            let left = self.inner.in_flight_count();
            kafka_error(
                &self.brokers,
                "flushing",
                format!("{e}; {left} records are not acknowledged"),
            )
        })?;
        let failed = std::mem::take(
            &mut *self
                .inner
                .context()
                .failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        match failed.first {
            None => Ok(()),
            Some(first) => Err(kafka_error(
                &self.brokers,
                "producing",
                format!("{} records failed; the first: {first}", failed.count),
            )),
        }
    }
}
