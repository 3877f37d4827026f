//! Against Apache Kafka: what an embedded broker cannot show, groups of several members above all.

use spate_it::{OrdersProcess, Run, Sample, Settings, Stack, Watched, strict_orders};
use spate_test::services::watermarks;

const EXE: &str = env!("CARGO_BIN_EXE_orders");

/// The partitions' ends as the broker tells them.
fn log_ends(stack: &Stack<'_>) -> Vec<i64> {
    let partitions = 0..i32::try_from(stack.ends().len()).expect("a few");
    partitions
        .map(|partition| {
            watermarks(stack.brokers(), stack.topic(), partition)
                .expect("an answer")
                .1
        })
        .collect()
}

#[test]
fn every_record_becomes_one_row_and_a_restart_reads_nothing_again() {
    let Some(mut stack) = Stack::apache(4) else {
        return;
    };
    stack.orders(0..20_000);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().unaccounted(), 0);
    assert_eq!(stack.committed(), log_ends(&stack));
    stack.assert_every_row_once();

    stack.orders_into(3, &[Sample::nth(20_000)]);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.totals().records, 1, "{report}");
    stack.assert_every_row_once();
}

#[test]
fn after_a_drain_the_committed_offsets_are_the_ends_of_the_log() {
    let Some(mut stack) = Stack::apache(8) else {
        return;
    };
    stack.orders(0..5_000);
    // The commit interval is too long to play a part: the drain's own commit has to do it.
    let mut process = OrdersProcess::start(EXE, &stack.settings().set("checkpoint.interval", "1h"));
    stack.wait_stored(&mut process);
    assert_eq!(stack.committed(), [0; 8]);
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(stack.committed(), log_ends(&stack), "{output}");
    stack.assert_every_row_once();
}

/// A second process joins in the middle of the work, and leaves in the middle of it.
fn joins_and_leaves(settings: impl FnOnce(Settings) -> Settings) {
    let Some(mut stack) = Stack::apache(8) else {
        return;
    };
    let settings = settings(stack.settings())
        .set("sink.batch.max_rows", 500)
        .set("pipeline.batch_records", 100);
    let mut next = 0;
    let mut produce = |stack: &mut Stack<'_>, count: u64| {
        stack.orders(next..next + count);
        next += count;
    };
    produce(&mut stack, 40_000);
    let mut first = OrdersProcess::start(EXE, &settings);
    first.until("the first rows", || (stack.count() > 0).then_some(()));

    let mut second = OrdersProcess::start(EXE, &settings);
    // Work for every moment of the rebalance.
    while !second.output().contains("lane assigned") {
        assert_eq!(second.ended(), None);
        produce(&mut stack, 2_000);
    }
    produce(&mut stack, 20_000);
    stack.assert_committed_is_stored();
    stack.wait_stored(&mut second);
    produce(&mut stack, 20_000);
    second.signal("TERM");
    let (code, output) = second.finish();
    assert_eq!(code, Some(0), "{output}");
    assert!(
        !output.contains(" completed: records=0 "),
        "the second process had no work: {output}"
    );
    stack.assert_committed_is_stored();

    produce(&mut stack, 2_000);
    stack.wait_committed(&mut first);
    first.signal("TERM");
    let (code, output) = first.finish();
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(stack.committed(), log_ends(&stack));
    stack.assert_every_row_once();
}

#[test]
fn a_process_that_joins_and_leaves_in_the_middle_of_the_work_loses_and_doubles_nothing() {
    // A session that no busy machine lets expire: members leave of their own accord here.
    joins_and_leaves(|settings| {
        settings.set(
            "source.rdkafka",
            "{session.timeout.ms: 60000, heartbeat.interval.ms: 500}",
        )
    });
}

#[test]
fn under_the_brokers_own_protocol_it_loses_and_doubles_nothing_either() {
    // Sessions are the broker's there.
    joins_and_leaves(|settings| {
        settings
            .set("source.group_protocol", "consumer")
            .set("source.rdkafka", "{}")
    });
}

#[test]
fn of_two_processes_with_one_instance_id_the_older_stops_and_has_committed_nothing_that_is_not_stored()
 {
    let Some(mut stack) = Stack::apache(4) else {
        return;
    };
    let settings = stack
        .settings()
        .set("source.group_instance_id", "etl-1")
        .set("sink.batch.max_rows", 500)
        .set("pipeline.batch_records", 100)
        .set("checkpoint.interval", "100ms");
    stack.orders(0..20_000);
    let mut older = OrdersProcess::start(EXE, &settings);
    older.until("the first rows", || (stack.count() > 0).then_some(()));
    let mut newer = OrdersProcess::start(EXE, &settings);
    stack.orders(20_000..40_000);
    let (code, output) = older.finish();
    assert_eq!(code, Some(1), "{output}");
    for part in ["FENCED_INSTANCE_ID", "source.group_instance_id"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    stack.assert_committed_is_stored();
    stack.wait_committed(&mut newer);
    newer.signal("TERM");
    let (code, output) = newer.finish();
    assert_eq!(code, Some(0), "{output}");
    stack.assert_every_row();
}

#[test]
fn a_process_that_dies_is_replaced_by_the_other_one() {
    let Some(mut stack) = Stack::apache(8) else {
        return;
    };
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 500)
        .set("pipeline.batch_records", 100);
    stack.orders(0..20_000);
    let mut first = OrdersProcess::start(EXE, &settings);
    first.wrote("lane assigned");
    let mut second = OrdersProcess::start(EXE, &settings);
    second.wrote("lane assigned");
    stack.orders(20_000..60_000);
    second.kill();
    stack.assert_committed_is_stored();
    stack.orders(60_000..62_000);
    stack.wait_committed(&mut first);
    first.signal("TERM");
    let (code, output) = first.finish();
    assert_eq!(code, Some(0), "{output}");
    stack.assert_every_row();
}
