//! A ClickHouse that is not there, or whose answers are lost or not true.

use std::thread;
use std::time::Duration;

use spate_it::{Run, Sample, Settings, Stack, Watched, orders, strict_orders};
use spate_test::services::{ClickHouse, ClickHouseOptions, FaultKind};

use crate::{assert_names, failure};

/// A server that the test may kill or make fail.
fn own() -> Option<ClickHouse> {
    ClickHouse::required_own(ClickHouseOptions::default())
}

/// Small blocks, so that an outage falls into the middle of the work.
fn small_blocks(stack: &Stack<'_>) -> Settings {
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 100)
        .set("pipeline.batch_records", 50);
    settings.set("sink.chunk.target_bytes", "1KiB")
}

/// Statements of this test's own table.
fn inserts(stack: &Stack<'_>) -> String {
    format!("INSERT INTO `{}`", stack.db.name())
}

#[test]
fn a_server_that_is_down_at_start_is_an_error_that_names_it() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 1) else {
        return;
    };
    stack.orders(0..10);
    server.kill().expect("it is killed");
    let report = Run::start(
        orders(),
        &stack.settings().set("pipeline.startup_timeout", "2s"),
    )
    .report();
    assert_names(
        &failure(&report),
        &[
            "sink `clickhouse`",
            "pipeline.startup_timeout",
            server.url(),
        ],
    );
    assert_eq!(stack.committed(), [0]);
}

#[test]
fn a_server_that_comes_up_within_the_start_up_timeout_is_waited_for() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 2) else {
        return;
    };
    stack.orders(0..100);
    server.kill().expect("it is killed");
    let mut run = Run::start(
        strict_orders(),
        &stack.settings().set("pipeline.startup_timeout", "2m"),
    );
    thread::sleep(Duration::from_secs(1));
    server.restart().expect("it starts again");
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row_once();
}

#[test]
fn an_outage_in_mid_run_loses_and_doubles_nothing() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 4) else {
        return;
    };
    // So many that the outage does not come after the work.
    stack.orders(0..20_000);
    let mut run = Run::start(strict_orders(), &small_blocks(&stack));
    run.until("the first rows", || (stack.count() >= 500).then_some(()));
    server.kill().expect("it is killed");
    // Long enough for several attempts of 50 to 200 ms.
    thread::sleep(Duration::from_secs(3));
    assert!(run.ended().is_none(), "{:?}", run.ended());
    stack.orders(20_000..21_000);
    server.restart().expect("it starts again");
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert!(report.totals().sinks[0].retries >= 3, "{report}");
    stack.assert_every_row_once();
}

#[test]
fn an_outage_longer_than_the_retries_ends_the_pipeline_with_nothing_committed_past_it() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 4) else {
        return;
    };
    // So many that the outage does not come after the work.
    stack.orders(0..20_000);
    let settings = small_blocks(&stack).set("sink.retry.give_up_after", "2s");
    let mut run = Run::start(strict_orders(), &settings);
    run.until("the first rows", || (stack.count() >= 500).then_some(()));
    server.kill().expect("it is killed");
    // There is something left to store, however fast the others were.
    stack.orders(20_000..21_000);
    let report = run.report();
    assert_names(
        &failure(&report),
        &["sink `clickhouse`", "retry.give_up_after", server.url()],
    );
    server.restart().expect("it starts again");
    let committed = stack.assert_committed_is_stored();
    assert_ne!(
        committed,
        stack.ends(),
        "the outage came too late to show anything"
    );

    let mut run = Run::start(strict_orders(), &small_blocks(&stack));
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row();
}

#[test]
fn nothing_is_committed_while_nothing_is_stored() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 2) else {
        return;
    };
    stack.orders(0..1_000);
    // 210, NETWORK_ERROR: it may pass. The attempts go on for at least ten commit intervals.
    server
        .fault(FaultKind::Error, 210, 1_000_000, &inserts(&stack))
        .expect("injected");
    let settings = stack.settings().set("sink.retry.give_up_after", "2s");
    let report = Run::start(orders(), &settings).report();
    assert_names(&failure(&report), &["retry.give_up_after", "210"]);
    assert_eq!(stack.committed(), [0, 0]);
    assert!(report.committed().is_empty(), "{report}");
    assert!(report.abandoned_batches() > 0, "{report}");

    server.clear_faults().expect("cleared");
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row_once();
}

