//! Lanes that go in every way that a group knows: given back, lost, again, at once, and in the middle of something else.

use std::sync::atomic::Ordering;

use super::*;
use crate::limits::REVOKE_TIMEOUT;

const LONG: Duration = Duration::from_secs(60);

impl Sim {
    fn released(&self) -> Vec<LaneId> {
        self.broker.lock().unwrap().released.clone()
    }

    fn logged(&self, start: &str) -> usize {
        let log = self.log.lock().unwrap();
        log.iter().filter(|line| line.starts_with(start)).count()
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    /// From here on another member has read the partition as far as that.
    fn another_member_commits(&self, partition: i32, offset: i64) {
        self.broker
            .lock()
            .unwrap()
            .committed
            .insert(partition, offset);
    }

    fn hang(&self, hang: bool) {
        self.store.hang.store(hang, Ordering::SeqCst);
    }
}

/// Two partitions whose rows are in a write that does not end.
fn hanging() -> (Sim, Vec<LaneId>) {
    let mut sim = Sim::new(Options::default());
    sim.hang(true);
    let lanes = sim.assign(0..2, 50);
    sim.until("all is read and a write hangs", |sim| {
        sim.stats.totals().records == 100 && sim.logged("write") > 0
    });
    (sim, lanes)
}

#[test]
fn a_lane_that_was_never_read_is_given_back_unread() {
    let mut sim = Sim::new(Options::default());
    let lanes = sim.assign(0..2, 50);
    // Both events are served in one step, before a driver runs.
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.until("the other is committed", |sim| sim.committed(1) == Some(50));
    assert_eq!(sim.released(), [lanes[0]]);
    assert_eq!(sim.committed(0), None);
    assert_eq!(sim.stats.totals().records, 50);
}

#[test]
fn an_empty_revocation_is_answered_and_disturbs_nothing() {
    let mut sim = Sim::new(Options::default());
    sim.assign(0..1, 50);
    sim.event(SourceEvent::Revoking(Vec::new()));
    sim.until("it is answered", |sim| sim.logged("release []") == 1);
    sim.until("committed", |sim| sim.committed(0) == Some(50));
    assert_eq!(sim.logged("release"), 1);
}

#[test]
fn two_revocations_at_once_are_two_releases_and_the_lane_between_goes_on() {
    let mut sim = Sim::new(Options {
        linger: LONG,
        ..Options::default()
    });
    let lanes = sim.assign(0..3, 50);
    sim.until("all is read", |sim| sim.stats.totals().records == 150);
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.event(SourceEvent::Revoking(vec![lanes[2]]));
    sim.until("both are given back", |sim| sim.released().len() == 2);
    assert_eq!(sim.released(), [lanes[0], lanes[2]]);
    assert_eq!((sim.committed(0), sim.committed(2)), (Some(50), Some(50)));
    sim.drain();
    assert_eq!(sim.committed(1), Some(50), "its acks were kept");
    assert_eq!(sim.controller.abandoned_batches(), 0);
}

#[test]
fn a_lane_that_is_revoked_twice_is_given_back_once() {
    let (mut sim, lanes) = hanging();
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.steps(10);
    sim.event(SourceEvent::Revoking(vec![lanes[1]]));
    sim.steps(10);
    assert_eq!(sim.released(), [], "what is in flight is waited for");
    sim.clock.advance(REVOKE_TIMEOUT);
    sim.until("given back", |sim| !sim.released().is_empty());
    sim.steps(10);
    assert_eq!(sim.released(), lanes);
}

#[test]
fn a_revocation_waits_for_the_answer_to_its_commit() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().lose_commit_answers = true;
    let lanes = sim.assign(0..2, 50);
    sim.until("a commit is under way", |sim| sim.logged("commit") == 1);
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.steps(100);
    assert_eq!(sim.released(), []);
    assert_eq!(sim.logged("commit"), 1, "one at a time");
    // It is refused after all: the revocation makes it again, and the store takes it.
    sim.broker.lock().unwrap().lose_commit_answers = false;
    let result = Err(ConnectorError::retryable("rebalance in progress"));
    sim.event(SourceEvent::Committed { id: 0, result });
    sim.until("given back", |sim| sim.released() == [lanes[0]]);
    assert_eq!(sim.committed(0), Some(50));
}

