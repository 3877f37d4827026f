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
        let mut regions = std::collections::HashSet::new();
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> filter(|order| regions.insert(order.region))
        -> map(|order| order.region)
        -> capture
    }
}
