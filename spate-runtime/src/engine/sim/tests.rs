//! What holds of the machines together, whatever the seed.

use super::*;

#[test]
fn a_run_with_failing_writes_stores_everything_that_it_commits() {
    for seed in 0..200 {
        let mut sim = Sim::new(Options {
            seed,
            fail: 4,
            queue: 2,
            ..Options::default()
        });
        sim.assign(0..5, 100);
        sim.until("all is committed", |sim| {
            (0..5).all(|p| sim.committed(p) == Some(100))
        });
        sim.drain();
        sim.assert_nothing_committed_is_missing();
        assert!(sim.failure.get().is_none());
        assert_eq!(sim.controller.abandoned_batches(), 0);
        assert_eq!(sim.stats.totals().unaccounted(), 0);
    }
}

#[test]
fn offsets_without_a_record_at_the_end_are_committed_once_what_lies_before_is_stored() {
    for seed in 0..50 {
        let mut sim = Sim::new(Options {
            seed,
            fail: 4,
            queue: 2,
            ..Options::default()
        });
        // One ends with transaction markers, one has nothing else.
        sim.broker.lock().unwrap().tails = [(0, 3), (1, 7)].into();
        sim.assign(0..1, 100);
        sim.assign(1..2, 0);
        let stored = |sim: &Sim| {
            sim.store
                .rows
                .lock()
                .unwrap()
                .iter()
                .filter(|row| row.0 == 0)
                .count()
        };
        sim.until("both ends are committed", |sim| {
            let end = sim.committed(0) == Some(103);
            assert!(!end || stored(sim) >= 100, "seed {seed}");
            end && sim.committed(1) == Some(7)
        });
        sim.drain();
        assert_eq!(sim.controller.abandoned_batches(), 0);
        assert_eq!(sim.stats.totals().records, 100);
    }
}

#[test]
fn the_same_seed_gives_the_same_log() {
    let log = |seed| {
        let mut sim = Sim::new(Options {
            seed,
            fail: 3,
            queue: 2,
            ..Options::default()
        });
        let lanes = sim.assign(0..4, 80);
        for _ in 0..40 {
            sim.step();
        }
        sim.event(SourceEvent::Revoking(vec![lanes[1]]));
        sim.until("given back", |sim| {
            !sim.broker.lock().unwrap().released.is_empty()
        });
        sim.assign(1..2, 80);
        sim.until("all is committed", |sim| {
            (0..4).all(|p| sim.committed(p) == Some(80))
        });
        sim.drain();
        sim.log.lock().unwrap().clone()
    };
    assert!(log(7).len() > 10);
    assert_eq!(log(7), log(7));
    assert_ne!(log(7), log(8));
}

#[test]
fn a_revocation_commits_before_it_releases_and_leaves_the_others_alone() {
    let mut sim = Sim::new(Options {
        linger: Duration::from_secs(60),
        ..Options::default()
    });
    let lanes = sim.assign(0..2, 50);
    for _ in 0..20 {
        sim.step();
    }
    assert_eq!(sim.committed(0), None, "everything waits in open blocks");
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.until("given back", |sim| {
        !sim.broker.lock().unwrap().released.is_empty()
    });
    assert_eq!(sim.broker.lock().unwrap().released, [lanes[0]]);
    assert_eq!(sim.committed(0), Some(50));
    sim.drain();
    assert_eq!(sim.committed(1), Some(50));
    sim.assert_nothing_committed_is_missing();
}

#[test]
fn a_revocation_under_a_stuck_sink_ends_at_its_deadline_without_a_commit() {
    let mut sim = Sim::new(Options {
        fail: 10,
        ..Options::default()
    });
    let lanes = sim.assign(0..1, 50);
    sim.until("the writes fail", |sim| {
        sim.log
            .lock()
            .unwrap()
            .iter()
            .any(|l| l.contains("fails=true"))
    });
    let begin = sim.clock.now();
    sim.event(SourceEvent::Revoking(lanes));
    sim.until("given back", |sim| {
        !sim.broker.lock().unwrap().released.is_empty()
    });
    assert!(sim.clock.now().since(begin) >= crate::limits::REVOKE_TIMEOUT);
    assert_eq!(sim.committed(0), None);
}

#[test]
fn a_commit_whose_answer_never_comes_holds_neither_a_revocation_nor_the_drain_for_ever() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().lose_commit_answers = true;
    let lanes = sim.assign(0..2, 50);
    sim.until("a commit began", |sim| {
        sim.log
            .lock()
            .unwrap()
            .iter()
            .any(|l| l.starts_with("commit"))
    });
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    sim.until("given back", |sim| {
        !sim.broker.lock().unwrap().released.is_empty()
    });
    sim.drain();
    let failure = sim.failure.get().expect("the last commit is unknown");
    assert!(failure.message().contains("drain_timeout"), "{failure}");
}

