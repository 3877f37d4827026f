// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic => "orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
