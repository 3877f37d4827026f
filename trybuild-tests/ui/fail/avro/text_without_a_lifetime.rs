// errors: 1

//! A field borrows from the payload and does not say so: rustc asks for the lifetime, once.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub order_id: i64,
    pub region: &str,
}

spate::pipeline! {
    orders {
        kafka -> avro::<Order> -> filter(|order| order.order_id > 0) -> discard
    }
}
