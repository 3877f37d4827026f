// errors: 1

spate::pipeline! {
    pub orders() -> Pipeline {
        kafka(topic = "orders") -> avro::<Order> -> clickhouse::<OrderRow>
    }
}
