// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro
        -> filter(|order| order.total_cents > 0)
        -> clickhouse
    }
}
