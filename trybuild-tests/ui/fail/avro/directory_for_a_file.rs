// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "src")]
pub struct Order {
    pub order_id: i64,
}
