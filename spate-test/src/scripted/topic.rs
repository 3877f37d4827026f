//! The partitions and the committed offsets: what a broker keeps while its clients come and go.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spate_runtime::memory::MemoryRecord;
use spate_runtime::source::LaneId;

#[derive(Default)]
pub(super) struct PartitionLog {
    /// Records with their offsets, ascending; offsets may be missing.
    pub(super) records: Vec<(i64, Arc<MemoryRecord>)>,
    /// The offset of the next record.
    pub(super) end: i64,
    pub(super) committed: Option<i64>,
    /// The only assignment whose commits are taken.
    pub(super) owner: Option<LaneId>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) partitions: BTreeMap<i32, PartitionLog>,
    pub(super) closed: bool,
    next_lane: u64,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    committed: Condvar,
}

/// The partitions of a topic, their records and the committed offsets. Clones are the same topic.
///
/// Partitions come into being with their first record or assignment; offsets begin at 0.
#[derive(Clone)]
pub struct Topic {
    name: Arc<str>,
    shared: Arc<Shared>,
}

impl Topic {
    /// An empty topic.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Topic {
            name: name.into(),
            shared: Arc::default(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a payload to a partition and returns its offset.
    pub fn push(&self, partition: i32, payload: impl Into<Vec<u8>>) -> i64 {
        let record = MemoryRecord {
            payload: Some(payload.into()),
            ..MemoryRecord::default()
        };
        self.push_record(partition, record)
    }

    /// Appends a record to a partition and returns its offset. A record without a payload is a tombstone.
    pub fn push_record(&self, partition: i32, record: MemoryRecord) -> i64 {
        let mut state = self.state();
        let log = state.partitions.entry(partition).or_default();
        let offset = log.end;
        log.records.push((offset, Arc::new(record)));
        log.end += 1;
        offset
    }

    /// Leaves out offsets, as compaction and transaction markers do.
    pub fn gap(&self, partition: i32, offsets: u32) {
        let mut state = self.state();
        state.partitions.entry(partition).or_default().end += i64::from(offsets);
    }

    /// No more records will come: lanes that are read to their end say so, and the source ends when all have.
    pub fn close(&self) {
        self.state().closed = true;
    }

    /// The offset that the next record of a partition gets.
    #[must_use]
    pub fn end(&self, partition: i32) -> i64 {
        let state = self.state();
        state.partitions.get(&partition).map_or(0, |log| log.end)
    }

    /// The committed offset of a partition, the next one to read; `None` before the first commit.
    #[must_use]
    pub fn committed(&self, partition: i32) -> Option<i64> {
        self.state().partitions.get(&partition)?.committed
    }

    /// Whether an assignment of the partition stands: neither lost nor given back.
    #[must_use]
    pub fn is_owned(&self, partition: i32) -> bool {
        self.owner(partition).is_some()
    }

    /// The assignment of the partition that stands.
    #[must_use]
    pub fn owner(&self, partition: i32) -> Option<LaneId> {
        self.state().partitions.get(&partition)?.owner
    }

    /// Ends the assignment of a partition whoever holds it, as a broker does with a member that it no longer hears of. The member
    /// is not told; its commits are refused from now on.
    pub fn expel(&self, partition: i32) {
        if let Some(log) = self.state().partitions.get_mut(&partition) {
            log.owner = None;
        }
    }

    /// Waits until a partition's committed offset is at least `offset`; whether it came that far within `timeout`.
    #[must_use]
    pub fn wait_committed(&self, partition: i32, offset: i64, timeout: Duration) -> bool {
        let behind = |state: &mut State| {
            let log = state.partitions.get(&partition);
            log.and_then(|log| log.committed).is_none_or(|c| c < offset)
        };
        let condition = &self.shared.committed;
        let wait = condition.wait_timeout_while(self.state(), timeout, behind);
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Gives the partition to a new assignment; its number and where it begins to read.
    pub(super) fn take(&self, partition: i32) -> (LaneId, i64) {
        let mut state = self.state();
        let id = LaneId(state.next_lane);
        state.next_lane += 1;
        let log = state.partitions.entry(partition).or_default();
        assert!(
            log.owner.is_none(),
            "partition {partition} is assigned already: revoke, lose or expel it first"
        );
        log.owner = Some(id);
        (id, log.committed.unwrap_or(0))
    }

    /// Ends one assignment; another one of the same partition stands.
    pub(super) fn give_back(&self, partition: i32, lane: LaneId) {
        if let Some(log) = self.state().partitions.get_mut(&partition)
            && log.owner == Some(lane)
        {
            log.owner = None;
        }
    }

    /// Takes a commit if each of its assignments stands, as a broker refuses the commit of a generation that is over.
    pub(super) fn commit(&self, offsets: &[spate_runtime::source::Commit]) -> bool {
        let mut state = self.state();
        let stands = offsets.iter().all(|commit| {
            let log = state.partitions.get(&commit.partition.number);
            log.is_some_and(|log| log.owner == Some(commit.lane))
        });
        if stands {
            for commit in offsets {
                if let Some(log) = state.partitions.get_mut(&commit.partition.number) {
                    log.committed = Some(commit.offset);
                }
            }
            self.shared.committed.notify_all();
        }
        stands
    }
}
