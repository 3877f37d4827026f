// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>(on_error = "skip")
        -> clickhouse::<OrderRow>
    }
}
