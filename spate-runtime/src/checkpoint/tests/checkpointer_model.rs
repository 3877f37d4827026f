//! The checkpointer against the model: lanes that come, go and are lost, commits that are taken, refused, or answered too
//! late or never.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::model::Model;
use crate::ack::Ack;
use crate::checkpoint::{Checkpointer, PartitionTracker};
use crate::limits::COMMIT_RETRY;
use crate::record::Partition;
use crate::source::LaneId;
use crate::time::Time;

const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
enum Op {
    Add,
    Remove { pick: usize },
    Lose { pick: usize },
    Batch { pick: usize, len: i64 },
    Settle { pick: usize, stored: bool },
    Wait { millis: u64 },
    Step { urgent: bool },
    Answer(Answer),
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    /// The store has it.
    Stored,
    /// The store has it not.
    Refused,
    /// The store has it, and the answer says that it has not.
    Unknown,
    /// The answer of a commit before.
    Stale,
}

fn op() -> impl Strategy<Value = Op> {
    let answer = prop_oneof![
        4 => Just(Answer::Stored),
        2 => Just(Answer::Refused),
        1 => Just(Answer::Unknown),
        1 => Just(Answer::Stale),
    ];
    let pick = any::<usize>;
    prop_oneof![
        2 => Just(Op::Add),
        1 => pick().prop_map(|pick| Op::Remove { pick }),
        1 => pick().prop_map(|pick| Op::Lose { pick }),
        10 => (pick(), 1..9i64).prop_map(|(pick, len)| Op::Batch { pick, len }),
        12 => (pick(), prop::bool::weighted(0.97))
            .prop_map(|(pick, stored)| Op::Settle { pick, stored }),
        6 => (1..700u64).prop_map(|millis| Op::Wait { millis }),
        10 => prop::bool::weighted(0.3).prop_map(|urgent| Op::Step { urgent }),
        6 => answer.prop_map(Op::Answer),
    ]
}

struct Lane {
    tracker: Arc<PartitionTracker>,
    model: Model,
    /// What a commit of this lane was answered to have stored.
    known: Option<i64>,
    lost: bool,
}

impl Lane {
    /// What is to be committed.
    fn due(&self) -> Option<i64> {
        let watermark = self.model.progress().watermark;
        watermark.filter(|&w| !self.lost && self.known.is_none_or(|known| w > known))
    }
}

struct Run {
    checkpointer: Checkpointer,
    now: Time,
    lanes: BTreeMap<LaneId, Lane>,
    next_lane: u64,
    next_commit: u64,
    acks: Vec<(LaneId, usize, Ack)>,
    in_flight: Option<(u64, Vec<(LaneId, i64)>)>,
    /// What the store has, by lane: also of those that are gone.
    store: BTreeMap<LaneId, i64>,
    /// When the interval is over, and when a refused commit may be made again.
    interval_ends: Time,
    retry_at: Time,
}

impl Run {
    fn new() -> Self {
        Run {
            checkpointer: Checkpointer::new(INTERVAL, Time::ZERO),
            now: Time::ZERO,
            lanes: BTreeMap::new(),
            next_lane: 0,
            next_commit: 0,
            acks: Vec::new(),
            in_flight: None,
            store: BTreeMap::new(),
            interval_ends: Time::ZERO.after(INTERVAL),
            retry_at: Time::ZERO,
        }
    }

