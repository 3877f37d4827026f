//! The program as a process: signals and exit codes.

use spate_it::{OrdersProcess, Stack, Watched};
use spate_test::services::{BROKER_ALL, ClickHouse, ClickHouseOptions, FaultKind};

const EXE: &str = env!("CARGO_BIN_EXE_orders");

/// The log has a line for a record that is skipped: proof that everything before it in its partition was read.
const SKIPPED: &str = "record skipped";

#[test]
fn sigterm_drains_what_waits_for_company() {
    for signal in ["TERM", "INT"] {
        let Some(mut stack) = Stack::start(1) else {
            return;
        };
        stack.orders(0..37);
        stack.no_row(0, Some(b"junk"));
        // Nothing would be written for an hour, and nothing given up: `finish` waits far shorter.
        let settings = stack
            .settings()
            .set("sink.batch.linger", "1h")
            .set("sink.chunk.linger", "1h");
        let mut process =
            OrdersProcess::start(EXE, &settings.set("checkpoint.drain_timeout", "1h"));
        process.wrote(SKIPPED);
        assert_eq!(stack.count(), 0);
        process.signal(signal);
        let (code, output) = process.finish();
        assert_eq!(code, Some(0), "{output}");
        stack.assert_every_row_once();
        assert_eq!(stack.committed(), stack.ends(), "{output}");
        assert!(
            output.contains("records=38 avro.skipped=1 clickhouse.rows=37"),
            "{output}"
        );
    }
}

#[test]
fn sigterm_in_the_middle_of_the_work_commits_what_is_stored_and_nothing_else() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..20_000);
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 200)
        .set("pipeline.batch_records", 100);
    let mut process = OrdersProcess::start(EXE, &settings);
    process.until("the first rows", || (stack.count() > 0).then_some(()));
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(0), "{output}");
    // A clean end: stored and committed are the same, in both directions.
    let committed = stack.assert_committed_is_stored();
    let stored: i64 = committed.iter().sum();
    assert_eq!(
        stack.count(),
        u64::try_from(stored).expect("a count"),
        "{output}"
    );

    let mut process = OrdersProcess::start(EXE, &settings);
    stack.wait_committed(&mut process);
    process.signal("TERM");
    assert_eq!(process.finish().0, Some(0));
    stack.assert_every_row_once();
}

#[test]
fn a_second_sigterm_ends_the_process_at_once_with_nothing_committed_that_is_not_stored() {
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(mut stack) = Stack::with_clickhouse(&server, 1) else {
        return;
    };
    stack.orders(0..100);
    stack.no_row(0, Some(b"junk"));
    server
        .fault(FaultKind::Error, 210, 1_000_000, "INSERT INTO")
        .expect("injected");
    let mut process =
        OrdersProcess::start(EXE, &stack.settings().set("checkpoint.drain_timeout", "1h"));
    process.wrote("will be repeated");
    process.signal("TERM");
    process.wrote("draining");
    process.signal("TERM");
    // `finish` waits far shorter than the drain timeout.
    let (code, output) = process.finish();
    assert_eq!(code, Some(143), "{output}");
    assert_eq!(stack.committed(), [0], "{output}");
}

#[test]
fn a_drain_that_cannot_end_is_given_up_at_its_deadline_with_exit_code_1() {
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(mut stack) = Stack::with_clickhouse(&server, 1) else {
        return;
    };
    stack.orders(0..100);
    stack.no_row(0, Some(b"junk"));
    server
        .fault(FaultKind::Error, 210, 1_000_000, "INSERT INTO")
        .expect("injected");
    let mut process =
        OrdersProcess::start(EXE, &stack.settings().set("checkpoint.drain_timeout", "1s"));
    // All of them are read.
    process.wrote(SKIPPED);
    process.wrote("will be repeated");
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("clickhouse.abandoned_rows=100"), "{output}");
    assert_eq!(stack.committed(), [0], "{output}");
}

#[test]
fn a_signal_while_no_broker_answers_ends_the_process_cleanly() {
    let Some(stack) = Stack::start(1) else { return };
    stack.kafka().broker_down(BROKER_ALL).expect("it goes down");
    let settings = stack.settings().set("source.startup_timeout", "1h");
    let mut process = OrdersProcess::start(EXE, &settings);
    // The client has tried.
    process.wrote("source: Kafka: ");
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(0), "{output}");
    assert!(
        output.contains("pipeline `orders` completed: records=0 "),
        "{output}"
    );
}

#[test]
fn a_clickhouse_that_hangs_does_not_keep_the_process_and_the_group_is_left() {
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(mut stack) = Stack::with_clickhouse(&server, 1) else {
        return;
    };
    stack.orders(0..100);
    stack.no_row(0, Some(b"junk"));
    let hour = 3_600_000;
    server
        .fault(FaultKind::Delay, hour, 1_000_000, "INSERT INTO")
        .expect("injected");
    let settings = stack.settings();
    let mut process =
        OrdersProcess::start(EXE, &settings.clone().set("checkpoint.drain_timeout", "2s"));
    process.wrote(SKIPPED);
    process.signal("TERM");
    // `finish` waits far shorter than the server hangs.
    let (code, output) = process.finish();
    assert_eq!(code, Some(1), "{output}");
    for part in [
        "first failure: sink `clickhouse` shard 0: ",
        "checkpoint.drain_timeout",
        "clickhouse.abandoned_rows=100 abandoned_batches=",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    assert!(!output.contains("was not left within"), "{output}");
    assert_eq!(stack.committed(), [0], "{output}");

    server.clear_faults().expect("cleared");
    let mut process = OrdersProcess::start(EXE, &settings);
    stack.wait_committed(&mut process);
    process.signal("TERM");
    assert_eq!(process.finish().0, Some(0));
    stack.assert_every_row();
}

#[test]
fn a_process_that_is_killed_in_the_middle_of_the_work_loses_nothing() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..20_000);
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 200)
        .set("pipeline.batch_records", 100);
    let mut process = OrdersProcess::start(EXE, &settings);
    process.until("the first rows", || (stack.count() >= 1_000).then_some(()));
    process.kill();
    stack.assert_committed_is_stored();

    let mut process = OrdersProcess::start(EXE, &settings);
    stack.wait_committed(&mut process);
    process.signal("TERM");
    assert_eq!(process.finish().0, Some(0));
    stack.assert_every_row();
}

#[test]
fn a_failed_pipeline_ends_the_process_with_code_1_and_says_why() {
    let Some(stack) = Stack::start(1) else { return };
    stack.db.execute("DROP TABLE orders SYNC").expect("dropped");
    let (code, output) = OrdersProcess::start(EXE, &stack.settings()).finish();
    assert_eq!(code, Some(1), "{output}");
    assert!(
        output.contains("first failure: sink `clickhouse`"),
        "{output}"
    );
}
