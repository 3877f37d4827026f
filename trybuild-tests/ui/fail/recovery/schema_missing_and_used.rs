// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/ordr.avsc")]
pub struct Order<'a> {
    pub region: &'a str,
    pub total_cents: i64,
}

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> filter(|order| order.total_cents > 0)
        -> map(|order| order.region)
        -> capture
    }
}
