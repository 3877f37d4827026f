//! Every stage and both derives under the strictest lints of clippy, for which a test runs it: what is generated offends none.
#![deny(warnings, missing_docs, unsafe_code)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![deny(clippy::unwrap_used, clippy::panic, clippy::unreachable, clippy::shadow_unrelated, clippy::indexing_slicing, clippy::as_conversions)]
// A function that is a stage takes the record as it comes.
#![allow(clippy::needless_pass_by_value)]

use std::collections::HashSet;

use spate::clickhouse::DateTime64Millis;
use spate::prelude::*;

/// An order.
#[derive(AvroRecord, Clone)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    /// Its number.
    pub order_id: i64,
    /// Where.
    pub region: &'a str,
    /// How much.
    pub total_cents: i64,
    /// What else.
    pub note: Option<&'a str>,
    /// When.
    pub placed_at: TimestampMillis,
    /// What was bought.
    pub lines: Seq<'a, Line<'a>>,
}

/// A line of an order.
#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "files/order.avsc", record = "Line")]
pub struct Line<'a> {
    /// What.
    pub sku: &'a str,
    /// How many.
    pub qty: i32,
}

/// A row of an order.
#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    /// Its number.
    pub order_id: u64,
    /// Where.
    pub region: &'a str,
    /// How much.
    pub total_cents: i64,
    /// What else.
    pub note: Option<&'a str>,
    /// When.
    pub placed_at: DateTime64Millis,
}

/// A row of a line.
#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    /// Of which order.
    pub order_id: u64,
    /// What.
    pub sku: &'a str,
    /// How many.
    pub qty: u32,
}

fn to_row(order: Order<'_>) -> Result<OrderRow<'_>, StageError> {
    let Order { order_id, region, total_cents, note, placed_at, .. } = order;
    let order_id = u64::try_from(order_id)?;
    Ok(OrderRow { order_id, region, total_cents, note, placed_at: DateTime64Millis(placed_at.0) })
}

fn marked<'a>(order: Order<'a>, mark: Option<&'a str>) -> Order<'a> {
    Order { note: order.note.or(mark), ..order }
}

spate::pipeline! {
    /// Orders and their lines.
    pub orders(min_cents: i64, home: String) {
        let mut seen = HashSet::new();
        let mut count = 0_u64;

        kafka(topic = "orders")
        -> order: avro::<Order<'_>>(on_error = skip)
        -> filter(|order| order.total_cents >= min_cents)
        -> fresh: filter(|order, meta| seen.insert((order.order_id, meta.partition())))
        -> inspect(|_| count += 1)
        -> map(|order| Order { total_cents: order.total_cents.abs(), ..order })
        -> try_filter(|order| Ok(u32::try_from(order.total_cents)? > 1), on_error = skip)
        -> self::marked(option_env!("MARK"))
        -> route(|order| (order.region, order.lines.len())) {
            ("", _) => nowhere: drop,
            (region, 1..) if region == home && matches!(region, "eu" | "us") => try_map(to_row, on_error = skip) -> home: clickhouse,
            (_, 0) => drop,
            _ => tee {
                rows: try_map(to_row) -> clickhouse::<OrderRow<'_>>(table = "orders", on_error = fail),
                lines: flat_map(|order| order.lines.into_iter().map(move |line| (order.order_id, line)))
                    -> filter_map(|(id, line)| u32::try_from(line.qty).ok().map(|qty| (id, line.sku, qty)))
                    -> try_map(|(id, sku, qty)| Ok(LineRow { order_id: id.try_into()?, sku, qty }), on_error = skip)
                    -> clickhouse(table = "lines"),
                skus: try_flat_map(|order| if order.note.is_none() { Ok(order.lines) } else { Err(StageError::new("a note")) }, on_error = skip)
                    -> map(|line| line.sku)
                    -> capture(on_error = skip),
                rest: discard,
            },
        }

        name = "orders-and-lines";
        on_error = fail;
    }
}

/// A bare chain.
pub fn lines(longest: usize) -> spate::Pipeline {
    spate::pipeline! { memory -> bytes -> filter(|line| line.len() <= longest) -> discard }
}
