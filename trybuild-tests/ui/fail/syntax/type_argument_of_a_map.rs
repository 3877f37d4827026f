// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> map::<OrderRow>(to_row)
        -> clickhouse::<OrderRow>
    }
}
