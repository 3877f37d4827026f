// errors: 2

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", compat = ["files/old/without_region.avsc", "files/order.avsc", "files/old/purchase.avsc"])]
pub struct Order {
    pub order_id: i64,
}
