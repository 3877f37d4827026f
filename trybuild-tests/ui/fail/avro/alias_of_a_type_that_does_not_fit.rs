// errors: 1

use spate::prelude::*;

type Id = u64;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub order_id: Id,
}
