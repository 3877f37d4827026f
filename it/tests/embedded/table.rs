//! A table that is not what the row was compiled for.

use spate_it::{Run, Stack, orders, strict_orders};

use crate::{assert_names, failure};

#[test]
fn a_missing_table_is_an_error_that_names_it_and_nothing_is_read() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..100);
    stack.db.execute("DROP TABLE orders SYNC").expect("dropped");
    let report = Run::start(orders(), &stack.settings()).report();
    assert_names(
        &failure(&report),
        &[
            "sink `clickhouse`",
            stack.db.name(),
            "orders",
            "does not exist",
        ],
    );
    assert_eq!(report.totals().records, 0);
    assert_eq!(stack.committed(), [0]);
}

#[test]
fn a_table_that_is_dropped_in_mid_run_ends_the_pipeline_with_nothing_committed_past_it() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    stack.orders(0..100);
    let settings = stack.settings().set("sink.retry.give_up_after", "10s");
    let mut run = Run::start(orders(), &settings);
    stack.wait_committed(&mut run);
    let before = stack.committed();
    stack.assert_every_row_once();
    stack
        .db
        .execute("RENAME TABLE orders TO put_away")
        .expect("renamed");
    stack.orders(100..200);
    let report = run.report();
    assert_names(&failure(&report), &["sink `clickhouse`", "orders", "60"]);
    assert_eq!(stack.committed(), before);

    stack
        .db
        .execute("RENAME TABLE put_away TO orders")
        .expect("renamed");
    let mut run = Run::start(orders(), &settings);
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row_once();
}

#[test]
fn a_column_that_was_altered_before_the_start_is_an_error_that_names_it() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..10);
    stack
        .db
        .execute("ALTER TABLE orders MODIFY COLUMN items Int64")
        .expect("altered");
    let report = Run::start(orders(), &stack.settings()).report();
    assert_names(
        &failure(&report),
        &["sink `clickhouse`", "items", "UInt32", "Int64"],
    );
    assert_eq!(report.totals().records, 0);
}

#[test]
fn a_column_that_is_altered_in_mid_run_ends_the_pipeline_and_stores_no_wrong_value() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    stack.orders(0..100);
    // As wide as before, and wider: neither may be read as what it is not.
    for ty in ["Float64", "Int128"] {
        let mut run = Run::start(orders(), &stack.settings());
        stack.wait_stored(&mut run);
        stack.wait_committed(&mut run);
        let (before, rows) = (stack.committed(), stack.count());
        alter(&stack, ty);
        stack.orders(rows..rows + 100);
        let report = run.report();
        assert_names(&failure(&report), &["sink `clickhouse`", "total_cents", ty]);
        assert_eq!(stack.committed(), before, "{ty}");
        assert_eq!(stack.count(), rows, "{ty}");
        alter(&stack, "Int64");
    }
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row_once();
}

fn alter(stack: &Stack<'_>, ty: &str) {
    let sql = format!("ALTER TABLE orders MODIFY COLUMN total_cents {ty}");
    stack.db.execute(&sql).expect("altered");
}

#[test]
fn a_column_that_is_added_with_a_default_in_mid_run_changes_nothing() {
    let Some(mut stack) = Stack::start(2) else {
        return;
    };
    stack.orders(0..100);
    let mut run = Run::start(strict_orders(), &stack.settings());
    stack.wait_committed(&mut run);
    stack
        .db
        .execute("ALTER TABLE orders ADD COLUMN seen DateTime DEFAULT now() FIRST")
        .expect("altered");
    stack.orders(100..200);
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row_once();
}

#[test]
fn a_row_that_breaks_a_constraint_ends_the_pipeline_with_nothing_committed_past_it() {
    let Some(mut stack) = Stack::start(1) else {
        return;
    };
    stack.orders(0..1_000);
    stack
        .db
        .execute("ALTER TABLE orders ADD CONSTRAINT small CHECK id != 500")
        .expect("altered");
    let report = Run::start(orders(), &stack.settings()).report();
    assert_names(&failure(&report), &["sink `clickhouse`", "469", "small"]);
    let committed = stack.assert_committed_is_stored();
    assert!(committed[0] <= 500, "{committed:?}");

    stack
        .db
        .execute("ALTER TABLE orders DROP CONSTRAINT small")
        .expect("altered");
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    assert_eq!(run.stop().exit_code(), 0);
    stack.assert_every_row();
}
