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
        kafka -> avro::<Order<'_>>(pushdown = never) -> filter(|order| order.total_cents > 0) -> map(|order| order.region) -> capture
    }
}
