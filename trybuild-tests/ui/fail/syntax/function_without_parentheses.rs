// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> map to_row
        -> clickhouse::<OrderRow>
    }
}
