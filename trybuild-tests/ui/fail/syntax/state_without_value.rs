// errors: 1

spate::pipeline! {
    pub orders {
        let mut seen;
        kafka(topic = "orders")
        -> avro::<Order>
        -> filter(|order| seen.insert(order.order_id))
        -> clickhouse::<OrderRow>
    }
}
