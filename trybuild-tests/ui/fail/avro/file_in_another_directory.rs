// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "order.avsc")]
pub struct Order {
    pub order_id: i64,
}
