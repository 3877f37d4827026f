// errors: 1
// repeated: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders");
        avro::<Order>
        -> clickhouse::<OrderRow>
    }
}
