//! Two pipelines of one block share nothing but its types.

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
        kafka -> avro::<Order<'_>> -> map(to_row) -> clickhouse
    }

    /// Regions.
    pub(crate) regions() {
        kafka(topic = "orders") -> avro -> map(|order: Order<'_>| order.region) -> capture
    }
}

/// Both.
pub fn both() -> [spate::Pipeline; 2] {
    [orders(), regions()]
}
