//! A Kafka broker that is not there.

use std::thread;
use std::time::Duration;

use spate_it::{Run, Stack, orders, strict_orders};
use spate_test::services::{BROKER_ALL, KafkaApi, KafkaError};

use crate::{assert_names, failure};

/// How much time a start is given, in seconds.
const TRIES: [u64; 3] = [3, 15, 75];

/// A start ends with an error that has these parts. A busy machine may need more than the first time to find out what is
/// wrong.
fn assert_start_ends_with(stack: &Stack<'_>, parts: &[&str]) {
    for seconds in TRIES {
        let time = format!("{seconds}s");
        let settings = stack.settings().set("source.startup_timeout", time);
        let report = Run::start(orders(), &settings).report();
        assert_eq!(report.totals().records, 0);
        let text = failure(&report);
        if parts.iter().all(|part| text.contains(part)) {
            return;
        }
        if seconds == TRIES[TRIES.len() - 1] {
            assert_names(&text, parts);
        }
    }
}

#[test]
fn a_broker_that_is_down_at_start_is_an_error_that_names_it() {
    let Some(stack) = Stack::start(1) else { return };
    stack.kafka().broker_down(BROKER_ALL).expect("it goes down");
    let parts = ["source", "source.startup_timeout", stack.brokers()];
    assert_start_ends_with(&stack, &parts);
}

#[test]
fn a_broker_that_comes_up_within_the_start_up_timeout_is_waited_for() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    stack.orders(0..100);
    stack.kafka().broker_down(BROKER_ALL).expect("it goes down");
    let mut run = Run::start(
        strict_orders(),
        &stack.settings().set("source.startup_timeout", "2m"),
    );
    thread::sleep(Duration::from_secs(2));
    stack.kafka().broker_up(BROKER_ALL).expect("it comes up");
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    stack.assert_every_row_once();
}

#[test]
fn a_topic_that_does_not_exist_is_an_error_that_names_it() {
    let Some(stack) = Stack::start(1) else { return };
    stack
        .kafka()
        .topic_error(stack.topic(), KafkaError::UnknownTopicOrPartition)
        .expect("the topic goes away");
    assert_start_ends_with(&stack, &["source", stack.topic(), "does not exist"]);
}

#[test]
fn a_broker_that_goes_down_and_comes_up_in_mid_run_loses_nothing() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..1_000);
    // Small blocks: the outage begins in the middle of the work.
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 50)
        .set("pipeline.batch_records", 20);
    let mut run = Run::start(strict_orders(), &settings);
    use spate_it::Watched as _;
    run.until("the first rows", || (stack.count() > 0).then_some(()));
    stack.kafka().broker_down(BROKER_ALL).expect("it goes down");
    thread::sleep(Duration::from_secs(3));
    stack.kafka().broker_up(BROKER_ALL).expect("it comes up");
    stack.orders(1_000..2_000);
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    stack.assert_every_row();
}

#[test]
fn commits_that_the_broker_refuses_for_a_while_are_made_again() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    let refusals = [
        KafkaError::CoordinatorLoadInProgress,
        KafkaError::NotCoordinator,
        KafkaError::RequestTimedOut,
    ];
    stack
        .kafka()
        .request_errors(KafkaApi::OffsetCommit, &refusals)
        .expect("injected");
    stack.orders(0..100);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    stack.assert_every_row();
}