#[test]
fn a_refused_commit_is_repeated_until_the_store_takes_it() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().refuse_commits = true;
    sim.assign(0..1, 50);
    sim.until("two refusals", |sim| {
        sim.log
            .lock()
            .unwrap()
            .iter()
            .filter(|l| l.starts_with("commit"))
            .count()
            >= 2
    });
    assert_eq!(sim.committed(0), None);
    sim.broker.lock().unwrap().refuse_commits = false;
    sim.until("taken", |sim| sim.committed(0) == Some(50));
}

#[test]
fn a_lane_that_waits_for_a_schema_holds_no_other() {
    let gate = Hold(Arc::default(), 1);
    let mut sim = Sim::new(Options {
        drivers: 1,
        gate: Some(gate.clone()),
        ..Options::default()
    });
    sim.assign(0..3, 50);
    sim.until("the others are done", |sim| {
        sim.committed(0) == Some(50) && sim.committed(2) == Some(50)
    });
    assert_eq!(sim.committed(1), None);
    gate.0.store(true, std::sync::atomic::Ordering::SeqCst);
    sim.until("the held one too", |sim| sim.committed(1) == Some(50));
    sim.drain();
    assert_eq!(sim.stats.totals().records, 150, "the held batch ran once");
}

#[test]
fn a_drain_with_a_held_batch_is_clean_because_nothing_of_it_ran() {
    let gate = Hold(Arc::default(), 0);
    let mut sim = Sim::new(Options {
        gate: Some(gate),
        ..Options::default()
    });
    sim.assign(0..1, 50);
    for _ in 0..20 {
        sim.step();
    }
    sim.drain();
    assert_eq!(sim.controller.abandoned_batches(), 0);
    assert!(sim.failure.get().is_none());
}

#[test]
fn a_full_queue_pauses_all_lanes_and_new_ones_too() {
    let mut sim = Sim::new(Options {
        fail: 10,
        queue: 1,
        ..Options::default()
    });
    sim.broker.lock().unwrap().ignores_pauses = true;
    sim.assign(0..2, 1000);
    sim.until("paused", |sim| sim.controller.is_paused());
    sim.assign(2..3, 1000);
    sim.until("the new lane is paused", |sim| {
        sim.log.lock().unwrap().contains(&"pause 1".to_owned())
    });
    for _ in 0..500 {
        sim.step();
    }
    let batches = sim.stats.totals().batches;
    for _ in 0..500 {
        sim.step();
    }
    assert_eq!(
        sim.stats.totals().batches,
        batches,
        "blocked drivers read nothing more"
    );
    assert_eq!(sim.committed(0), None);
}

#[test]
fn a_lane_assigned_while_draining_is_dropped_and_given_back() {
    let mut sim = Sim::new(Options::default());
    sim.assign(0..1, 50);
    sim.until("committed", |sim| sim.committed(0) == Some(50));
    sim.shutdown
        .store(true, std::sync::atomic::Ordering::SeqCst);
    sim.step();
    sim.assign(1..2, 50);
    sim.drain();
    let broker = sim.broker.lock().unwrap();
    assert!(broker.closed);
    assert_eq!(broker.released.len(), 2);
    drop(broker);
    assert_eq!(sim.committed(1), None);
}

#[test]
fn a_revocation_in_the_middle_of_a_drain_does_not_hang_it() {
    let mut sim = Sim::new(Options {
        fail: 5,
        ..Options::default()
    });
    let lanes = sim.assign(0..3, 100);
    for _ in 0..20 {
        sim.step();
    }
    sim.shutdown
        .store(true, std::sync::atomic::Ordering::SeqCst);
    sim.step();
    sim.event(SourceEvent::Revoking(vec![lanes[1]]));
    sim.drain();
    sim.assert_nothing_committed_is_missing();
    assert!(sim.broker.lock().unwrap().closed);
}

#[test]
fn an_unknown_lane_in_a_revocation_is_given_back_at_once() {
    let mut sim = Sim::new(Options::default());
    sim.event(SourceEvent::Revoking(vec![LaneId(77)]));
    sim.event(SourceEvent::Assigned(Vec::new()));
    sim.until("given back", |sim| {
        sim.broker.lock().unwrap().released == [LaneId(77)]
    });
}

#[test]
fn what_was_in_flight_on_lost_lanes_is_counted_but_not_as_given_up() {
    let mut sim = Sim::new(Options {
        fail: 10,
        ..Options::default()
    });
    let lanes = sim.assign(0..1, 50);
    sim.until("the writes fail", |sim| {
        let log = sim.log.lock().unwrap();
        log.iter().any(|line| line.contains("fails=true"))
    });
    sim.event(SourceEvent::Lost(lanes));
    sim.until("given back", |sim| {
        !sim.broker.lock().unwrap().released.is_empty()
    });
    assert_eq!(sim.committed(0), None);
    assert!(sim.controller.lost_batches() > 0);
    assert_eq!(sim.controller.abandoned_batches(), 0);
}
