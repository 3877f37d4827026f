// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> map(async |order| look_up(order).await)
        -> clickhouse::<OrderRow>
    }
}