#[test]
fn a_revocation_does_not_wait_for_the_commit_of_other_lanes() {
    let mut sim = Sim::new(Options::default());
    let first = sim.assign(0..1, 50);
    sim.until("committed", |sim| sim.committed(0) == Some(50));
    sim.broker.lock().unwrap().lose_commit_answers = true;
    sim.assign(1..2, 50);
    sim.until("a commit is under way", |sim| sim.logged("commit t/1") == 1);
    sim.event(SourceEvent::Revoking(first.clone()));
    sim.steps(20);
    assert_eq!(sim.released(), first);
}

#[test]
fn a_lane_that_is_lost_while_it_is_revoked_goes_at_once_and_only_once() {
    let (mut sim, lanes) = hanging();
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.steps(10);
    sim.event(SourceEvent::Lost(vec![lanes[0]]));
    sim.steps(10);
    assert_eq!(sim.released(), [lanes[0]], "the other one is waited for");
    assert!(sim.controller.lost_batches() > 0);
    sim.clock.advance(REVOKE_TIMEOUT);
    sim.until("the other one too", |sim| sim.released().len() > 1);
    sim.steps(10);
    assert_eq!(sim.released(), lanes);
    assert_eq!(sim.logged("commit"), 0);
}

#[test]
fn a_lost_lane_is_not_committed_even_while_its_driver_still_has_it() {
    let mut sim = Sim::new(Options {
        drivers: 1,
        ..Options::default()
    });
    let lanes = sim.assign(0..1, 50);
    sim.until("all is stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 50
    });
    assert_eq!(sim.committed(0), None, "the interval is not over");
    // Another member has it and is ahead; then it comes back, all in one step. The broker of the simulation panics when
    // an offset is set back.
    sim.stuck = Some(0);
    sim.event(SourceEvent::Lost(lanes.clone()));
    sim.another_member_commits(0, 500);
    let again = sim.assign(0..1, 600);
    sim.steps(1000);
    assert_eq!((sim.released(), sim.logged("commit")), (Vec::new(), 0));
    sim.stuck = None;
    sim.until("the rest is committed", |sim| sim.committed(0) == Some(600));
    assert_eq!(sim.released(), lanes);
    sim.drain();
    assert_eq!(sim.released(), [lanes, again].concat());
    assert_eq!(sim.controller.lost_batches(), 0);
    assert!(sim.failure.get().is_none());
}

#[test]
fn a_lost_lane_holds_no_commit_of_the_others() {
    let mut sim = Sim::new(Options {
        drivers: 1,
        ..Options::default()
    });
    let lanes = sim.assign(0..2, 50);
    sim.until("all is stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 100
    });
    sim.stuck = Some(0);
    sim.event(SourceEvent::Lost(vec![lanes[0]]));
    sim.until("the other is committed", |sim| sim.committed(1) == Some(50));
    assert_eq!(sim.logged("commit t/1=50"), 1);
    assert_eq!(sim.committed(0), None);
}

#[test]
fn an_ack_that_comes_after_the_partition_did_moves_nothing() {
    let gate = Hold(Arc::default(), 0);
    gate.0.store(true, Ordering::SeqCst);
    let mut sim = Sim::new(Options {
        gate: Some(gate.clone()),
        bytes_per_ms: Some(1),
        ..Options::default()
    });
    let lanes = sim.assign(0..1, 50);
    sim.until("all is read", |sim| sim.stats.totals().records == 50);
    sim.event(SourceEvent::Revoking(lanes));
    sim.steps(10);
    sim.clock.advance(REVOKE_TIMEOUT);
    // The controller gives up in the step in which the write ends.
    sim.step();
    assert_eq!(sim.released().len(), 1);
    assert!(sim.controller.abandoned_batches() > 0);
    // It comes back further on, and nothing of it is read yet; the old rows get stored.
    gate.0.store(false, Ordering::SeqCst);
    sim.another_member_commits(0, 500);
    sim.assign(0..1, 510);
    sim.until("the old rows are stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 50
    });
    sim.steps(1000);
    assert_eq!((sim.committed(0), sim.logged("commit")), (Some(500), 0));
    gate.0.store(true, Ordering::SeqCst);
    sim.until("the new ones move it", |sim| sim.committed(0) == Some(510));
}

