// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.json")]
pub struct Order {
    pub order_id: i64,
}
