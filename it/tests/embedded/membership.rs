//! Whatever blocks, the group never takes a lane away: the client is polled all the time.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use spate_it::{Run, Settings, Stack, Watched, watched_orders};
use spate_test::services::{ClickHouse, ClickHouseOptions};

/// Both of `max.poll.interval.ms` and the session.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long something blocks.
const BLOCKED: Duration = Duration::from_secs(30);

/// A member that is taken for dead soon, and whose sink can hold little.
fn impatient(stack: &Stack<'_>, threads: u64) -> Settings {
    let millis = INTERVAL.as_millis();
    let client = format!(
        "{{max.poll.interval.ms: {millis}, session.timeout.ms: {millis}, heartbeat.interval.ms: 200}}"
    );
    stack
        .settings()
        .set("source.rdkafka", client)
        .set("pipeline.threads", threads)
        .set("pipeline.batch_records", 50)
        .set("sink.batch.max_bytes", "4KiB")
        .set("sink.chunk.target_bytes", "1KiB")
}

/// Sends a signal to a server of this test.
fn signal(name: &str, server: &ClickHouse) {
    let pid = server.pid().expect("a server of this test").to_string();
    let status = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", name, &pid])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "SIG{name}");
}

/// Everything is stored once, and no lane was ever taken away.
fn assert_undisturbed(stack: &Stack<'_>, mut run: Run, made: &AtomicU64, threads: u64) {
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.lost_batches(), 0, "{report}");
    assert_eq!(
        made.load(Ordering::SeqCst),
        threads,
        "lanes were taken away and given again"
    );
    stack.assert_every_row_once();
}

#[test]
fn a_clickhouse_that_hangs_for_several_poll_intervals_costs_no_lane() {
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(mut stack) = Stack::with_clickhouse(&server, 4) else {
        return;
    };
    stack.orders(0..2_000);
    let made = Arc::default();
    let mut run = Run::start(
        watched_orders(Arc::clone(&made), |_| {}),
        &impatient(&stack, 2),
    );
    run.until("the first rows", || (stack.count() >= 500).then_some(()));
    // It takes connections and answers nothing.
    signal("STOP", &server);
    stack.orders(2_000..20_000);
    thread::sleep(BLOCKED);
    assert!(run.ended().is_none(), "{:?}", run.ended());
    assert_ne!(stack.committed(), stack.ends(), "it did not hang");
    signal("CONT", &server);
    assert_undisturbed(&stack, run, &made, 2);
}

#[test]
fn a_closure_that_is_slower_than_the_poll_interval_costs_no_lane() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..2_000);
    let made = Arc::default();
    let slow = |order| {
        if order == 1_000 {
            thread::sleep(BLOCKED);
        }
    };
    // One thread: the lanes of another would be read meanwhile, and the client takes that for being polled too.
    let run = Run::start(
        watched_orders(Arc::clone(&made), slow),
        &impatient(&stack, 1),
    );
    assert_undisturbed(&stack, run, &made, 1);
}
