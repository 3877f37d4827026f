//! How long a drain takes and what it still does, whatever hangs.

use std::sync::atomic::Ordering::SeqCst;

use super::*;
use crate::limits::{ABORT_GRACE, COMMIT_RETRY};

/// The time that a drain takes from now on.
fn drain_time(sim: &mut Sim) -> Duration {
    let begin = sim.clock.now();
    sim.drain();
    sim.clock.now().since(begin)
}

fn lines(sim: &Sim, start: &str) -> usize {
    let log = sim.log.lock().unwrap();
    log.iter().filter(|line| line.starts_with(start)).count()
}

/// Two drivers with a lane each, whose rows wait for a drain: nothing lingers as long.
fn lingering() -> Sim {
    let mut sim = Sim::new(Options {
        linger: Duration::from_secs(3600),
        ..Options::default()
    });
    sim.assign(0..2, 50);
    for _ in 0..20 {
        sim.step();
    }
    sim
}

#[test]
fn a_drain_ends_within_its_timeout_and_the_grace_whatever_hangs() {
    type Trouble = fn(&mut Sim);
    let troubles: [(&str, Trouble, bool); 5] = [
        ("nothing", |_| {}, true),
        ("writes", |sim| sim.store.hang.store(true, SeqCst), false),
        (
            "commits",
            |sim| sim.broker.lock().unwrap().lose_commit_answers = true,
            false,
        ),
        (
            "commits are refused",
            |sim| sim.broker.lock().unwrap().refuse_commits = true,
            false,
        ),
        ("a driver", |sim| sim.stuck = Some(0), false),
    ];
    for (what, trouble, clean) in troubles {
        let mut sim = Sim::new(Options {
            linger: Duration::from_secs(3600),
            ..Options::default()
        });
        sim.assign(0..4, 50);
        for _ in 0..20 {
            sim.step();
        }
        trouble(&mut sim);
        let took = drain_time(&mut sim);
        let most = if clean {
            Duration::from_millis(100)
        } else {
            DRAIN + ABORT_GRACE + Duration::from_millis(10)
        };
        assert!(took <= most, "{what}: {took:?}");
        assert_eq!(sim.failure.get().is_none(), clean, "{what}");
        sim.assert_nothing_committed_is_missing();
    }
}

#[test]
fn a_driver_that_is_stuck_keeps_nothing_of_the_others_from_being_stored_and_committed() {
    let mut sim = lingering();
    sim.stuck = Some(0);
    sim.drain();
    assert_eq!(sim.committed(1), Some(50));
    let failure = sim.failure.get().expect("a thread did not stop");
    assert_eq!(failure.place(), "thread 0 of the pipeline");
    assert!(
        !sim.broker.lock().unwrap().closed,
        "its lane is still alive"
    );
    sim.assert_nothing_committed_is_missing();
}

#[test]
fn a_commit_that_is_refused_during_the_drain_is_made_again_until_the_store_takes_it() {
    let mut sim = lingering();
    sim.broker.lock().unwrap().refuse_commits = true;
    sim.shutdown.store(true, SeqCst);
    while lines(&sim, "commit") < 3 {
        assert!(!sim.step(), "the drain ended with a refused commit");
    }
    sim.broker.lock().unwrap().refuse_commits = false;
    let took = drain_time(&mut sim);
    assert!(took <= COMMIT_RETRY + Duration::from_millis(10), "{took:?}");
    assert!(sim.failure.get().is_none());
    assert_eq!((sim.committed(0), sim.committed(1)), (Some(50), Some(50)));
}

#[test]
fn a_second_shutdown_does_not_lengthen_the_drain() {
    let mut sim = Sim::new(Options::default());
    sim.store.hang.store(true, SeqCst);
    sim.assign(0..1, 50);
    for _ in 0..20 {
        sim.step();
    }
    sim.shutdown.store(true, SeqCst);
    for _ in 0..3000 {
        sim.step();
    }
    let took = drain_time(&mut sim);
    assert!(
        took <= DRAIN + ABORT_GRACE - Duration::from_millis(2900),
        "{took:?}"
    );
}

#[test]
fn rows_that_no_sink_got_before_the_deadline_are_reported_with_the_setting() {
    let mut sim = lingering();
    // Its thread gets no time until the deadline has passed.
    sim.stuck = Some(0);
    let begin = sim.clock.now();
    sim.shutdown.store(true, SeqCst);
    while sim.clock.now().since(begin) <= DRAIN {
        assert!(!sim.step(), "the drain ended before its deadline");
    }
    sim.stuck = None;
    sim.drain();
    let failure = sim.failure.get().expect("a batch was given up");
    assert!(
        failure.message().contains("checkpoint.drain_timeout"),
        "{failure}"
    );
    sim.assert_nothing_committed_is_missing();
}