#[test]
fn a_partition_that_comes_back_while_its_rows_are_in_flight_is_read_again_and_loses_nothing() {
    for seed in 0..20 {
        let mut sim = Sim::new(Options {
            seed,
            fail: 5,
            queue: 2,
            ..Options::default()
        });
        let mut lanes = sim.assign(0..3, 400);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..6 {
            sim.steps(rng.usize(0..60));
            let number = rng.usize(0..3);
            let lane = lanes[number];
            let (lost, partition) = (rng.bool(), number as i32);
            sim.event(if lost {
                SourceEvent::Lost(vec![lane])
            } else {
                SourceEvent::Revoking(vec![lane])
            });
            if !lost {
                sim.until("given back", |sim| sim.released().contains(&lane));
            }
            lanes[number] = sim.assign(partition..partition + 1, 400)[0];
        }
        sim.until("all is committed", |sim| {
            (0..3).all(|p| sim.committed(p) == Some(400))
        });
        sim.drain();
        sim.assert_nothing_committed_is_missing();
        assert!(sim.failure.get().is_none());
        let mut released = sim.released();
        released.sort();
        released.dedup();
        assert_eq!(released.len(), 9, "each lane is given back once");
        assert_eq!(sim.released().len(), 9);
    }
}

#[test]
fn a_lane_is_not_given_back_while_its_driver_has_it() {
    let (mut sim, lanes) = hanging();
    sim.stuck = Some(0);
    sim.event(SourceEvent::Lost(lanes.clone()));
    sim.steps(10);
    sim.clock.advance(REVOKE_TIMEOUT);
    sim.steps(10);
    assert_eq!(sim.released(), [], "one of the two is with the stuck one");
    sim.stuck = None;
    sim.until("given back", |sim| sim.released() == lanes);
}

#[test]
fn a_lane_that_is_lost_in_a_drain_goes_as_soon_as_it_is_dropped() {
    // The driver hands over to a full queue: it has dropped its lanes and does not end.
    let mut sim = Sim::new(Options {
        drivers: 1,
        queue: 1,
        ..Options::default()
    });
    sim.hang(true);
    sim.broker.lock().unwrap().ignores_pauses = true;
    let lanes = sim.assign(0..2, 1000);
    sim.steps(500);
    assert!(sim.drivers[0].1.is_blocked());
    sim.shutdown.store(true, Ordering::SeqCst);
    sim.event(SourceEvent::Lost(vec![lanes[0]]));
    sim.steps(10);
    sim.event(SourceEvent::Lost(vec![lanes[1]]));
    sim.steps(10);
    assert!(!sim.drivers[0].2, "it still waits for room");
    assert_eq!(sim.released(), lanes);
    // One that came in the drain was never with a driver.
    let late = sim.assign(2..3, 50);
    sim.event(SourceEvent::Lost(late.clone()));
    sim.steps(10);
    assert_eq!(sim.released(), [lanes, late].concat());
}

#[test]
fn a_lane_of_a_driver_that_has_ended_is_given_back() {
    let mut sim = Sim::new(Options::default());
    let lanes = sim.assign(0..1, 50);
    sim.until("committed", |sim| sim.committed(0) == Some(50));
    // It ended without a report, as one that panicked does.
    sim.stuck = Some(0);
    sim.drivers[0].1.set_ended();
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.steps(10);
    assert_eq!(sim.released(), lanes);
}

