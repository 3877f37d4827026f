//! The world around the machines: a source whose broker is data, and a store that does as it is told. Each call is a line of
//! the log.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::Log;
use crate::error::ConnectorError;
use crate::record::{Batch, Partition, Record};
use crate::sink::{Block, ShardWriter, SinkFuture};
use crate::source::{Commit, Fetched, LaneId, Source, SourceEvent, SourceLane};
use crate::time::{Clock, ManualClock, Time};

/// A record becomes a row of so many bytes.
pub(super) const ROW: usize = 12;

#[derive(Clone)]
pub(super) struct Store {
    pub(super) log: Log,
    pub(super) rng: Arc<Mutex<fastrand::Rng>>,
    /// Of ten writes, so many fail.
    pub(super) fail: u32,
    /// Writes never end.
    pub(super) hang: Arc<AtomicBool>,
    /// How fast it writes; `None` is at once.
    pub(super) bytes_per_ms: Option<usize>,
    pub(super) clock: ManualClock,
    /// The next write panics.
    pub(super) panics: Arc<AtomicBool>,
    pub(super) rows: Arc<Mutex<Vec<(i32, i64)>>>,
}

impl ShardWriter for Store {
    fn write(&mut self, _: usize, block: &Block) -> SinkFuture {
        let data = block.chunks().concat();
        let rows: Vec<(i32, i64)> = data
            .chunks_exact(ROW)
            .map(|row| {
                let (partition, offset) = row.split_at(4);
                (
                    i32::from_le_bytes(partition.try_into().unwrap()),
                    i64::from_le_bytes(offset.try_into().unwrap()),
                )
            })
            .collect();
        let fails = self.rng.lock().unwrap().u32(0..10) < self.fail;
        let panics = self.panics.load(std::sync::atomic::Ordering::SeqCst);
        let store = self.clone();
        let token = block.token().to_owned();
        let takes = self
            .bytes_per_ms
            .map_or(0, |rate| block.bytes().div_ceil(rate));
        let end = self.clock.now().after(Duration::from_millis(takes as u64));
        Box::pin(async move {
            std::future::poll_fn(|_| {
                if store.clock.now() < end {
                    std::task::Poll::Pending
                } else {
                    std::task::Poll::Ready(())
                }
            })
            .await;
            assert!(!panics, "in the writer");
            store
                .log
                .lock()
                .unwrap()
                .push(format!("write {token} rows={} fails={fails}", rows.len()));
            if store.hang.load(std::sync::atomic::Ordering::SeqCst) {
                return std::future::pending().await;
            }
            if fails {
                return Err(ConnectorError::retryable("injected"));
            }
            store.rows.lock().unwrap().extend(rows);
            Ok(())
        })
    }
}

pub(super) struct Lane {
    pub(super) id: LaneId,
    pub(super) partition: Partition,
    pub(super) next: i64,
    pub(super) end: i64,
    pub(super) current: Vec<i64>,
    pub(super) keys: Vec<[u8; 8]>,
    pub(super) broker: Arc<Mutex<Broker>>,
}

impl SourceLane for Lane {
    fn id(&self) -> LaneId {
        self.id
    }

    fn partition(&self) -> &Partition {
        &self.partition
    }

    fn fetch(&mut self, max: usize) -> Result<Fetched, ConnectorError> {
        assert!(self.current.is_empty(), "a batch is current");
        if self.broker.lock().unwrap().paused.contains(&self.id) {
            return Ok(Fetched::Empty);
        }
        if self.next >= self.end
            && let Some(tail) = self
                .broker
                .lock()
                .unwrap()
                .tails
                .remove(&self.partition.number)
        {
            return Ok(Fetched::Passed(self.end + tail));
        }
        let to = self.end.min(self.next + max as i64);
        self.current = (self.next..to).collect();
        self.keys = (self.next..to).map(i64::to_le_bytes).collect();
        Ok(if self.current.is_empty() {
            Fetched::Empty
        } else {
            Fetched::Batch
        })
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        let records: Vec<Record<'_>> = self
            .current
            .iter()
            .zip(&self.keys)
            .map(|(&offset, key)| Record::new(offset, Some(b"x")).with_key(Some(key)))
            .collect();
        f(&Batch::new(
            &self.partition,
            &records,
            self.current[self.current.len() - 1] + 1,
        ));
    }

    fn finish(&mut self) {
        self.next += self.current.len() as i64;
        self.current.clear();
    }
}

#[derive(Default)]
pub(super) struct Broker {
    pub(super) events: VecDeque<SourceEvent>,
    pub(super) committed: std::collections::BTreeMap<i32, i64>,
    pub(super) released: Vec<LaneId>,
    pub(super) refuse_commits: bool,
    pub(super) lose_commit_answers: bool,
    pub(super) closed: bool,
    pub(super) polls: u64,
    pub(super) paused: std::collections::BTreeSet<LaneId>,
    /// How many offsets without a record a partition ends with.
    pub(super) tails: std::collections::BTreeMap<i32, i64>,
    /// Lanes go on although they are paused, as those that have fetched already do.
    pub(super) ignores_pauses: bool,
}

pub(super) struct Control {
    pub(super) broker: Arc<Mutex<Broker>>,
    pub(super) log: Log,
}

impl Source for Control {
    fn start(&mut self, _: Time) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn poll(&mut self, _: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        let mut broker = self.broker.lock().unwrap();
        broker.polls += 1;
        Ok(broker.events.pop_front())
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        let mut broker = self.broker.lock().unwrap();
        let list: Vec<String> = offsets
            .iter()
            .map(|c| format!("{}={}", c.partition, c.offset))
            .collect();
        self.log
            .lock()
            .unwrap()
            .push(format!("commit {}", list.join(" ")));
        if broker.lose_commit_answers {
            return Ok(());
        }
        let result = if broker.refuse_commits {
            Err(ConnectorError::retryable("rebalance in progress"))
        } else {
            for commit in offsets {
                let before = broker
                    .committed
                    .insert(commit.partition.number, commit.offset);
                assert!(
                    before.is_none_or(|before| commit.offset > before),
                    "a commit went back"
                );
            }
            Ok(())
        };
        broker
            .events
            .push_back(SourceEvent::Committed { id, result });
        Ok(())
    }

    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.log
            .lock()
            .unwrap()
            .push(format!("pause {}", lanes.len()));
        let mut broker = self.broker.lock().unwrap();
        if !broker.ignores_pauses {
            broker.paused.extend(lanes);
        }
        Ok(())
    }

    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.log
            .lock()
            .unwrap()
            .push(format!("resume {}", lanes.len()));
        let mut broker = self.broker.lock().unwrap();
        broker.paused.retain(|lane| !lanes.contains(lane));
        Ok(())
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.broker.lock().unwrap().released.extend(lanes);
        self.log.lock().unwrap().push(format!("release {lanes:?}"));
        Ok(())
    }

    fn close(&mut self) {
        self.broker.lock().unwrap().closed = true;
    }
}
