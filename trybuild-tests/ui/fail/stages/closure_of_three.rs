// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> filter(|order, meta, limit| order.total_cents > limit)
        -> clickhouse::<OrderRow>
    }
}
