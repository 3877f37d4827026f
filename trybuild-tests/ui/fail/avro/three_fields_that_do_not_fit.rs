// errors: 3

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub order_id: String,
    pub region: i64,
    pub totals: i64,
}
