// errors: 1

spate::pipeline! {
    pub orders {
        mut seen = Recent::new(100);
        kafka(topic = "orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
