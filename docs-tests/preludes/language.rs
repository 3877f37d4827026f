use std::collections::HashSet;

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc")]
struct Order<'a> {
    order_id: i64,
    region: &'a str,
    total_cents: i64,
}

#[derive(Row)]
#[row(table = "sql/paid.sql")]
struct OrderRow<'a> {
    order_id: u64,
    region: &'a str,
    read_at: i64,
}

fn to_row(order: Order<'_>, offset: i64) -> Result<OrderRow<'_>, StageError> {
    Ok(OrderRow {
        order_id: order.order_id.try_into()?,
        region: order.region,
        read_at: offset,
    })
}
