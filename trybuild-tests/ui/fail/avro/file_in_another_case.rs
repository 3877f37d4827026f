// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/Order.AVSC")]
pub struct Order {
    pub order_id: i64,
}
