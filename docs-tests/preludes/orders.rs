use std::collections::HashMap;
use std::time::Duration;

use spate::ops::{Lookup, RateLimit, Recent, Sample};
use spate::prelude::*;

#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "schemas/order.avsc")]
struct Order<'a> {
    order_id: i64,
    region: &'a str,
    total_cents: i64,
    coupon: Option<&'a str>,
    placed_at: TimestampMillis,
    lines: Seq<'a, Line<'a>>,
}

#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "schemas/order.avsc", record = "Line")]
struct Line<'a> {
    sku: &'a str,
    qty: i32,
}

#[derive(Row)]
#[row(table = "sql/orders.sql")]
struct OrderRow<'a> {
    order_id: u64,
    region: &'a str,
    total_cents: i64,
    placed_at: DateTime64Millis,
}

#[derive(Row)]
#[row(table = "sql/lines.sql")]
struct LineRow<'a> {
    order_id: u64,
    sku: &'a str,
    qty: u32,
}

fn to_row(order: Order<'_>) -> OrderRow<'_> {
    OrderRow {
        order_id: order.order_id.unsigned_abs(),
        region: order.region,
        total_cents: order.total_cents,
        placed_at: DateTime64Millis(order.placed_at.0),
    }
}

fn checked(order: Order<'_>) -> Result<OrderRow<'_>, StageError> {
    Ok(OrderRow {
        order_id: u64::try_from(order.order_id)?,
        ..to_row(order)
    })
}
