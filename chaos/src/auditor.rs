//! Looks from outside whether what is committed is in the table. It knows nothing of the pipeline.
//!
//! In this order: the committed offsets from the broker, then what was produced, then the table. What is stored or
//! acknowledged in between is only more, so a row that is missing below a commit can only be a broken promise.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::error::KafkaResult;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_test::services::ClickHouse;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::screen::Screen;
use crate::servers::{GROUP, PARTITIONS, TOPIC};

/// The time between two audits, at least and at most; audits that take long are made less often.
const INTERVAL: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(6));
/// How long the broker may take to tell the offsets.
const ANSWER: Duration = Duration::from_secs(5);
/// How long servers that are not to be away may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// At most this many broken promises are told one by one.
const TOLD: u64 = 10;

/// The auditor.
pub(crate) struct Auditor<'a> {
    screen: Screen,
    clickhouse: &'a ClickHouse,
    ledger: &'a Mutex<Ledger>,
    brokers: &'a str,
    /// Made anew after a failure: a client may forget all brokers when its only one was killed.
    consumer: Mutex<Option<BaseConsumer>>,
    findings: Mutex<Findings>,
    /// How many records are committed.
    pub(crate) done: AtomicU64,
}

/// What the auditor has seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// How often commits and table were compared.
    pub(crate) audits: u64,
    /// By partition, the offset that was committed at the last audit.
    pub(crate) committed: Vec<i64>,
    /// Rows in the table at the last audit.
    pub(crate) rows: u64,
    /// Partition and offset of records that were committed while they had no row.
    pub(crate) past_durable: BTreeSet<(usize, i64)>,
    /// How often a commit was found to be lower than before.
    pub(crate) moved_back: u64,
}

