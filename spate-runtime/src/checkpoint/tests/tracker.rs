//! The tracker, case by case; see `tracker_model.rs` for all of it against a model.

use crate::ack::Ack;
use crate::checkpoint::PartitionTracker;
use crate::record::Partition;
use crate::source::LaneId;

fn tracker(max: usize) -> PartitionTracker {
    PartitionTracker::new(LaneId(1), Partition::new("orders", 0), max)
}

fn batch(t: &PartitionTracker, first: i64, next: i64) -> Ack {
    t.register(first, next).expect("in order")
}

/// Watermark, batches in flight, whether one failed.
fn stands(t: &PartitionTracker) -> (Option<i64>, usize, bool) {
    let p = t.advance();
    (p.watermark, p.pending, p.failed)
}

#[test]
fn the_watermark_is_the_next_offset_to_read() {
    let t = tracker(8);
    batch(&t, 0, 10).delivered();
    assert_eq!(t.advance().watermark, Some(10));
}

#[test]
fn a_later_success_never_passes_an_earlier_batch_in_flight() {
    let t = tracker(8);
    let first = batch(&t, 0, 10);
    batch(&t, 10, 20).delivered();
    assert_eq!(stands(&t), (None, 2, false));
    first.delivered();
    assert_eq!(stands(&t), (Some(20), 0, false));
}

#[test]
fn a_failed_batch_stops_the_watermark_for_good() {
    let t = tracker(8);
    batch(&t, 0, 10).delivered();
    drop(batch(&t, 10, 20));
    batch(&t, 20, 30).delivered();
    assert_eq!(stands(&t), (Some(10), 2, true));
    assert_eq!(t.advance().watermark, Some(10));
}

#[test]
fn gaps_from_compaction_do_not_hold_the_watermark() {
    let t = tracker(8);
    batch(&t, 0, 5).delivered();
    batch(&t, 90, 120).delivered();
    assert_eq!(t.advance().watermark, Some(120));
}

#[test]
fn offsets_without_a_record_are_passed_behind_what_is_in_flight() {
    let t = tracker(8);
    let first = batch(&t, 0, 10);
    t.pass(12);
    assert_eq!(t.advance().watermark, None);
    first.delivered();
    for behind in [12, 11, 0] {
        t.pass(behind);
        let progress = t.advance();
        assert_eq!((progress.watermark, progress.pending), (Some(12), 0));
    }
    batch(&t, 12, 13).delivered();
    assert_eq!(t.advance().watermark, Some(13));
}

#[test]
fn a_lane_may_begin_by_passing() {
    let t = tracker(8);
    t.pass(40);
    assert_eq!(t.advance().watermark, Some(40));
}

#[test]
fn nothing_is_passed_behind_a_failed_batch() {
    let t = tracker(8);
    drop(batch(&t, 0, 10));
    t.pass(12);
    assert_eq!(t.advance().watermark, None);
}

#[test]
fn an_ack_of_an_earlier_assignment_moves_nothing() {
    let old = tracker(8);
    let held = batch(&old, 0, 100);
    let new = PartitionTracker::new(LaneId(2), Partition::new("orders", 0), 8);
    batch(&new, 500, 501).delivered();
    held.delivered();
    assert_eq!(new.advance().watermark, Some(501));
}

#[test]
fn the_number_of_pending_batches_is_a_hard_bound() {
    let t = tracker(2);
    let first = batch(&t, 0, 1);
    let second = batch(&t, 1, 2);
    assert!(!t.has_room());
    second.delivered();
    assert!(
        !t.has_room(),
        "the second is settled, but the first still holds its place"
    );
    first.delivered();
    assert!(t.has_room());
}

#[test]
fn a_batch_that_goes_back_is_refused_and_settles_nothing() {
    let t = tracker(8);
    batch(&t, 0, 10).delivered();
    assert!(t.register(9, 12).is_err());
    assert_eq!(stands(&t), (Some(10), 0, false));
}

#[test]
fn a_batch_before_a_failed_one_is_still_waited_for() {
    let t = tracker(8);
    let first = batch(&t, 0, 10);
    drop(batch(&t, 10, 20));
    let p = t.advance();
    assert!(p.failed && !p.stopped && !p.is_settled());
    assert_eq!(p.waits_for, Some(0));
    first.delivered();
    let p = t.advance();
    assert_eq!((p.watermark, p.waits_for), (Some(10), Some(10)));
    assert!(p.stopped && p.is_settled());
}
