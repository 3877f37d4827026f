// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order<'_>>
        -> map(|order| order.region)
        -> capture
    }
}
