// errors: 1

spate::pipeline! {
    pub orders {
        kafka("orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
