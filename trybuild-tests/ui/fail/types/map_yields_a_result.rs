// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub total_cents: i64,
}

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

pub fn to_row(order: Order<'_>) -> Result<LineRow<'_>, StageError> {
    Ok(LineRow { order_id: u64::try_from(order.order_id)?, sku: order.region, qty: 1 })
}

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> map(to_row)
        -> clickhouse
    }
}
