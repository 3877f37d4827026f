// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub total_cents: i64,
}

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> map(convert::to_text)
        -> capture
    }
}
