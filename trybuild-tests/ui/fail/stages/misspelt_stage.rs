// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> fliter(|order| order.total_cents > 0)
        -> clickhouse::<OrderRow>
    }
}
