// errors: 1

spate::pipeline! {
    pub fn orders() {
        kafka(topic = "orders") -> avro::<Order> -> clickhouse::<OrderRow>
    }
}
