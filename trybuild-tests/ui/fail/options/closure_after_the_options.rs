// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> try_map(on_error = skip, |order| to_row(order))
        -> clickhouse::<OrderRow>
    }
}
