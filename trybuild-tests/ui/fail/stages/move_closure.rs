// errors: 1

spate::pipeline! {
    pub orders {
        let mut n = 0;
        kafka(topic = "orders")
        -> avro::<Order>
        -> map(move |order| { n += 1; (n, order) })
        -> clickhouse::<OrderRow>
    }
}
