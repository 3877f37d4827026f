// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", compat = "files/old/several.avsc")]
pub struct Order {
    pub order_id: i64,
}
