// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> filter(|order| order.total_cents > 0)
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
