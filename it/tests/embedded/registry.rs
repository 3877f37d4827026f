//! A schema registry that is not there, or does not know.

use std::thread;
use std::time::Duration;

use spate_it::{Run, Stack, Watched, orders};
use spate_test::services::SchemaRegistry;

use crate::{assert_names, failure};

/// The registry's port is closed at first.
#[test]
fn while_the_registry_is_down_lanes_hold_and_then_go_on() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    stack.orders(0..200);
    let settings = stack.settings();
    let port: u16 = stack
        .registry
        .url()
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .expect("a port");
    // Dropping the registry closes its port; a fresh one on another port takes its place in the stack.
    stack.registry = SchemaRegistry::start().expect("a registry");
    let mut run = Run::start(orders(), &settings);
    thread::sleep(Duration::from_secs(6));
    assert!(run.ended().is_none(), "{:?}", run.ended());
    assert_eq!(stack.count(), 0);
    assert_eq!(stack.committed(), [0, 0]);

    let registry = SchemaRegistry::start_on(port).expect("the same port");
    registry
        .register_with_id(
            "orders-value",
            stack.schema_id(),
            include_str!("../../schemas/order.avsc"),
        )
        .expect("a schema");
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(
        report.stage("avro").map(|stage| stage.skipped),
        Some(0),
        "an outage is no bad record: {report}"
    );
    stack.assert_every_row_once();
}

#[test]
fn a_registry_that_fails_for_a_while_is_asked_again_and_no_record_is_skipped() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..100);
    // One after the other: no answer, an error, an answer that breaks off, "not so often".
    stack.registry.drop_next(1);
    stack.registry.fail_next(1);
    stack.registry.throttle_next(1, 1);
    stack.registry.cut_next(1);
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    let skipped = report.stage("avro").map(|stage| stage.skipped);
    assert_eq!(skipped, Some(0), "{report}");
    assert_eq!(stack.registry.requests(), 5, "four failures and the answer");
    stack.assert_every_row_once();
}

#[test]
fn a_shutdown_while_the_registry_is_silent_drains_at_once() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..100);
    stack.registry.hang(true);
    let mut run = Run::start(
        orders(),
        &stack.settings().set("checkpoint.drain_timeout", "1h"),
    );
    run.until("a question to the registry", || {
        (stack.registry.requests() > 0).then_some(())
    });
    // Nothing was registered, so there is nothing to wait for: `stop` waits far shorter than the drain may.
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(stack.committed(), [0]);
}

#[test]
fn the_schema_is_asked_for_once() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..2_000);
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    let asked = stack
        .registry
        .requests_for(&format!("GET /schemas/ids/{}", stack.schema_id()));
    assert_eq!(asked, 1);
}

#[test]
fn a_registry_that_stays_away_ends_the_pipeline_with_an_error_that_names_it() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..100);
    let settings = stack
        .settings()
        .set("deserializer.registry.give_up_after", "2s");
    stack.registry.fail_next(u32::MAX);
    let report = Run::start(orders(), &settings).report();
    let url = stack.registry.url();
    let address = url.trim_start_matches("http://");
    assert_names(&failure(&report), &[address, "registry.give_up_after"]);
    assert_eq!(
        report.stage("avro").map(|stage| stage.skipped),
        Some(0),
        "{report}"
    );
    assert_eq!(stack.committed(), [0]);
}