#[test]
fn a_revocation_commits_at_once_and_not_at_the_interval() {
    let mut sim = Sim::new(Options {
        linger: Duration::from_millis(5),
        ..Options::default()
    });
    sim.assign(0..1, 50);
    sim.until("an interval begins", |sim| sim.committed(0) == Some(50));
    let lanes = sim.assign(1..2, 50);
    sim.until("all is stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 100
    });
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.steps(10);
    assert_eq!((sim.released(), sim.committed(1)), (lanes, Some(50)));
}

#[test]
fn a_failed_batch_of_a_lane_that_goes_in_a_drain_is_a_failure() {
    let mut sim = Sim::new(Options::default());
    let lanes = sim.assign(0..1, 8);
    sim.until("in flight", |sim| sim.stats.totals().records == 8);
    sim.workers.clear();
    sim.shutdown.store(true, Ordering::SeqCst);
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.until("given back", |sim| sim.released() == lanes);
    sim.workers_ended.fetch_add(1, Ordering::SeqCst);
    sim.drain();
    let failure = sim.failure.get().expect("it does not end in silence");
    assert_eq!(failure.place(), "partition t/0");
}

#[test]
fn a_drain_in_the_middle_of_a_revocation_ends_both() {
    let (mut sim, lanes) = hanging();
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.steps(10);
    sim.drain();
    assert_eq!(sim.released(), lanes);
    assert!(sim.broker.lock().unwrap().closed);
    assert!(sim.controller.abandoned_batches() > 0);
    let failure = sim.failure.get().expect("rows were given up");
    assert!(failure.message().contains("100 rows were not written"));
    assert_eq!((sim.committed(0), sim.committed(1)), (None, None));
}

#[test]
fn a_drain_in_the_middle_of_a_revocation_commits_both() {
    let mut sim = Sim::new(Options {
        bytes_per_ms: Some(1),
        ..Options::default()
    });
    let lanes = sim.assign(0..2, 50);
    sim.until("all is read", |sim| sim.stats.totals().records == 100);
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.steps(10);
    assert_eq!(sim.released(), []);
    sim.drain();
    assert_eq!(sim.released(), lanes);
    assert_eq!((sim.committed(0), sim.committed(1)), (Some(50), Some(50)));
    assert_eq!(sim.controller.abandoned_batches(), 0);
    assert!(sim.failure.get().is_none());
}

#[test]
fn a_drain_that_gives_a_lane_back_uncommitted_is_not_a_clean_end() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().refuse_commits = true;
    let lanes = sim.assign(0..1, 50);
    sim.until("all is stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 50
    });
    sim.event(SourceEvent::Revoking(lanes.clone()));
    sim.step();
    sim.clock
        .advance(REVOKE_TIMEOUT - Duration::from_millis(100));
    sim.shutdown.store(true, Ordering::SeqCst);
    sim.step();
    assert_eq!(sim.released(), []);
    sim.drain();
    assert_eq!(sim.released(), lanes);
    let failure = sim.failure.get().expect("the last watermark is not stored");
    assert!(failure.message().contains("could not be committed"));
}

#[test]
fn a_revocation_that_ends_uncommitted_does_not_end_the_run() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().refuse_commits = true;
    let lanes = sim.assign(0..1, 50);
    sim.until("all is stored", |sim| {
        sim.store.rows.lock().unwrap().len() == 50
    });
    sim.event(SourceEvent::Revoking(lanes));
    sim.until("given back", |sim| !sim.released().is_empty());
    sim.broker.lock().unwrap().refuse_commits = false;
    sim.assign(0..1, 50);
    sim.until("read again", |sim| sim.committed(0) == Some(50));
    sim.drain();
    assert!(sim.failure.get().is_none());
}

#[test]
#[should_panic(expected = "a lane began twice")]
fn a_source_that_uses_a_lane_id_again_is_broken() {
    let mut sim = Sim::new(Options::default());
    sim.assign(0..1, 50);
    sim.step();
    sim.next_lane = 0;
    sim.assign(0..1, 50);
    sim.step();
}
