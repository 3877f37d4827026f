// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders", topic = "refunds")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
