// errors: 1

spate::pipeline! {
    pub orders(limit) {
        kafka(topic = "orders")
        -> avro::<Order>
        -> filter(|order| order.total_cents > limit)
        -> clickhouse::<OrderRow>
    }
}
