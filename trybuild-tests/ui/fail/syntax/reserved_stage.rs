// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> window(60)
        -> clickhouse::<OrderRow>
    }
}
