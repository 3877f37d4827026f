//! The `memory` source: records that a test or an embedding program pushes, with a log per partition that survives
//! revocations, so that what was not committed is delivered again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::{OpenError, Section};
use crate::error::ConnectorError;
use crate::record::{Batch, HeaderSource, Headers, Partition, Record};
use crate::source::{
    Attachment, Commit, Fetched, LaneId, OpenContext, Source, SourceEvent, SourceKind, SourceLane,
};
use crate::time::Time;

/// The topic of every record of a memory source.
pub const TOPIC: &str = "memory";

/// The `memory` source stage.
#[derive(Debug)]
pub struct Memory;

impl SourceKind for Memory {
    const KIND: &'static str = "memory";

    fn attach() -> Option<Attachment> {
        Some(Arc::new(MemorySource::default()))
    }

    fn open(section: &Section, context: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        if !section.is_empty() {
            return Err(section
                .error(
                    "",
                    "the `memory` source has no settings; remove the section",
                )
                .into());
        }
        let handle = context
            .attachment
            .as_ref()
            .and_then(|a| a.downcast_ref::<MemorySource>())
            .cloned();
        Ok(Box::new(MemoryControl {
            handle: handle.unwrap_or_default(),
            ended: false,
        }))
    }
}

/// A record to push.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryRecord {
    /// The payload; `None` is a tombstone.
    pub payload: Option<Vec<u8>>,
    /// The key.
    pub key: Option<Vec<u8>>,
    /// Milliseconds since the Unix epoch.
    pub timestamp: Option<i64>,
    /// Headers, in order.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

#[derive(Default)]
struct PartitionLog {
    records: Vec<Arc<MemoryRecord>>,
    committed: Option<i64>,
    lane: Option<LaneId>,
    position: i64,
}

#[derive(Default)]
struct State {
    partitions: BTreeMap<i32, PartitionLog>,
    events: VecDeque<SourceEvent>,
    next_lane: u64,
    lanes_by_id: BTreeMap<LaneId, i32>,
    closed: bool,
    ended_lanes: usize,
    paused: bool,
}

impl State {
    /// There are records, and no lane that could read them has been assigned yet.
    fn waits_for_lanes(&self) -> bool {
        self.next_lane == 0 && self.partitions.values().any(|log| !log.records.is_empty())
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    committed: Condvar,
}

/// The handle of a `memory` source. Clones are the same source; partitions are numbered from zero and offsets count
/// from zero in each.
#[derive(Clone, Default)]
pub struct MemorySource(Arc<Shared>);

impl MemorySource {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assigns the partitions `0..count` that are not assigned yet, each from its committed offset on.
    pub fn assign_lanes(&self, count: i32) {
        let mut state = self.state();
        let mut lanes: Vec<Box<dyn SourceLane>> = Vec::new();
        for partition in 0..count {
            let id = LaneId(state.next_lane);
            let log = state.partitions.entry(partition).or_default();
            if log.lane.is_some() {
                continue;
            }
            log.lane = Some(id);
            let position = log.committed.unwrap_or(0);
            log.position = position;
            state.next_lane += 1;
            state.lanes_by_id.insert(id, partition);
            lanes.push(Box::new(MemoryLane {
                id,
                partition: Partition::new(TOPIC, partition),
                handle: self.clone(),
                position,
                current: Vec::new(),
                ended: false,
            }));
        }
        state.events.push_back(SourceEvent::Assigned(lanes));
    }

    /// Begins to take partitions away, as a rebalance does.
    pub fn revoke(&self, partitions: &[i32]) {
        self.take_away(partitions, SourceEvent::Revoking);
    }

    /// Takes partitions away at once, as a lost session does.
    pub fn lose(&self, partitions: &[i32]) {
        self.take_away(partitions, SourceEvent::Lost);
    }

    fn take_away(&self, partitions: &[i32], event: fn(Vec<LaneId>) -> SourceEvent) {
        let mut state = self.state();
        let lanes = partitions
            .iter()
            .filter_map(|p| state.partitions.get(p)?.lane)
            .collect();
        state.events.push_back(event(lanes));
    }

    /// Appends a payload to a partition and returns its offset.
    pub fn push(&self, partition: i32, payload: impl Into<Vec<u8>>) -> i64 {
        self.push_record(
            partition,
            MemoryRecord {
                payload: Some(payload.into()),
                ..MemoryRecord::default()
            },
        )
    }

    /// Appends a record to a partition and returns its offset.
    pub fn push_record(&self, partition: i32, record: MemoryRecord) -> i64 {
        let mut state = self.state();
        let log = state.partitions.entry(partition).or_default();
        log.records.push(Arc::new(record));
        log.records.len() as i64 - 1
    }

    /// No more records will come: when the lanes are read to their ends the pipeline drains and ends. Records that were
    /// pushed wait for the first [`assign_lanes`](Self::assign_lanes), also when that comes later.
    pub fn close(&self) {
        self.state().closed = true;
    }

    /// The committed offset of a partition, the next one to read; `None` before the first commit.
    #[must_use]
    pub fn last_committed(&self, partition: i32) -> Option<i64> {
        self.state().partitions.get(&partition)?.committed
    }

    /// The offset up to which the pipeline has run the partition's records; they may still be in flight.
    #[must_use]
    pub fn position(&self, partition: i32) -> i64 {
        self.state()
            .partitions
            .get(&partition)
            .map_or(0, |log| log.position)
    }

    /// Whether a partition is assigned; a revoked one is until the engine has given it back.
    #[must_use]
    pub fn is_assigned(&self, partition: i32) -> bool {
        self.state()
            .partitions
            .get(&partition)
            .is_some_and(|log| log.lane.is_some())
    }

