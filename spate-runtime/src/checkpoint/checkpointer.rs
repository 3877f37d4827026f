//! Commits the watermarks of all lanes: on the interval, on request, never backwards, one commit in flight.
//!
//! A state machine without a source: it says what to commit and is told how that went.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::tracker::{PartitionTracker, Progress};
use crate::limits::COMMIT_RETRY;
use crate::record::Partition;
use crate::source::{Commit, LaneId};
use crate::time::Time;

struct Lane {
    tracker: Arc<PartitionTracker>,
    committed: Option<i64>,
}

struct InFlight {
    id: u64,
    offsets: Vec<(LaneId, i64)>,
}

/// The checkpointer.
pub struct Checkpointer {
    interval: Duration,
    lanes: BTreeMap<LaneId, Lane>,
    in_flight: Option<InFlight>,
    next_id: u64,
    next_commit: Time,
    committed: BTreeMap<Partition, i64>,
}

impl Checkpointer {
    /// Commits every `interval`, first one interval after `now`.
    #[must_use]
    pub fn new(interval: Duration, now: Time) -> Self {
        Checkpointer {
            interval,
            lanes: BTreeMap::new(),
            in_flight: None,
            next_id: 0,
            next_commit: now.after(interval),
            committed: BTreeMap::new(),
        }
    }

    /// A lane begins.
    ///
    /// # Panics
    /// If it is known already.
    pub fn add(&mut self, tracker: Arc<PartitionTracker>) {
        let before = self.lanes.insert(
            tracker.lane(),
            Lane {
                tracker,
                committed: None,
            },
        );
        assert!(before.is_none(), "a lane began twice");
    }

    /// A lane ends: it is never committed again.
    pub fn remove(&mut self, lane: LaneId) {
        self.lanes.remove(&lane);
    }

    /// Where a lane stands.
    #[must_use]
    pub fn progress(&self, lane: LaneId) -> Option<Progress> {
        self.lanes.get(&lane).map(|lane| lane.tracker.advance())
    }

    /// Whether a commit is under way.
    #[must_use]
    pub fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Whether a lane has a watermark that is not committed yet.
    #[must_use]
    pub fn is_behind(&self, lane: LaneId) -> bool {
        self.lanes
            .get(&lane)
            .is_some_and(|lane| lane.tracker.advance().watermark > lane.committed)
    }

    /// The lanes in which a batch failed.
    pub fn failed(&self) -> impl Iterator<Item = &Partition> {
        self.lanes
            .values()
            .filter(|lane| lane.tracker.advance().failed)
            .map(|lane| lane.tracker.partition())
    }

    /// What to commit now: on the interval, or at once if `urgent`; nothing while a commit is in flight.
    pub fn step(&mut self, now: Time, urgent: bool) -> Option<(u64, Vec<Commit>)> {
        if self.in_flight.is_some() || (now < self.next_commit && !urgent) {
            return None;
        }
        let offsets: Vec<Commit> = self
            .lanes
            .iter()
            .filter_map(|(&id, lane)| {
                let offset = lane
                    .tracker
                    .advance()
                    .watermark
                    .filter(|&w| lane.committed.is_none_or(|c| w > c))?;
                Some(Commit {
                    lane: id,
                    partition: lane.tracker.partition().clone(),
                    offset,
                    metadata: None,
                })
            })
            .collect();
        self.next_commit = now.after(self.interval);
        if offsets.is_empty() {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight = Some(InFlight {
            id,
            offsets: offsets.iter().map(|c| (c.lane, c.offset)).collect(),
        });
        Some((id, offsets))
    }

    /// The commit `id` ended; a failed one is made again soon.
    pub fn ended(&mut self, id: u64, stored: bool, now: Time) {
        let Some(commit) = self.in_flight.take_if(|commit| commit.id == id) else {
            return;
        };
        if !stored {
            self.next_commit = self.next_commit.min(now.after(COMMIT_RETRY));
            return;
        }
        for (lane, offset) in commit.offsets {
            if let Some(lane) = self.lanes.get_mut(&lane) {
                assert!(
                    lane.committed.is_none_or(|before| offset > before),
                    "a commit went backwards"
                );
                lane.committed = Some(offset);
                self.committed
                    .insert(lane.tracker.partition().clone(), offset);
            }
        }
    }

    /// When `step` has something to do at the latest.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.next_commit
    }

    /// The offsets that were stored in this run, by partition.
    #[must_use]
    pub fn committed(&self) -> Vec<(Partition, i64)> {
        self.committed
            .iter()
            .map(|(partition, offset)| (partition.clone(), *offset))
            .collect()
    }

    /// Batches that are not behind a watermark, over all lanes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.lanes
            .values()
            .map(|lane| lane.tracker.advance().pending)
            .sum()
    }

    /// The lanes that are there now.
    pub fn lanes(&self) -> impl Iterator<Item = LaneId> {
        self.lanes.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(5);

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn lane(c: &mut Checkpointer, id: u64) -> Arc<PartitionTracker> {
        let tracker = Arc::new(PartitionTracker::new(
            LaneId(id),
            Partition::new("t", id as i32),
            8,
        ));
        c.add(Arc::clone(&tracker));
        tracker
    }

    #[test]
    fn it_commits_on_the_interval_and_only_what_moved() {
        let mut c = Checkpointer::new(INTERVAL, Time::ZERO);
        let first = lane(&mut c, 1);
        lane(&mut c, 2);
        first.register(0, 10).unwrap().delivered();
        assert!(c.step(at(4), false).is_none());
        let (id, commits) = c.step(at(5), false).expect("due");
        assert_eq!(commits.len(), 1);
        assert_eq!(commits[0].offset, 10);
        c.ended(id, true, at(5));
        assert!(c.step(at(10), false).is_none(), "nothing moved since");
        assert_eq!(c.committed(), [(Partition::new("t", 1), 10)]);
    }

    #[test]
    fn a_failed_commit_is_made_again_soon() {
        let mut c = Checkpointer::new(INTERVAL, Time::ZERO);
        lane(&mut c, 1).register(0, 10).unwrap().delivered();
        let (id, _) = c.step(at(5), false).expect("due");
        assert!(c.step(at(20), true).is_none(), "one commit at a time");
        c.ended(id, false, at(20));
        assert!(c.wake_at() <= at(20).after(COMMIT_RETRY));
        let (_, commits) = c.step(at(21), false).expect("made again");
        assert_eq!(commits[0].offset, 10);
    }

    #[test]
    fn the_end_of_a_commit_of_a_lane_that_is_gone_changes_nothing() {
        let mut c = Checkpointer::new(INTERVAL, Time::ZERO);
        lane(&mut c, 1).register(0, 10).unwrap().delivered();
        let (id, _) = c.step(at(5), false).expect("due");
        c.remove(LaneId(1));
        c.ended(id, true, at(6));
        assert!(c.committed().is_empty());
    }
}
