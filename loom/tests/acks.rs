//! Eight models of acks that settle on the sinks' threads, against a tracker that registers and advances on others.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use spate_loom::ack::Ack;
use spate_loom::checkpoint::PartitionTracker;
use spate_loom::record::Partition;
use spate_loom::source::LaneId;

fn tracker(lane: u64, max_pending: usize) -> Arc<PartitionTracker> {
    let partition = Partition::new("t", 0);
    Arc::new(PartitionTracker::new(LaneId(lane), partition, max_pending))
}

fn register(tracker: &PartitionTracker, first: i64, next: i64) -> Ack {
    tracker.register(first, next).expect("in order")
}

/// Rows that are durable. Relaxed on purpose: only the ack may order them before the watermark.
#[derive(Clone, Default)]
struct Stored(Arc<AtomicUsize>);

impl Stored {
    /// A thread that stores a row and then says so.
    fn then_deliver(&self, ack: Ack) -> thread::JoinHandle<()> {
        let stored = self.clone();
        thread::spawn(move || {
            stored.0.fetch_add(1, Relaxed);
            ack.delivered();
        })
    }

    fn rows(&self) -> usize {
        self.0.load(Relaxed)
    }
}

fn join(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_watermark_moves_when_every_share_is_durable_and_not_before() {
    loom::model(|| {
        let (tracker, stored) = (tracker(1, 4), Stored::default());
        let ack = register(&tracker, 0, 10);
        let second = ack.share();
        let threads = [stored.then_deliver(ack), stored.then_deliver(second)];
        let p = tracker.advance();
        match p.watermark {
            Some(watermark) => assert_eq!((watermark, stored.rows()), (10, 2)),
            None => assert_eq!((p.pending, p.waits_for), (1, Some(0))),
        }
        assert!(!p.failed && !p.stopped);
        join(threads);
        let p = tracker.advance();
        assert_eq!((p.watermark, p.pending), (Some(10), 0));
    });
}

#[test]
fn a_share_that_is_made_while_others_settle_is_waited_for() {
    // Without a bound this one takes minutes; few bugs need more than two preemptions to show.
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = Some(3);
    bounded.check(|| {
        let (tracker, stored) = (tracker(1, 4), Stored::default());
        let ack = register(&tracker, 0, 10);
        let other = stored.then_deliver(ack.share());
        let sharing = {
            let stored = stored.clone();
            thread::spawn(move || {
                let late = ack.share();
                ack.delivered();
                stored.0.fetch_add(1, Relaxed);
                late.delivered();
            })
        };
        if tracker.advance().watermark.is_some() {
            assert_eq!(stored.rows(), 2);
        }
        join([other, sharing]);
        assert_eq!(tracker.advance().watermark, Some(10));
    });
}

#[test]
fn a_failed_share_is_seen_whenever_the_count_reaches_zero() {
    loom::model(|| {
        let (tracker, stored) = (tracker(1, 4), Stored::default());
        let ack = register(&tracker, 0, 10);
        let failing = ack.share();
        let threads = [
            stored.then_deliver(ack),
            thread::spawn(move || drop(failing)),
        ];
        let p = tracker.advance();
        assert_eq!((p.watermark, p.pending), (None, 1));
        join(threads);
        let p = tracker.advance();
        assert_eq!((p.watermark, p.pending), (None, 1));
        assert!(p.failed && p.stopped);
    });
}

#[test]
fn whoever_sees_that_a_lane_has_stopped_sees_that_it_failed() {
    loom::model(|| {
        let tracker = tracker(1, 4);
        let ack = register(&tracker, 0, 10);
        let failing = thread::spawn(move || drop(ack));
        let p = tracker.advance();
        assert!(!p.stopped || p.failed);
        assert_eq!(p.is_settled(), p.stopped);
        join([failing]);
    });
}

#[test]
fn batches_that_settle_in_any_order_move_the_watermark_in_theirs() {
    loom::model(|| {
        let tracker = tracker(1, 4);
        let (first, second) = (Stored::default(), Stored::default());
        let threads = [
            first.then_deliver(register(&tracker, 0, 10)),
            second.then_deliver(register(&tracker, 15, 20)),
        ];
        let mut before = None;
        for _ in 0..2 {
            let p = tracker.advance();
            assert!(p.watermark >= before, "it moved backwards");
            before = p.watermark;
            match p.watermark {
                None => assert_eq!(p.waits_for, Some(0)),
                Some(10) => assert_eq!((first.rows(), p.waits_for), (1, Some(15))),
                Some(20) => assert_eq!((first.rows(), second.rows()), (1, 1)),
                other => panic!("no batch ends at {other:?}"),
            }
        }
        join(threads);
        assert_eq!(tracker.advance().watermark, Some(20));
    });
}

#[test]
fn a_failed_batch_holds_the_watermark_whatever_settles_behind_it() {
    loom::model(|| {
        let (tracker, stored) = (tracker(1, 4), Stored::default());
        let failing = register(&tracker, 0, 10);
        let threads = [
            stored.then_deliver(register(&tracker, 10, 20)),
            thread::spawn(move || drop(failing)),
        ];
        assert_eq!(tracker.advance().watermark, None);
        join(threads);
        let p = tracker.advance();
        assert_eq!((p.watermark, p.pending, p.stopped), (None, 2, true));
    });
}

#[test]
fn a_driver_that_asks_for_room_never_exceeds_the_bound() {
    loom::model(|| {
        let (tracker, stored) = (tracker(1, 1), Stored::default());
        let driver = {
            let (tracker, stored) = (Arc::clone(&tracker), stored.clone());
            thread::spawn(move || {
                let sink = stored.then_deliver(register(&tracker, 0, 10));
                if tracker.has_room() {
                    // Room means that the first is behind the watermark, so it is durable.
                    assert_eq!(stored.rows(), 1);
                    register(&tracker, 10, 20).delivered();
                }
                join([sink]);
            })
        };
        // The controller, at any time.
        let p = tracker.advance();
        assert!(p.pending <= 1);
        join([driver]);
        assert!(tracker.has_room());
        let watermark = tracker.advance().watermark;
        assert!(matches!(watermark, Some(10 | 20)), "{watermark:?}");
    });
}

#[test]
fn an_ack_that_outlives_its_assignment_moves_nothing_of_the_next() {
    loom::model(|| {
        let (old, new) = (tracker(1, 4), tracker(2, 4));
        let late = register(&old, 0, 100);
        let failing = register(&old, 100, 200);
        let sink = thread::spawn(move || {
            late.delivered();
            drop(failing);
        });
        drop(old);
        register(&new, 500, 501).delivered();
        let p = new.advance();
        assert_eq!((p.watermark, p.failed), (Some(501), false));
        join([sink]);
        assert_eq!(new.advance(), p);
    });
}