    fn pick(&self, pick: usize) -> Option<LaneId> {
        let lanes = self.lanes.len().max(1);
        self.lanes.keys().nth(pick % lanes).copied()
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Add => self.add(),
            Op::Wait { millis } => self.now = self.now.after(Duration::from_millis(millis)),
            Op::Step { urgent } => self.step(urgent),
            Op::Answer(answer) => self.answer(answer),
            Op::Remove { pick } => {
                if let Some(lane) = self.pick(pick) {
                    self.lanes.remove(&lane);
                    self.checkpointer.remove(lane);
                }
            }
            Op::Lose { pick } => {
                if let Some(lane) = self.pick(pick) {
                    self.lanes.get_mut(&lane).expect("picked").lost = true;
                    self.checkpointer.lose(lane);
                }
            }
            Op::Batch { pick, len } => {
                if let Some(id) = self.pick(pick) {
                    let lane = self.lanes.get_mut(&id).expect("picked");
                    if lane.tracker.has_room() {
                        let first = lane.model.delivered().unwrap_or(0);
                        let ack = lane.tracker.register(first, first + len).expect("in order");
                        self.acks
                            .push((id, lane.model.deliver(first, first + len, 1), ack));
                    }
                }
            }
            Op::Settle { pick, stored } => {
                if !self.acks.is_empty() {
                    let index = pick % self.acks.len();
                    let (id, batch, ack) = self.acks.swap_remove(index);
                    match self.lanes.get_mut(&id) {
                        Some(lane) => lane.model.settle(batch, ack, stored),
                        None => ack.delivered(),
                    }
                }
            }
        }
        for (&id, lane) in &self.lanes {
            assert_eq!(self.checkpointer.is_behind(id), lane.due().is_some());
        }
        let idle = self.in_flight.is_none();
        assert_eq!(self.checkpointer.is_committing(), !idle);
        let wake_at = idle.then_some(self.interval_ends);
        assert_eq!(self.checkpointer.wake_at(), wake_at);
        let pending = self.lanes.values().map(|l| l.model.progress().pending);
        assert_eq!(self.checkpointer.pending(), pending.sum::<usize>());
    }

    fn add(&mut self) {
        let id = LaneId(self.next_lane);
        self.next_lane += 1;
        let tracker = Arc::new(PartitionTracker::new(id, Partition::new("t", 0), 8));
        self.checkpointer.add(Arc::clone(&tracker));
        let lane = Lane {
            tracker,
            model: Model::default(),
            known: None,
            lost: false,
        };
        self.lanes.insert(id, lane);
    }

    fn step(&mut self, urgent: bool) {
        let at = if urgent {
            self.retry_at
        } else {
            self.interval_ends
        };
        let due = self.now >= at && self.in_flight.is_none();
        let expected: Vec<(LaneId, i64)> = self
            .lanes
            .iter()
            .filter_map(|(&id, lane)| due.then_some((id, lane.due()?)))
            .collect();
        let commit = self.checkpointer.step(self.now, urgent);
        let made = commit
            .as_ref()
            .map(|(_, offsets)| offsets.iter().map(|c| (c.lane, c.offset)).collect());
        assert_eq!(made, (!expected.is_empty()).then_some(expected));
        if due {
            self.interval_ends = self.now.after(INTERVAL);
        }
        if let (Some((id, _)), Some(offsets)) = (commit, made) {
            assert!(
                id >= self.next_commit,
                "a late answer would end a later commit"
            );
            self.next_commit = id + 1;
            self.in_flight = Some((id, offsets));
        }
    }

    fn answer(&mut self, answer: Answer) {
        if let Answer::Stale = answer {
            let id = self.in_flight.as_ref().map_or(0, |(id, _)| *id);
            return self.checkpointer.ended(id.wrapping_sub(1), true, self.now);
        }
        let Some((id, offsets)) = self.in_flight.take() else {
            return;
        };
        let stored = matches!(answer, Answer::Stored);
        for (lane, offset) in offsets {
            if !matches!(answer, Answer::Refused) {
                let before = self.store.insert(lane, offset);
                assert!(before.is_none_or(|before| offset >= before), "it went back");
            }
            if let (true, Some(lane)) = (stored, self.lanes.get_mut(&lane)) {
                lane.known = Some(offset);
            }
        }
        if !stored {
            self.retry_at = self.now.after(COMMIT_RETRY);
            self.interval_ends = self.retry_at;
        }
        self.checkpointer.ended(id, stored, self.now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_stored_gets_committed_once_and_nothing_else(ops in prop::collection::vec(op(), 1..150)) {
        let mut run = Run::new();
        for op in ops {
            run.apply(op);
        }
        // Whatever became of the commits before: two more, and every lane that is there is committed as far as it is stored.
        run.apply(Op::Answer(Answer::Refused));
        run.apply(Op::Wait { millis: 250 });
        run.apply(Op::Step { urgent: true });
        run.apply(Op::Answer(Answer::Stored));
        for (id, lane) in run.lanes.iter().filter(|(_, lane)| !lane.lost) {
            let watermark = lane.model.progress().watermark;
            prop_assert_eq!(run.store.get(id).copied(), watermark);
            prop_assert!(!run.checkpointer.is_behind(*id));
        }
    }
}
