//! The checkpointer, case by case; see `checkpointer_model.rs` for all of it against a model.

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{Checkpointer, PartitionTracker};
use crate::limits::COMMIT_RETRY;
use crate::record::Partition;
use crate::source::LaneId;
use crate::time::Time;

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
    assert_eq!(c.wake_at(), Some(at(20).after(COMMIT_RETRY)));
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
