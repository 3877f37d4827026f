// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "my orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
