//! Two members of one group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use spate_it::{Run, Stack, Watched as _, fresh_orders};
use spate_test::services::{ClickHouse, ClickHouseOptions, FaultKind};

/// What was in flight when partitions went is not remembered as seen: whoever reads it again writes it.
#[test]
fn a_deduplicating_pipeline_whose_partitions_are_taken_in_the_middle_of_an_outage_loses_nothing() {
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(mut stack) = Stack::with_clickhouse(&server, 4) else {
        return;
    };
    const ORDERS: u64 = 400;
    stack.orders(0..ORDERS);
    server
        .fault(FaultKind::Error, 210, 1_000_000, "INSERT INTO")
        .expect("injected");
    let read = Arc::new(AtomicU64::new(0));
    let all = |times: u64| (read.load(Ordering::SeqCst) >= times * ORDERS).then_some(());
    // The outage is longer than a revocation waits.
    let settings = stack.settings().set("sink.retry.give_up_after", "10m");

    let mut first = Run::start(fresh_orders(Arc::clone(&read)), &settings);
    first.until("the first member has read everything", || all(1));
    let mut second = Run::start(fresh_orders(Arc::clone(&read)), &settings);
    second.until("both have read their partitions again", || all(2));
    first.until("both have read their partitions again", || all(2));
    // Some intervals of commits later, nothing is committed: nothing is stored.
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        assert_eq!(stack.committed(), [0; 4]);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(stack.count(), 0);

    server.clear_faults().expect("cleared");
    stack.wait_committed(&mut first);
    for run in [first, second] {
        let report = run.stop();
        assert!(report.failure().is_none(), "{report}");
    }
    stack.assert_every_row();
}
