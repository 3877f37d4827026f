//! A bare chain is a value, which takes what is around it along.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

pub fn to_row(order: Order<'_>) -> OrderRow<'_> {
    OrderRow {
        order_id: order.order_id.unsigned_abs(),
        region: order.region,
        total_cents: order.total_cents,
        note: order.note,
    }
}

/// An orders pipeline of one region.
pub fn orders_of(region: String, min_cents: i64) -> spate::Pipeline {
    let tax = |cents: i64| cents * 19 / 100;
    spate::pipeline! {
        let region = region.clone();
        kafka
        -> avro::<Order<'_>>
        -> filter(|order| order.region == region && order.total_cents + tax(order.total_cents) >= min_cents)
        -> map(to_row)
        -> clickhouse
        name = "regional-orders";
    }
}
