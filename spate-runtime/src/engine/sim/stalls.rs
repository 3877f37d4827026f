//! What stands still, what is given up, and what the failure says of it.

use super::*;

/// A run whose writes all fail, stepped until the first has.
fn failing(options: Options) -> Sim {
    let mut sim = Sim::new(Options {
        fail: 10,
        ..options
    });
    sim.assign(0..2, 50);
    sim.until("the writes fail", |sim| {
        let log = sim.log.lock().unwrap();
        log.iter().any(|line| line.contains("fails=true"))
    });
    sim
}

#[test]
fn a_batch_that_is_neither_stored_nor_given_up_stops_the_pipeline_with_the_sinks_error() {
    let limit = Duration::from_secs(30);
    let mut sim = failing(Options {
        stalled_fail_after: limit,
        ..Options::default()
    });
    let begin = sim.clock.now();
    sim.until("it stalls", |sim| sim.failure.is_set());
    let waited = sim.clock.now().since(begin);
    assert!(waited + Duration::from_millis(500) >= limit, "{waited:?}");
    assert!(
        waited <= limit + 2 * crate::limits::STALL_LOOK,
        "{waited:?}"
    );
    let failure = sim.failure.get().unwrap();
    assert!(failure.place().starts_with("partition t/"), "{failure}");
    for part in [
        "the batch from offset 0 is neither stored nor given up after 3",
        "(checkpoint.stalled_fail_after)",
        "batches in flight: 7",
        "stand still: 1",
        "last error of sink `sink` shard 0: injected",
    ] {
        assert!(failure.message().contains(part), "no {part}: {failure}");
    }
    sim.drain();
    assert_eq!(sim.committed(0), None);
}

#[test]
fn a_sink_that_stores_now_and_then_does_not_stall() {
    // Retries take up to 100 ms each; half of the writes fail, one partition has far more than one block.
    let mut sim = Sim::new(Options {
        fail: 5,
        stalled_fail_after: Duration::from_secs(4),
        ..Options::default()
    });
    sim.assign(0..1, 4000);
    sim.until("all is committed", |sim| {
        assert!(!sim.failure.is_set(), "{:?}", sim.failure.get());
        sim.committed(0) == Some(4000)
    });
    let last_errors = sim.stats.sinks[0].last_errors();
    assert_eq!(last_errors, [], "the last attempt succeeded");
    for _ in 0..10_000 {
        sim.step();
    }
    assert!(!sim.failure.is_set(), "an idle lane waits for nothing");
}

#[test]
fn a_commit_that_is_never_answered_stops_the_pipeline() {
    let mut sim = Sim::new(Options {
        stalled_fail_after: Duration::from_secs(10),
        ..Options::default()
    });
    sim.broker.lock().unwrap().lose_commit_answers = true;
    sim.assign(0..1, 50);
    sim.until("it stalls", |sim| sim.failure.is_set());
    let failure = sim.failure.get().unwrap();
    assert_eq!(failure.place(), "checkpoint");
    assert!(failure.message().contains("no answer for 10"), "{failure}");
}

#[test]
fn a_thread_that_does_not_come_back_from_user_code_stops_the_pipeline() {
    // Nothing is in flight: its partitions would be read by nobody, in silence.
    let mut sim = Sim::new(Options {
        drivers: 3,
        stalled_fail_after: Duration::from_secs(10),
        ..Options::default()
    });
    for _ in 0..15_000 {
        sim.step();
    }
    assert!(!sim.failure.is_set(), "idle threads step all the same");
    sim.stuck = Some(1);
    sim.until("it stalls", |sim| sim.failure.is_set());
    let failure = sim.failure.get().unwrap();
    assert_eq!(failure.place(), "thread 1 of the pipeline");
    assert!(
        failure.message().contains("for 10s it has not come back"),
        "{failure}"
    );
}

#[test]
fn a_controller_whose_commit_is_unanswered_sleeps() {
    let mut sim = Sim::new(Options::default());
    sim.broker.lock().unwrap().lose_commit_answers = true;
    sim.assign(0..1, 50);
    sim.until("a commit began", |sim| {
        let log = sim.log.lock().unwrap();
        log.iter().any(|line| line.starts_with("commit"))
    });
    sim.clock.advance(Duration::from_secs(60));
    let now = sim.clock.now();
    assert!(sim.controller.step(now).wake_at > now, "it would spin");
}

/// A run in which everything of partition 0 is committed, partition 1 is in flight, and the worker is gone with it.
fn killed() -> Sim {
    let mut sim = Sim::new(Options::default());
    sim.assign(0..1, 8);
    sim.until("the first is committed", |sim| sim.committed(0) == Some(8));
    sim.assign(1..2, 8);
    sim.until("the second is in flight", |sim| {
        sim.stats.totals().records == 16
    });
    sim.workers.clear();
    sim
}

#[test]
fn a_failed_batch_stops_the_pipeline_at_once_and_whoever_gave_it_up_says_why() {
    let mut sim = killed();
    sim.step();
    sim.step();
    assert!(
        sim.drivers.iter().all(|(.., ended)| *ended),
        "the drain has begun"
    );
    assert!(!sim.failure.is_set(), "nobody has said why yet");
    sim.failure.set(Failure::new("sink `sink`", "the cause"));
    sim.workers_ended
        .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    sim.drain();
    assert_eq!(sim.failure.get().unwrap().message(), "the cause");
}

#[test]
fn a_batch_that_is_given_up_without_a_word_is_named_with_the_sinks_last_errors() {
    let mut sim = killed();
    sim.stats.sinks[0].attempt_failed(0, &ConnectorError::retryable("disk full"));
    sim.workers_ended
        .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    sim.until("it fails", |sim| sim.failure.is_set());
    let failure = sim.failure.get().unwrap();
    assert_eq!(failure.place(), "partition t/1");
    assert_eq!(
        failure.message(),
        "a batch at or after offset 0 was given up; last error of sink `sink` shard 0: disk full"
    );
    sim.drain();
    assert_eq!(sim.committed(1), None);
    assert_eq!(sim.controller.abandoned_batches(), 1);
}

#[test]
fn a_batch_that_its_sink_gives_up_is_the_sinks_failure() {
    let mut sim = failing(Options::default());
    sim.clock.advance(Duration::from_secs(120));
    sim.until("given up", |sim| sim.failure.is_set());
    let failure = sim.failure.get().unwrap().to_string();
    assert!(
        failure.starts_with("sink `sink` shard 0: gave up"),
        "{failure}"
    );
    assert!(failure.ends_with("injected"), "{failure}");
}
