//! Where the attempts at a block go.

use super::*;

fn bench(replicas: usize, script: Vec<Answer>) -> Bench {
    Bench::with(Scripted::new(replicas, script), config())
}

#[test]
fn every_attempt_hands_over_the_same_bytes_under_the_same_token_whatever_the_replica() {
    let script = vec![
        Retryable("a"),
        Hangs,
        Retryable("c"),
        Hangs,
        Retryable("e"),
        Answer::Ok,
    ];
    let mut config = config();
    config.retry.give_up_after = Duration::from_secs(600);
    let mut b = Bench::with(Scripted::new(3, script), config);
    let cell = b.push(10);
    b.push(5);
    b.run(0, |_| cell.state() == AckState::Delivered);
    let mut written = b.written();
    assert_eq!(b.replicas()[..6], [0, 1, 2, 0, 1, 2]);
    written.truncate(6);
    for attempt in &mut written {
        attempt.replica = 0;
    }
    assert!(written.iter().all(|attempt| *attempt == written[0]));
}

#[test]
fn blocks_go_round_the_replicas() {
    let mut b = bench(2, vec![Answer::Ok; 4]);
    for i in 0..4 {
        b.push(10);
        b.step(i);
    }
    assert_eq!(b.replicas(), [0, 1, 0, 1]);
    let mut hashes: Vec<_> = b.written().iter().map(|written| written.hash).collect();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "the hash tells blocks apart");
}

#[test]
fn a_replica_that_is_down_is_left_alone_and_probed_once_in_a_while() {
    let mut b = bench(2, vec![FirstIsDown; 1_000]);
    let mut to_first = Vec::new();
    for now in (0..20_000).step_by(50) {
        if b.worker.sealed.is_none() {
            b.push(10);
        }
        let before = b.written().len();
        b.step(now);
        let begun = b.written().split_off(before);
        to_first.extend(begun.iter().filter(|w| w.replica == 0).map(|_| now));
    }
    // Two failures open the breaker; then one probe every five seconds at most.
    assert!(to_first.len() >= 4, "{to_first:?}");
    for pair in to_first[1..].windows(2) {
        assert!(pair[1] - pair[0] >= 5_000, "{to_first:?}");
    }
    assert!(!b.failure.is_set());
    assert!(
        b.stats.blocks.load(Ordering::Relaxed) > 300,
        "the other one carries on"
    );
}

#[test]
fn the_wait_for_a_breaker_takes_no_rung_of_the_backoff() {
    let mut config = config();
    config.breaker.failures = 1;
    let mut b = Bench::with(Scripted::new(2, vec![Retryable("down"); 100]), config);
    b.push(10);
    let mut begun = Vec::new();
    let mut now = 0;
    while begun.len() < 6 {
        let before = b.written().len();
        b.step(now);
        if b.written().len() > before {
            begun.push(now);
        }
        now += 10;
    }
    // Both breakers open at 0 and 100 ms, with waits of 100 and 200 ms. The probes at 5.0 and 5.1 s wait 400 and 800 ms
    // afterwards, the wait until 10.0 s being the breaker's; a wait that counted would have passed 10 s by then.
    assert_eq!(begun, [0, 100, 5_000, 5_400, 10_000, 11_600]);
    assert_eq!(b.stats.retries.load(Ordering::Relaxed), 6);
}

#[test]
fn a_block_is_never_given_up_untried_because_breakers_are_open() {
    let mut config = config();
    config.breaker.failures = 1;
    config.breaker.open_for = Duration::from_secs(600);
    config.retry.give_up_after = Duration::from_secs(1);
    config.retry.attempt_timeout = None;
    let mut script = vec![Retryable("down"); 3];
    script.push(Answer::Ok);
    let mut b = Bench::with(Scripted::new(2, script), config);
    let (first, second) = (b.push(10), b.push(10));
    let end = b.run(0, |_| second.state() != AckState::Pending);
    assert_eq!(first.state(), AckState::Failed);
    assert_eq!(second.state(), AckState::Delivered);
    assert_eq!(end, 2_000, "at its last moment");
    assert_eq!(b.replicas(), [0, 1, 0, 1]);
}

#[test]
fn a_refused_block_says_nothing_about_its_replica() {
    let mut config = config();
    config.breaker.failures = 1;
    let mut b = Bench::with(
        Scripted::new(2, vec![Fatal("bad row"), Answer::Ok, Answer::Ok]),
        config,
    );
    for _ in 0..3 {
        b.push(10);
    }
    b.step(0);
    assert_eq!(b.replicas(), [0, 1, 0]);
}

#[test]
fn a_probe_that_panics_gives_its_turn_back() {
    let mut config = config();
    config.breaker.failures = 1;
    let script = vec![
        Retryable("down"),
        Retryable("down"),
        PanicsInPoll,
        Answer::Ok,
    ];
    let mut b = Bench::with(Scripted::new(2, script), config);
    let cells = [b.push(10), b.push(10)];
    b.run(0, |_| cells[1].state() != AckState::Pending);
    assert_eq!(cells[1].state(), AckState::Delivered);
}

#[test]
fn a_shard_with_one_replica_is_paced_by_the_backoff_alone() {
    let mut b = bench(1, vec![Retryable("down"); 6]);
    b.push(10);
    let end = b.run(0, |b| b.written().len() == 7);
    assert_eq!(end, 6_300);
}
