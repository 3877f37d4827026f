//! While nothing goes wrong.

use spate_it::{Run, Sample, Stack, orders, strict_orders};

#[test]
fn every_record_becomes_one_row_and_a_restart_reads_nothing_again() {
    let Some(mut stack) = Stack::start(4) else {
        return;
    };
    stack.orders(0..2_000);

    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().records, 2_000);
    assert_eq!(report.totals().unaccounted(), 0);
    assert_eq!(report.totals().sinks[0].rows, 2_000);
    stack.assert_every_row_once();
    assert_eq!(stack.committed(), stack.ends());

    // The committed offset is the next to read: the second run reads the new record, and nothing else.
    stack.orders_into(2, &[Sample::nth(9_999)]);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().records, 1);
    stack.assert_every_row_once();
}

#[test]
fn a_record_that_the_filter_drops_is_committed_without_an_insert() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    let unpaid = Sample {
        total_cents: -1,
        ..Sample::nth(1)
    }
    .framed(stack.schema_id());
    stack.no_rows((0..100).map(|n| (n % 2, unpaid.clone())));
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.stage("paid").map(|stage| stage.dropped), Some(100));
    assert_eq!(report.totals().sinks[0].blocks, 0, "{report}");
    stack.assert_every_row_once();
}

#[test]
fn tombstones_are_counted_by_name_and_committed() {
    for pipeline in [orders as fn() -> spate::Pipeline, strict_orders] {
        let Some(mut stack) = Stack::start(1) else {
            return;
        };
        stack.no_row(0, None);
        stack.orders_into(0, &[Sample::nth(1)]);
        stack.no_row(0, None);
        let mut run = Run::start(pipeline(), &stack.settings());
        stack.wait_committed(&mut run);
        let report = run.stop();
        assert_eq!(report.exit_code(), 0, "{report}");
        let decoder = report.stage("avro").expect("a stage");
        assert_eq!((decoder.tombstones, decoder.skipped), (2, 0), "{report}");
        assert_eq!(report.totals().unaccounted(), 0);
        stack.assert_every_row_once();
    }
}
