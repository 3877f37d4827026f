//! No argument, no turbofish: the closure names the record, and its value the row.

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

spate::pipeline! {
    pub orders {
        kafka
        -> avro
        -> map(|order: Order<'_>| to_row(order))
        -> filter(|row| row.total_cents > 0)
        -> clickhouse
    }
}