impl<'a> Auditor<'a> {
    pub(crate) fn new(
        screen: Screen,
        brokers: &'a str,
        clickhouse: &'a ClickHouse,
        ledger: &'a Mutex<Ledger>,
    ) -> Auditor<'a> {
        Auditor {
            screen,
            clickhouse,
            ledger,
            brokers,
            consumer: Mutex::default(),
            findings: Mutex::default(),
            done: AtomicU64::new(0),
        }
    }

    /// A call of the client.
    fn ask<T>(
        &self,
        action: &'static str,
        call: impl FnOnce(&BaseConsumer) -> KafkaResult<T>,
    ) -> Result<T, Error> {
        let kept = lock(&self.consumer).take();
        let consumer = match kept {
            Some(consumer) => consumer,
            None => self.connect().map_err(Error::kafka("making a consumer"))?,
        };
        let answer = call(&consumer).map_err(Error::kafka(action))?;
        *lock(&self.consumer) = Some(consumer);
        Ok(answer)
    }

    fn connect(&self) -> KafkaResult<BaseConsumer> {
        ClientConfig::new()
            .set("bootstrap.servers", self.brokers)
            .set("group.id", GROUP)
            .set("enable.auto.commit", "false")
            .set("reconnect.backoff.max.ms", "2000")
            .set("log_level", "2")
            .create()
    }

    /// Audits until `stop` is set. While a server is away there is nothing to compare.
    pub(crate) fn run(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) {
            let began = Instant::now();
            let _ = self.audit();
            let next = Instant::now() + (began.elapsed() * 3).clamp(INTERVAL.0, INTERVAL.1);
            while Instant::now() < next && !stop.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Compares once.
    ///
    /// # Errors
    /// A server does not answer.
    pub(crate) fn audit(&self) -> Result<(), Error> {
        let committed = self.committed()?;
        let bounds: Vec<i64> = {
            let known = lock(self.ledger).known();
            committed
                .iter()
                .zip(known)
                .map(|(c, k)| k.min(*c))
                .collect()
        };
        let (rows, present) = self.present(&bounds)?;
        for (partition, (&bound, present)) in bounds.iter().zip(present).enumerate() {
            if present < lock(self.ledger).kept_below(partition, bound) {
                self.find_absent(partition, bound)?;
            }
        }
        let mut findings = lock(&self.findings);
        let before = std::mem::replace(&mut findings.committed, committed);
        for (partition, (before, now)) in before.iter().zip(&findings.committed.clone()).enumerate()
        {
            if now < before {
                findings.moved_back += 1;
                self.screen.line(&format!(
                    "the commit of partition {partition} moved back from {before} to {now}"
                ));
            }
        }
        findings.audits += 1;
        findings.rows = rows;
        let done: i64 = findings.committed.iter().sum();
        self.done
            .store(u64::try_from(done).unwrap_or(0), Ordering::Release);
        Ok(())
    }

    /// What has been seen so far.
    pub(crate) fn findings(&self) -> Findings {
        lock(&self.findings).clone()
    }

    /// By partition, the offset that the group has committed; 0 where it has not.
    pub(crate) fn committed(&self) -> Result<Vec<i64>, Error> {
        let mut list = TopicPartitionList::new();
        list.add_partition_range(TOPIC, 0, PARTITIONS - 1);
        self.ask("reading the committed offsets", |consumer| {
            let found = consumer.committed_offsets(list, ANSWER)?;
            let mut committed = Vec::new();
            for partition in 0..PARTITIONS {
                committed.push(match found.find_partition(TOPIC, partition) {
                    Some(element) => {
                        element.error()?;
                        match element.offset() {
                            Offset::Offset(offset) => offset,
                            _ => 0,
                        }
                    }
                    None => 0,
                });
            }
            Ok(committed)
        })
    }

    /// The end of every partition.
    pub(crate) fn ends(&self) -> Result<Vec<i64>, Error> {
        self.ask("reading the ends of the topic", |consumer| {
            (0..PARTITIONS)
                .map(|partition| {
                    let watermarks = consumer.fetch_watermarks(TOPIC, partition, ANSWER);
                    watermarks.map(|(_, end)| end)
                })
                .collect()
        })
    }

    /// Commits an offset of the group from outside, which a broker allows while the group has no member.
    pub(crate) fn commit(&self, partition: i32, offset: i64) -> Result<(), Error> {
        self.ask("committing an offset", |consumer| {
            let mut list = TopicPartitionList::new();
            list.add_partition_offset(TOPIC, partition, Offset::Offset(offset))?;
            consumer.commit(&list, CommitMode::Sync)
        })
    }

    /// All rows, and by partition the different offsets below its bound.
    fn present(&self, bounds: &[i64]) -> Result<(u64, Vec<u64>), Error> {
        let list: Vec<String> = bounds.iter().map(i64::to_string).collect();
        let sql = format!(
            "SELECT part, count(), uniqExactIf(off, off < [{}][part + 1]) FROM events GROUP BY part",
            list.join(", ")
        );
        let (mut rows, mut present) = (0, vec![0; bounds.len()]);
        for [partition, count, distinct] in numbers(&self.clickhouse.query(&sql)?)? {
            rows += count;
            let place = usize::try_from(partition)
                .ok()
                .and_then(|partition| present.get_mut(partition));
            if let Some(place) = place {
                *place = distinct;
            }
        }
        Ok((rows, present))
    }

    /// The records of a partition from `from` on and below `bound` that have no row.
    pub(crate) fn absent(
        &self,
        partition: usize,
        from: i64,
        bound: i64,
    ) -> Result<Vec<i64>, Error> {
        let sql =
            format!("SELECT DISTINCT off FROM events WHERE part = {partition} AND off < {bound}");
        let found = numbers(&self.clickhouse.query(&sql)?)?;
        let there: BTreeSet<i64> = found
            .into_iter()
            .map(|[offset]| i64::try_from(offset).unwrap_or(-1))
            .collect();
        let ledger = lock(self.ledger);
        let kept = ledger.kept(partition, from, bound);
        Ok(kept
            .map(|(offset, _)| offset)
            .filter(|offset| !there.contains(offset))
            .collect())
    }

    /// Notes the records of a partition below `bound` that have no row.
    fn find_absent(&self, partition: usize, bound: i64) -> Result<(), Error> {
        let absent = self.absent(partition, 0, bound)?;
        let mut findings = lock(&self.findings);
        let before = findings.past_durable.len() as u64;
        let place = |offset: &i64| (partition, *offset);
        findings.past_durable.extend(absent.iter().map(place));
        if findings.past_durable.len() as u64 > before && before < TOLD {
            self.screen.line(&format!(
                "COMMITTED PAST DURABLE: partition {partition} is committed to {bound}, and {} records below have no row: \
                 {:?} ..",
                absent.len(),
                &absent[..absent.len().min(8)]
            ));
        }
        Ok(())
    }
}

/// Asks until there is an answer, for a time: servers that no fault keeps away may be busy.
///
/// # Errors
/// The last one.
pub(crate) fn patiently<T>(mut ask: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let end = Instant::now() + PATIENCE;
    loop {
        match ask() {
            Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(100)),
            answered => return answered,
        }
    }
}

/// The lines of an answer, each of `N` whole numbers.
pub(crate) fn numbers<const N: usize>(answer: &str) -> Result<Vec<[u64; N]>, Error> {
    let unreadable = |line: &str| Error::Answer(line.chars().take(200).collect());
    answer
        .lines()
        .map(|line| {
            let mut columns = line.split('\t').map(str::parse);
            let mut row = [0; N];
            for number in &mut row {
                *number = match columns.next() {
                    Some(Ok(found)) => found,
                    _ => return Err(unreadable(line)),
                };
            }
            Ok(row)
        })
        .collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_line_by_line() {
        assert_eq!(numbers("1\t2\n3\t4").unwrap(), [[1, 2], [3, 4]]);
        assert_eq!(numbers::<2>("").unwrap(), Vec::<[u64; 2]>::new());
        assert!(numbers::<2>("1\n").is_err() && numbers::<1>("-1").is_err());
    }
}
