//! Generated code keeps to the strictest lints that its surroundings may set, and documents what it makes.
#![deny(warnings, missing_docs, unsafe_code, missing_debug_implementations, unused_qualifications, unreachable_pub)]
#![deny(unused, let_underscore_drop, elided_lifetimes_in_paths, single_use_lifetimes, unused_results, variant_size_differences)]
#![deny(trivial_casts, trivial_numeric_casts, unused_lifetimes, keyword_idents, non_ascii_idents, rust_2018_idioms)]

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
#[derive(Debug)]
/// An order.
pub struct Order<'a> {
    /// Its number.
    pub order_id: i64,
    /// Where.
    pub region: &'a str,
    /// How much.
    pub total_cents: i64,
    /// What else.
    pub note: Option<&'a str>,
    /// What was bought.
    pub lines: Seq<'a, Line<'a>>,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Line")]
#[derive(Clone, Copy, Debug)]
/// A line.
pub struct Line<'a> {
    /// What.
    pub sku: &'a str,
}

#[derive(Row)]
#[row(table = "files/orders.sql")]
#[derive(Debug)]
/// A row.
pub struct OrderRow<'a> {
    /// Its number.
    pub order_id: u64,
    /// Where.
    pub region: &'a str,
    /// How much.
    pub total_cents: i64,
    /// What else.
    pub note: Option<&'a str>,
}

/// The row of an order.
pub fn to_row(order: Order<'_>) -> OrderRow<'_> {
    OrderRow {
        order_id: order.order_id.unsigned_abs(),
        region: order.region,
        total_cents: order.total_cents,
        note: order.note,
    }
}

spate::pipeline! {
    /// Orders that are worth something.
    pub orders(min_cents: i64) {
        let mut read = 0_u64;
        kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> inspect(|_| read += 1)
        -> filter(|order| order.total_cents >= min_cents)
        -> try_map(|order| if order.region.is_empty() { Err(StageError::new("no region")) } else { Ok(to_row(order)) })
        -> clickhouse::<OrderRow<'_>>
    }

    /// One parameter is used by the state alone.
    pub lines(first: u64) {
        let mut next = first;
        memory -> bytes -> flat_map(|line| line.to_vec()) -> filter(|_| { next += 1; next > 4 }) -> map(|byte| [byte].to_vec()) -> capture
    }
}
