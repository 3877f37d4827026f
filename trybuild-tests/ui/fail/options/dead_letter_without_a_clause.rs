// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>(on_error = dead_letter)
        -> clickhouse::<OrderRow>
    }
}
