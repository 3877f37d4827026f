//! What a failed block costs: itself, and the run; never another block.

use super::*;

#[test]
fn a_refused_block_keeps_no_other_from_being_stored() {
    let mut b = Bench::new(vec![
        Answer::Ok,
        Fatal("row 7 is not to my taste"),
        Answer::Ok,
        Answer::Ok,
    ]);
    let cells: Vec<_> = (0..3).map(|_| b.push(10)).collect();
    let queued = b.push(4);
    let step = b.step(0);
    assert!(!step.done, "the worker ends when its queue does");
    let states: Vec<_> = cells.iter().map(|cell| cell.state()).collect();
    assert_eq!(
        states,
        [AckState::Delivered, AckState::Failed, AckState::Delivered]
    );
    assert!(b.failure.is_set());
    b.queue.close();
    assert!(b.step(1).done);
    assert_eq!(queued.state(), AckState::Delivered);
    assert_eq!(b.abandoned(), 10, "the refused block and nothing else");
    assert_eq!(b.stats.rows.load(Ordering::Relaxed), 24);
}

#[test]
fn a_refused_block_is_reported_with_place_attempts_time_and_rows() {
    let mut b = Bench::with(
        Scripted::new(2, vec![Retryable("busy"), Fatal("no such table")]),
        config(),
    );
    b.push(10);
    b.run(0, |b| b.failure.is_set());
    assert_eq!(
        b.failure(),
        "sink `s` shard 0: refused after 2 attempts in 100ms on a block of 10 rows, the last at http://ch-1: no such table"
    );
    assert_eq!(b.written().len(), 2, "a fatal error is never repeated");
}

#[test]
fn no_attempt_begins_after_give_up_after_and_the_last_one_just_then() {
    let mut config = config();
    config.retry.give_up_after = Duration::from_secs(1);
    let mut b = Bench::with(Scripted::new(1, vec![Retryable("down"); 100]), config);
    let cell = b.push(10);
    let end = b.run(0, |b| b.failure.is_set());
    assert_eq!(end, 1000, "not at 700 + 800 ms");
    assert_eq!(cell.state(), AckState::Failed);
    assert_eq!(b.written().len(), 5, "at 0, 100, 300, 700 and 1000 ms");
    assert_eq!(
        b.failure(),
        "sink `s` shard 0: gave up (retry.give_up_after) after 5 attempts in 1s on a block of 10 rows, the last at \
         http://ch-0: down"
    );
    assert_eq!(b.abandoned(), 10);
}

#[test]
fn after_a_block_is_given_up_the_next_one_has_all_its_time() {
    let mut config = config();
    config.retry.give_up_after = Duration::from_millis(100);
    let mut b = Bench::with(
        Scripted::new(
            1,
            vec![
                Retryable("down"),
                Retryable("down"),
                Retryable("down"),
                Answer::Ok,
            ],
        ),
        config,
    );
    let first = b.push(10);
    let second = b.push(10);
    b.run(0, |_| second.state() != AckState::Pending);
    assert_eq!(first.state(), AckState::Failed);
    assert_eq!(second.state(), AckState::Delivered);
}

#[test]
fn an_attempt_that_hangs_ends_at_its_timeout_and_is_repeated() {
    let mut b = Bench::new(vec![Hangs, Answer::Ok]);
    let cell = b.push(10);
    assert_eq!(b.step(0).wake_at, at(30_000));
    b.step(29_999);
    assert_eq!(b.writer.alive.load(Ordering::SeqCst), 1);
    assert_eq!(b.step(30_000).wake_at, at(30_100));
    assert_eq!(
        b.writer.alive.load(Ordering::SeqCst),
        0,
        "dropped before the next one begins"
    );
    b.step(30_100);
    assert_eq!(cell.state(), AckState::Delivered);
    let written = b.written();
    assert_eq!(written[0], written[1]);
}

#[test]
fn a_block_whose_attempts_hang_is_given_up_with_the_timeout_s_name() {
    let mut b = Bench::new(vec![]);
    b.push(10);
    let end = b.run(0, |b| b.failure.is_set());
    assert_eq!(
        end, 60_100,
        "the last attempt begins before 60 s and has its time"
    );
    assert!(
        b.failure().contains("retry.attempt_timeout") && b.failure().contains("2 attempts"),
        "{}",
        b.failure()
    );
}

#[test]
fn a_panic_costs_its_own_block_and_the_writer_is_made_anew() {
    for (panics, text) in [
        (PanicsInCall, "in the call"),
        (PanicsInPoll, "in the poll"),
        (PanicsInDrop(Box::new(Fatal("refused"))), "in the drop"),
        (PanicsInDrop(Box::new(Retryable("busy"))), "in the drop"),
    ] {
        let mut b = Bench::new(vec![Answer::Ok, panics, Answer::Ok]);
        let cells: Vec<_> = (0..3).map(|_| b.push(10)).collect();
        b.step(0);
        let states: Vec<_> = cells.iter().map(|cell| cell.state()).collect();
        assert_eq!(
            states,
            [AckState::Delivered, AckState::Failed, AckState::Delivered],
            "{text}"
        );
        let writers: Vec<_> = b.written().iter().map(|written| written.writer).collect();
        assert_eq!(writers, [1, 1, 2], "{text}");
        assert!(
            b.failure().contains(text) && b.failure().contains("10 rows"),
            "{}",
            b.failure()
        );
        assert_eq!(b.abandoned(), 10);
    }
}

#[test]
fn a_panic_behind_a_confirmation_takes_nothing_back() {
    let mut b = Bench::new(vec![PanicsInDrop(Box::new(Answer::Ok)), Answer::Ok]);
    let cells = [b.push(10), b.push(10)];
    b.step(0);
    assert!(cells.iter().all(|cell| cell.state() == AckState::Delivered));
    assert!(!b.failure.is_set());
    assert_eq!(b.written()[1].writer, 2, "its state may be torn");
}

#[test]
fn a_panic_in_the_drop_of_a_late_attempt_costs_its_own_block() {
    let mut b = Bench::new(vec![PanicsInDrop(Box::new(Hangs)), Answer::Ok]);
    let cells = [b.push(10), b.push(10)];
    b.step(0);
    b.step(30_000);
    assert_eq!(cells[0].state(), AckState::Failed);
    assert_eq!(cells[1].state(), AckState::Delivered);
}

#[test]
fn a_writer_that_cannot_be_made_costs_the_blocks_that_need_it() {
    let scripted = Scripted::new(1, vec![Answer::Ok]);
    let mut b = Bench::with(scripted.clone(), config());
    let mut calls = 0;
    let mut make = scripted.factory();
    b.worker.writer = Writer::new(Box::new(move || {
        calls += 1;
        assert!(calls > 1, "no such host");
        make()
    }));
    let cells = [b.push(10), b.push(10)];
    b.step(0);
    assert_eq!(cells[0].state(), AckState::Failed);
    assert_eq!(cells[1].state(), AckState::Delivered);
    assert!(b.failure().contains("no such host"), "{}", b.failure());
}
