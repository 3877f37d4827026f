// package: values
// errors: 1

use spate::avro;
use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<avro::Value>
        -> clickhouse::<OrderRow<'_>>
    }
}
