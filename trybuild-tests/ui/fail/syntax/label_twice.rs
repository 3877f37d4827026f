// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> clean: filter(|order| order.total_cents > 0)
        -> clean: map(to_row)
        -> clickhouse::<OrderRow>
    }
}
