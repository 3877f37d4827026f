// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> 5
        -> clickhouse::<OrderRow>
    }
}
