// errors: 1

pub struct Order {
    pub region: String,
}

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> map(|order| order.region)
        -> capture
    }
}
