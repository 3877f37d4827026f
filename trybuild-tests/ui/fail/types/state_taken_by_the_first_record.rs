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
        let suffix = String::from("!");
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> map(|order| { let mut text = suffix; text.insert_str(0, order.region); text })
        -> capture
    }
}
