// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = 5)
        -> avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
