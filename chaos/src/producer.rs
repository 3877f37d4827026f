//! Fills the topic: idempotent, so that what the ledger says of an offset is what stands there.
//!
//! The records are spread over the time: of every period the larger part comes at once, so that there is a backlog to
//! work off, and the rest evenly, so that the group reads at the end of the log as well.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Message as _};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _, ProducerContext};

use crate::error::Error;
use crate::event;
use crate::ledger::Ledger;
use crate::servers::TOPIC;

const PERIOD: f64 = 20.0;
/// Of a period's records, the part that comes at once.
const BURST: f64 = 0.6;
/// All records are produced in this part of the time.
const PART: f64 = 0.9;
/// With so many records unread nothing is produced: the end must not take for ever.
const MAX_LAG: u64 = 200_000;
/// The part of the records that is held back until there is no promise to be broken on purpose any more.
const HELD_BACK: u32 = 10;
/// How long the broker may take to acknowledge what is left at the end.
const FLUSH: Duration = Duration::from_secs(120);
/// After so long without an acknowledgement the client is told its brokers again.
const SILENCE: Duration = Duration::from_secs(15);

/// What the producer is told, and tells.
pub(crate) struct Orders {
    pub(crate) brokers: String,
    pub(crate) schema_id: u32,
    pub(crate) records: u32,
    pub(crate) seconds: u64,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
}

struct Deliveries(Arc<Mutex<Ledger>>);

impl ClientContext for Deliveries {
    fn error(&self, error: KafkaError, reason: &str) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal) {
            self.ledger(|ledger| ledger.break_off(format!("{error}: {reason}")));
        }
    }
}

impl Deliveries {
    fn ledger<T>(&self, work: impl FnOnce(&mut Ledger) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, id: usize) {
        let id = u32::try_from(id).unwrap_or(u32::MAX);
        self.ledger(|ledger| match result {
            Ok(message) => ledger.delivered(message.partition(), message.offset(), id),
            Err((error, _)) => ledger.break_off(format!("event {id} was not delivered: {error}")),
        });
    }
}

/// How many of `records` are due after `elapsed` of `seconds`.
fn due(records: u32, seconds: u64, elapsed: Duration) -> u64 {
    let (records, whole) = (f64::from(records), seconds as f64 * PART);
    let at = elapsed.as_secs_f64();
    let period = PERIOD.min(whole);
    let begun = (at / period).floor();
    let within = at / period - begun;
    let share = (begun + BURST + (1.0 - BURST) * within) * period / whole;
    (records * share.min(1.0)) as u64
}

/// Produces until all records are there or `stop` is set; then waits for the last acknowledgement, unless `abort` is set.
/// `committed` is how many records the group has done with; until `go_on` is set some are held back.
pub(crate) fn produce(
    orders: &Orders,
    committed: &AtomicU64,
    go_on: &AtomicBool,
    stop: &AtomicBool,
    abort: &AtomicBool,
) -> Result<(), Error> {
    let producer: BaseProducer<Deliveries> = ClientConfig::new()
        .set("bootstrap.servers", &orders.brokers)
        .set("enable.idempotence", "true")
        .set("linger.ms", "20")
        // Records whose outcome is not known would make the ledger worthless: never give up.
        .set("message.timeout.ms", "0")
        .set("reconnect.backoff.max.ms", "2000")
        .set("log_level", "2")
        .create_with_context(Deliveries(Arc::clone(&orders.ledger)))
        .map_err(Error::kafka("making a producer"))?;
    let mut silence = Silence::new(&producer, orders);
    let began = Instant::now();
    let mut payload = Vec::new();
    let mut next = 0;
    while next < orders.records && !stop.load(Ordering::Acquire) {
        silence.end();
        let due = due(orders.records, orders.seconds, began.elapsed());
        let room = committed.load(Ordering::Acquire) + MAX_LAG;
        let held_back = match go_on.load(Ordering::Acquire) {
            true => 0,
            false => orders.records / HELD_BACK,
        };
        if u64::from(next) >= due.min(room) || next >= orders.records - held_back {
            producer.poll(Duration::from_millis(20));
            continue;
        }
        let key = event::key(next);
        let mut record = BaseRecord::with_opaque_to(TOPIC, next as usize).key(key.as_bytes());
        if event::payload(next, orders.schema_id, &mut payload) {
            record = record.payload(payload.as_slice());
        }
        match producer.send(record) {
            Ok(()) => next += 1,
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), _)) => {
                producer.poll(Duration::from_millis(20));
            }
            Err((source, _)) => {
                return Err(Error::Kafka {
                    action: "producing",
                    source,
                });
            }
        }
        if next.is_multiple_of(256) {
            producer.poll(Duration::ZERO);
        }
    }
    let end = Instant::now() + FLUSH;
    while producer.in_flight_count() > 0 && !abort.load(Ordering::Acquire) {
        if Instant::now() > end {
            return Err(Error::Producer(format!(
                "{} records were not acknowledged within {FLUSH:?}",
                producer.in_flight_count()
            )));
        }
        silence.end();
        producer.poll(Duration::from_millis(100));
    }
    Ok(())
}

/// Watches over a client that may have forgotten all brokers: a broker that has been killed tells of none until it is let
/// in again, and librdkafka (2.12) then drops the only one that it could ask.
struct Silence<'a> {
    producer: &'a BaseProducer<Deliveries>,
    orders: &'a Orders,
    acknowledged: u64,
    since: Instant,
}

impl<'a> Silence<'a> {
    fn new(producer: &'a BaseProducer<Deliveries>, orders: &'a Orders) -> Silence<'a> {
        Silence {
            producer,
            orders,
            acknowledged: 0,
            since: Instant::now(),
        }
    }

    fn end(&mut self) {
        let acknowledged = self.producer.context().ledger(|ledger| ledger.count());
        if acknowledged != self.acknowledged || self.producer.in_flight_count() == 0 {
            (self.acknowledged, self.since) = (acknowledged, Instant::now());
        }
        if self.since.elapsed() < SILENCE {
            return;
        }
        self.since = Instant::now();
        if let Ok(brokers) = CString::new(self.orders.brokers.as_str()) {
            // SAFETY: the client lives as long as the producer, and the list is copied.
            #[allow(unsafe_code)]
            let _ = unsafe {
                rdkafka::bindings::rd_kafka_brokers_add(
                    self.producer.client().native_ptr(),
                    brokers.as_ptr(),
                )
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_in_bursts_and_evenly_and_all_of_them_before_the_end() {
        let due = |seconds: f64| due(1_000, 100, Duration::from_secs_f64(seconds));
        // 90 s in periods of 20 s: 222 records each, 133 of them at once.
        assert_eq!([0.0, 10.0, 19.99, 20.0].map(due), [133, 177, 222, 355]);
        assert_eq!([89.0, 90.0, 500.0].map(due), [1_000, 1_000, 1_000]);
    }
}
