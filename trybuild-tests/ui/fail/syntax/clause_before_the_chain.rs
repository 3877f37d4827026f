// errors: 1

spate::pipeline! {
    pub orders {
        name = "paid-orders";
        kafka(topic = "orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