    /// Waits until a partition's committed offset is at least `offset`; whether it came that far within `timeout`.
    #[must_use]
    pub fn wait_committed(&self, partition: i32, offset: i64, timeout: Duration) -> bool {
        let behind = |state: &mut State| {
            state
                .partitions
                .get(&partition)
                .and_then(|log| log.committed)
                .is_none_or(|c| c < offset)
        };
        let wait = self
            .0
            .committed
            .wait_timeout_while(self.state(), timeout, behind);
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Whether the engine has paused the source because a sink is slower.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state().paused
    }
}

struct MemoryControl {
    handle: MemorySource,
    ended: bool,
}

impl Source for MemoryControl {
    fn start(&mut self, _: Time) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn poll(&mut self, _: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        let mut state = self.handle.state();
        if let Some(event) = state.events.pop_front() {
            return Ok(Some(event));
        }
        let assigned = state.lanes_by_id.len();
        if state.closed && !self.ended && state.ended_lanes == assigned && !state.waits_for_lanes()
        {
            self.ended = true;
            return Ok(Some(SourceEvent::Ended));
        }
        Ok(None)
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        let mut state = self.handle.state();
        for commit in offsets {
            // As a broker does: a commit of an assignment that is over is refused.
            if state.lanes_by_id.contains_key(&commit.lane)
                && let Some(log) = state.partitions.get_mut(&commit.partition.number)
            {
                log.committed = Some(commit.offset);
            }
        }
        state
            .events
            .push_back(SourceEvent::Committed { id, result: Ok(()) });
        self.handle.0.committed.notify_all();
        Ok(())
    }

    fn pause(&mut self, _: &[LaneId]) -> Result<(), ConnectorError> {
        self.handle.state().paused = true;
        Ok(())
    }

    fn resume(&mut self, _: &[LaneId]) -> Result<(), ConnectorError> {
        self.handle.state().paused = false;
        Ok(())
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let mut state = self.handle.state();
        for lane in lanes {
            if let Some(partition) = state.lanes_by_id.remove(lane)
                && let Some(log) = state.partitions.get_mut(&partition)
            {
                log.lane = None;
            }
        }
        Ok(())
    }

    fn close(&mut self) {}
}

struct MemoryLane {
    id: LaneId,
    partition: Partition,
    handle: MemorySource,
    position: i64,
    current: Vec<Arc<MemoryRecord>>,
    ended: bool,
}

impl HeaderSource for MemoryLane {
    fn header(&self, record: usize, index: usize) -> Option<(&str, Option<&[u8]>)> {
        let (name, value) = self.current.get(record)?.headers.get(index)?;
        Some((name, value.as_deref()))
    }
}

impl SourceLane for MemoryLane {
    fn id(&self) -> LaneId {
        self.id
    }

    fn partition(&self) -> &Partition {
        &self.partition
    }

    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError> {
        let mut state = self.handle.state();
        let from = usize::try_from(self.position).unwrap_or(0);
        let log = state.partitions.entry(self.partition.number).or_default();
        let records = log.records.get(from..).unwrap_or_default();
        self.current
            .extend(records.iter().take(max_records).cloned());
        if !self.current.is_empty() {
            return Ok(Fetched::Batch);
        }
        if state.closed {
            if !self.ended {
                self.ended = true;
                state.ended_lanes += 1;
            }
            return Ok(Fetched::End);
        }
        Ok(Fetched::Empty)
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        let records: Vec<Record<'_>> = self
            .current
            .iter()
            .enumerate()
            .map(|(index, record)| {
                Record::new(self.position + index as i64, record.payload.as_deref())
                    .with_key(record.key.as_deref())
                    .with_timestamp(record.timestamp)
                    .with_headers(Headers::new(self, index))
            })
            .collect();
        let next = self.position + records.len() as i64;
        f(&Batch::new(&self.partition, &records, next));
    }

    fn finish(&mut self) {
        self.position += self.current.len() as i64;
        self.current.clear();
        if let Some(log) = self
            .handle
            .state()
            .partitions
            .get_mut(&self.partition.number)
        {
            log.position = self.position;
        }
    }
}

impl Drop for MemoryLane {
    fn drop(&mut self) {
        if self.ended {
            self.handle.state().ended_lanes -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(handle: &MemorySource) -> MemoryControl {
        MemoryControl {
            handle: handle.clone(),
            ended: false,
        }
    }

    fn poll(control: &mut MemoryControl) -> Option<SourceEvent> {
        control.poll(Time::ZERO).expect("it never fails")
    }

    #[test]
    fn records_of_a_source_that_is_closed_before_it_has_lanes_are_read_before_its_end() {
        let source = MemorySource::default();
        let mut control = control(&source);
        source.push(0, "a");
        source.close();
        assert!(poll(&mut control).is_none(), "nobody has read the record");
        source.assign_lanes(2);
        let Some(SourceEvent::Assigned(mut lanes)) = poll(&mut control) else {
            panic!("no assignment");
        };
        let mut fetch = |lane: usize| lanes[lane].fetch(10).expect("it never fails");
        assert_eq!(fetch(1), Fetched::End);
        assert_eq!(fetch(0), Fetched::Batch);
        assert!(poll(&mut control).is_none());
        lanes[0].finish();
        assert_eq!(lanes[0].fetch(10).expect("it never fails"), Fetched::End);
        assert!(matches!(poll(&mut control), Some(SourceEvent::Ended)));
        assert!(poll(&mut control).is_none(), "told once");
    }

    #[test]
    fn a_source_without_records_and_lanes_is_at_its_end_when_it_is_closed() {
        let source = MemorySource::default();
        let mut control = control(&source);
        assert!(poll(&mut control).is_none());
        source.close();
        assert!(matches!(poll(&mut control), Some(SourceEvent::Ended)));
    }
}
