// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders", group = "orders-etl")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
