// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> if order.total_cents > 0 { map(to_row) }
        -> clickhouse::<OrderRow>
    }
}
