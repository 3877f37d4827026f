//! What each process does with its lanes: their batches run in order, none left out, and they are given back settled and in time.

use std::time::Duration;

use spate_runtime::machines;
use spate_runtime::source::LaneId;

use super::{Lane, Ran, State, who};

impl State {
    pub(in crate::sim) fn lane_begins(
        &mut self,
        process: u32,
        id: LaneId,
        partition: usize,
        start: i64,
    ) {
        let lane = Lane {
            process,
            partition,
            next: start,
            failed: false,
            lost: false,
            told: false,
            asked: None,
            released: false,
            left: false,
        };
        self.lanes.insert(id, lane);
    }

    /// Whether the assignment has reached its process.
    pub(in crate::sim) fn knows(&self, id: LaneId) -> bool {
        self.lanes.contains_key(&id)
    }

    pub(in crate::sim) fn lane_lost(&mut self, id: LaneId) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.lost = true;
        }
    }

    /// Its process is asked to give it back, or told that it is lost.
    pub(in crate::sim) fn lane_goes(&mut self, id: LaneId, lost: bool) {
        let now = self.now;
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.told |= lost;
            lane.asked.get_or_insert(now);
        }
    }

    /// The group takes it away, because its process did not give it back.
    pub(in crate::sim) fn check_asked(&mut self, id: LaneId) {
        let Some(lane) = self.lanes.get(&id) else {
            return;
        };
        let (partition, process) = (lane.partition, lane.process);
        let took = lane
            .asked
            .map_or(Duration::ZERO, |asked| self.now.since(asked));
        if took > machines::REVOKE_TIMEOUT + Duration::from_secs(2) {
            self.violation(format_args!(
                "{} has not given back partition {partition} after {took:?}",
                who(process)
            ));
        }
    }

    /// Its process gives it back. Unless the process ends, all that was run is settled and committed first, as long as the
    /// engine may take for it.
    pub(in crate::sim) fn lane_released(
        &mut self,
        id: LaneId,
        ending: bool,
        prompt: Option<Duration>,
    ) {
        let Some(lane) = self.lanes.get(&id) else {
            return;
        };
        let (partition, process, next) = (lane.partition, lane.process, lane.next);
        let committed = self.topic.committed(partition as i32).unwrap_or(0);
        let records = &self.partitions[partition].records;
        let from = records.partition_point(|r| r.offset < committed);
        let to = records.partition_point(|r| r.offset < next);
        let left = (from..to).any(|index| !self.is_safe(partition, index, &[]));
        let took = lane
            .asked
            .map_or(Duration::ZERO, |asked| self.now.since(asked));
        let kept = !lane.lost && !ending;
        if kept && from < to && took < machines::REVOKE_TIMEOUT {
            self.violation(format_args!(
                "{} gave back partition {partition} after {took:?}: ran to {next}, committed {committed}",
                who(process)
            ));
        }
        if kept && prompt.is_some_and(|prompt| took > prompt) {
            self.violation(format_args!(
                "{} needed {took:?} to give back partition {partition}, and nothing was in its way",
                who(process)
            ));
        }
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.left = left && !lane.lost;
            lane.released = !ending;
        }
    }

    pub(in crate::sim) fn reading(&mut self, lane: Option<(u32, LaneId)>) {
        self.reading = lane;
    }

    /// The kernel runs a batch of these offsets: the records that come next in its lane, none left out, none twice.
    pub(in crate::sim) fn run_begins(&mut self, process: u32, offsets: &[i64]) {
        let Some((owner, id)) = self.reading else {
            return self.violation(format_args!(
                "a kernel ran a batch that no lane was read for"
            ));
        };
        let Some(lane) = self.lanes.get(&id) else {
            return self.violation(format_args!("a lane that was never assigned was read"));
        };
        let (partition, next) = (lane.partition, lane.next);
        if owner != process || lane.process != process {
            self.violation(format_args!(
                "{} ran a lane of another process",
                who(process)
            ));
        }
        if self.lanes[&id].failed {
            self.violation(format_args!(
                "{} ran partition {partition} on after its kernel had failed there",
                who(process)
            ));
        }
        let records = &self.partitions[partition].records;
        let from = records.partition_point(|r| r.offset < next);
        let expected = records[from..].iter().map(|r| r.offset);
        if !offsets.iter().copied().eq(expected.take(offsets.len())) {
            self.violation(format_args!(
                "{} ran partition {partition} with a gap or out of order: {offsets:?} after {next}",
                who(process)
            ));
        }
    }

    pub(in crate::sim) fn run_ends(&mut self, process: u32, ran: &Ran) {
        self.counts.batches += 1;
        self.counts.largest = self.counts.largest.max(ran.bytes);
        let Some((_, id)) = self.reading else { return };
        if let Some(lane) = self.lanes.get_mut(&id) {
            match ran.next {
                Some(next) => lane.next = next,
                None => lane.failed = true,
            }
        }
        if ran.next.is_some() {
            self.process(process).records += ran.records as u64;
        }
    }
}
