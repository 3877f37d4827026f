//! The tracker against the model: any batches, any order of acks, any number of assignments of one partition.

use proptest::prelude::*;

use super::model::Model;
use crate::ack::Ack;
use crate::checkpoint::PartitionTracker;
use crate::record::Partition;
use crate::source::LaneId;

const MAX_PENDING: usize = 4;

#[derive(Debug, Clone)]
enum Op {
    /// The partition is given away and comes back at an offset of its own; what is in flight of it stays in flight.
    Assign { from: i64 },
    /// The lane delivers a batch behind a gap, if it has room for one.
    Batch { gap: i64, len: i64, shares: usize },
    /// The lane delivers one that goes back by so much.
    Back { by: i64 },
    /// Some share settles, of whatever assignment.
    Settle { pick: usize, stored: bool },
    /// Somebody looks.
    Look,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => (0..2000i64).prop_map(|from| Op::Assign { from }),
        8 => (prop_oneof![Just(0), 1..50i64], 1..20i64, 1..4usize)
            .prop_map(|(gap, len, shares)| Op::Batch { gap, len, shares }),
        1 => (1..30i64).prop_map(|by| Op::Back { by }),
        16 => (any::<usize>(), prop::bool::weighted(0.95))
            .prop_map(|(pick, stored)| Op::Settle { pick, stored }),
        4 => Just(Op::Look),
    ]
}

struct Assignment {
    tracker: PartitionTracker,
    model: Model,
    from: i64,
}

impl Assignment {
    fn new(lane: usize, from: i64) -> Self {
        let partition = Partition::new("t", 0);
        Assignment {
            tracker: PartitionTracker::new(LaneId(lane as u64), partition, MAX_PENDING),
            model: Model::default(),
            from,
        }
    }
}

/// All assignments so far; the last one is read, the acks are of all of them.
struct Run {
    assignments: Vec<Assignment>,
    acks: Vec<(usize, usize, Ack)>,
}

impl Run {
    fn apply(&mut self, op: Op) {
        let lane = self.assignments.len() - 1;
        let Assignment {
            tracker,
            model,
            from,
        } = &mut self.assignments[lane];
        match op {
            Op::Assign { from } => self.assignments.push(Assignment::new(lane + 1, from)),
            Op::Batch { gap, len, shares } => {
                let room = model.progress().pending < MAX_PENDING;
                assert_eq!(tracker.has_room(), room);
                if !room {
                    return;
                }
                let first = model.delivered().unwrap_or(*from) + gap;
                let ack = tracker.register(first, first + len).expect("in order");
                let batch = model.deliver(first, first + len, shares);
                for _ in 1..shares {
                    self.acks.push((lane, batch, ack.share()));
                }
                self.acks.push((lane, batch, ack));
            }
            Op::Back { by } => {
                if let Some(delivered) = model.delivered() {
                    let before = delivered - by;
                    assert!(tracker.register(before, delivered + 1).is_err());
                    assert!(tracker.register(delivered, delivered).is_err());
                }
            }
            Op::Settle { pick, stored } => {
                if !self.acks.is_empty() {
                    let index = pick % self.acks.len();
                    let (lane, batch, ack) = self.acks.swap_remove(index);
                    self.assignments[lane].model.settle(batch, ack, stored);
                }
            }
            Op::Look => self.look(),
        }
    }

    /// An earlier assignment's acks have moved that assignment alone.
    fn look(&self) {
        for assignment in &self.assignments {
            assert_eq!(assignment.tracker.advance(), assignment.model.progress());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tracker_stands_where_the_longest_stored_prefix_ends(ops in prop::collection::vec(op(), 1..120)) {
        let mut run = Run {
            assignments: vec![Assignment::new(0, 0)],
            acks: Vec::new(),
        };
        for op in ops {
            run.apply(op);
        }
        run.look();
        while !run.acks.is_empty() {
            run.apply(Op::Settle { pick: 0, stored: true });
        }
        run.look();
        let settled = run.assignments.iter().all(|a| a.tracker.advance().is_settled());
        prop_assert!(settled, "nothing is in flight any more");
    }
}
