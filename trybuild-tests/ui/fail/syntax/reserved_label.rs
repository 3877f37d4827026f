// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> join: map(to_row)
        -> clickhouse::<OrderRow>
    }
}
