// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro("files/order.avsc")]
pub struct Order {
    pub order_id: i64,
}
