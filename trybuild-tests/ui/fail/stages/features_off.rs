// errors: 3
// package: bare

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
