// errors: 3

spate::pipeline! {
    pub orders {
        kafka(topik = "orders")
        -> avro::<Order>
        -> fliter(|order| order.total_cents > 0)
        -> map(|order| order.)
        -> clickhouse::<OrderRow>
    }
}