/// The next inserts fail in this way; afterwards every row is there once.
fn is_repeated(kind: FaultKind, code: u32) {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 4) else {
        return;
    };
    stack.orders(0..2_000);
    server
        .fault(kind, code, 3, &inserts(&stack))
        .expect("injected");
    let mut run = Run::start(strict_orders(), &small_blocks(&stack));
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().sinks[0].retries, 3, "{report}");
    stack.assert_every_row_once();
}

#[test]
fn a_200_that_hides_an_exception_is_no_success() {
    is_repeated(FaultKind::Hidden, 252);
}

#[test]
fn a_block_that_was_stored_before_its_answer_was_lost_is_stored_once() {
    is_repeated(FaultKind::DropAfter, 0);
}

#[test]
fn a_block_that_was_stored_although_the_answer_is_an_error_is_stored_once() {
    is_repeated(FaultKind::ErrorAfter, 319);
}

#[test]
fn a_connection_that_is_closed_before_the_insert_ran_is_made_again() {
    is_repeated(FaultKind::Drop, 0);
}

#[test]
fn a_200_that_hides_an_exception_which_does_not_pass_ends_the_pipeline() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 1) else {
        return;
    };
    stack.orders(0..100);
    // 497, ACCESS_DENIED.
    server
        .fault(FaultKind::Hidden, 497, 1, &inserts(&stack))
        .expect("injected");
    let report = Run::start(strict_orders(), &stack.settings()).report();
    assert_names(&failure(&report), &["sink `clickhouse`", "497"]);
    stack.assert_committed_is_stored();
}

#[test]
fn a_login_that_is_refused_in_mid_run_ends_the_pipeline_and_loses_nothing() {
    let Some(server) = own() else { return };
    let Some(mut stack) = Stack::with_clickhouse(&server, 2) else {
        return;
    };
    stack.orders(0..200);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    // 516, AUTHENTICATION_FAILED: for one insert only, so that a later success could hide it.
    server
        .fault(FaultKind::Error, 516, 1, &inserts(&stack))
        .expect("injected");
    stack.orders(200..400);
    let report = run.report();
    assert_names(&failure(&report), &["sink `clickhouse`", "516"]);
    stack.assert_committed_is_stored();

    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row();
}

#[test]
fn equal_orders_of_one_partition_are_stored_as_often_as_they_were_produced() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    // Blocks of equal content in all but the offset: a token that is used twice would swallow one.
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 1)
        .set("pipeline.batch_records", 1);
    let settings = settings
        .set("sink.batch.linger", "1ms")
        .set("sink.chunk.linger", "1ms");
    let equal = vec![Sample::nth(5); 30];
    stack.orders_into(0, &equal);
    for run in 1..=2 {
        let mut pipeline = Run::start(strict_orders(), &settings);
        stack.wait_committed(&mut pipeline);
        assert_eq!(pipeline.stop().exit_code(), 0);
        stack.assert_every_row_once();
        if run == 1 {
            stack.orders_into(0, &equal);
        }
    }
}

#[test]
fn a_shutdown_while_the_server_refuses_connections_at_start_ends_at_once() {
    let Some(stack) = Stack::start(1) else { return };
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = closed.local_addr().expect("its address");
    drop(closed);
    // A shutdown that is not noticed would wait for this.
    let settings = stack
        .settings()
        .set("sink.url", format!("http://{address}"))
        .set("sink.retry.initial", "1h")
        .set("sink.retry.max", "1h")
        .set("sink.retry.give_up_after", "1h")
        .set("checkpoint.stalled_fail_after", "1h")
        .set("pipeline.startup_timeout", "1h");
    let run = Run::start(orders(), &settings);
    thread::sleep(Duration::from_millis(300));
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().records, 0);
}
