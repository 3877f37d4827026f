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
    /// The partition is another member's: a commit would set that member's offset back.
    lost: bool,
}

impl Lane {
    /// The watermark, if it is to be committed and is not yet.
    fn due(&self) -> Option<i64> {
        let watermark = self.tracker.advance().watermark?;
        let moved = self.committed.is_none_or(|committed| watermark > committed);
        (moved && !self.lost).then_some(watermark)
    }
}

struct InFlight {
    id: u64,
    since: Time,
    offsets: Vec<(LaneId, i64)>,
}

/// The checkpointer.
pub struct Checkpointer {
    interval: Duration,
    lanes: BTreeMap<LaneId, Lane>,
    in_flight: Option<InFlight>,
    next_id: u64,
    next_commit: Time,
    /// After a failed commit, also for an urgent one.
    not_before: Time,
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
            not_before: now,
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
                lost: false,
            },
        );
        assert!(before.is_none(), "a lane began twice");
    }

    /// A lane was given to another member: it is not committed any more, and no longer a reason to.
    pub fn lose(&mut self, lane: LaneId) {
        if let Some(lane) = self.lanes.get_mut(&lane) {
            lane.lost = true;
        }
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

    /// Since when a commit has been under way.
    #[must_use]
    pub fn committing_since(&self) -> Option<Time> {
        self.in_flight.as_ref().map(|commit| commit.since)
    }

    /// Whether a lane has a watermark that is not committed yet.
    #[must_use]
    pub fn is_behind(&self, lane: LaneId) -> bool {
        self.lanes
            .get(&lane)
            .is_some_and(|lane| lane.due().is_some())
    }

    /// What to commit now: on the interval, or at once if `urgent`; nothing while a commit is in flight or right after a
    /// failed one.
    pub fn step(&mut self, now: Time, urgent: bool) -> Option<(u64, Vec<Commit>)> {
        let due = if urgent {
            self.not_before
        } else {
            self.next_commit
        };
        if self.in_flight.is_some() || now < due {
            return None;
        }
        let offsets: Vec<Commit> = self
            .lanes
            .iter()
            .filter_map(|(&id, lane)| {
                Some(Commit {
                    lane: id,
                    partition: lane.tracker.partition().clone(),
                    offset: lane.due()?,
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
            since: now,
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
            self.not_before = now.after(COMMIT_RETRY);
            self.next_commit = self.not_before;
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

    /// When `step` has something to do; never while a commit is under way.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        self.in_flight.is_none().then_some(self.next_commit)
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

    /// The lanes that are there now, and how each stands.
    pub fn lanes(&self) -> impl Iterator<Item = (LaneId, &Partition, Progress)> {
        self.lanes
            .iter()
            .map(|(&id, lane)| (id, lane.tracker.partition(), lane.tracker.advance()))
    }
}
