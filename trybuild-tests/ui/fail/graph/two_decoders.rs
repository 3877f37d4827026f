// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> bytes
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
