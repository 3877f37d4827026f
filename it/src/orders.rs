//! The pipelines under test: one per error policy, the rest alike.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spate::Meta;
use spate::clickhouse::DateTime64Millis;
use spate::prelude::*;

/// An order as the topic has it.
#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc")]
pub struct Order<'a> {
    order_id: i64,
    region: &'a str,
    note: Option<&'a str>,
    total_cents: i64,
    created_at: TimestampMillis,
    lines: Seq<'a, Line<'a>>,
}

/// A line of an order.
#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc", record = "Line")]
pub struct Line<'a> {
    sku: &'a str,
    qty: i32,
}

/// A row of the table, with the partition and the offset of its record.
#[derive(Row)]
#[row(table = "sql/orders.sql")]
pub struct OrderRow<'a> {
    id: u64,
    part: i32,
    off: i64,
    region: &'a str,
    note: Option<&'a str>,
    total_cents: i64,
    created_at: DateTime64Millis,
    items: u32,
}

spate::pipeline! {
    /// Orders into the table; what cannot be read or stored is skipped.
    pub orders() {
        kafka
        -> avro::<Order>(on_error = skip)
        -> paid: filter(|o| o.total_cents >= 0)
        -> to_row: try_map(|o, meta| to_row(&o, meta), on_error = skip)
        -> clickhouse::<OrderRow>
    }

    /// The same, but what cannot be read or stored stops the pipeline.
    pub strict_orders() {
        kafka
        -> avro::<Order>
        -> paid: filter(|o| o.total_cents >= 0)
        -> to_row: try_map(|o, meta| to_row(&o, meta))
        -> clickhouse::<OrderRow>
    }

    /// Each order once per thread; `read` counts what was read, duplicates included.
    pub fresh_orders(read: Arc<AtomicU64>) {
        let mut seen = HashSet::new();

        kafka
        -> avro::<Order>
        -> inspect(|_| { read.fetch_add(1, Ordering::SeqCst); })
        -> fresh: filter(|o| seen.insert(o.order_id))
        -> to_row: try_map(|o, meta| to_row(&o, meta))
        -> clickhouse::<OrderRow>
    }

    /// The same. `made` counts how often a thread made its state: once, and once more whenever lanes are taken from it.
    /// `visit` sees the number of every order.
    pub watched_orders(made: Arc<AtomicU64>, visit: fn(i64)) {
        let _made = made.fetch_add(1, Ordering::SeqCst);
        kafka
        -> avro::<Order>
        -> inspect(|o| visit(o.order_id))
        -> to_row: try_map(|o, meta| to_row(&o, meta))
        -> clickhouse::<OrderRow>
    }
}

fn to_row<'a>(order: &Order<'a>, meta: Meta<'_>) -> Result<OrderRow<'a>, StageError> {
    let mut items = 0;
    for line in order.lines {
        if line.sku.is_empty() {
            return Err(StageError::new("a line without an article"));
        }
        items += u32::try_from(line.qty)?;
    }
    Ok(OrderRow {
        id: u64::try_from(order.order_id)?,
        part: meta.partition(),
        off: meta.offset(),
        region: order.region,
        note: order.note,
        total_cents: order.total_cents,
        created_at: DateTime64Millis(order.created_at.0),
        items,
    })
}
