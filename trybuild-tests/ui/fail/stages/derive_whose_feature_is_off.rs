// package: bare
// errors: 2

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    #[avro(rename = "region")]
    pub country: &'a str,
}

#[derive(Clone, spate::Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow {
    pub order_id: u64,
}
