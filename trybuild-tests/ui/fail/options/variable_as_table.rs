// errors: 1

spate::pipeline! {
    pub orders(table: String) {
        kafka(topic = "orders")
        -> avro::<Order>
        -> clickhouse::<OrderRow>(table = table)
    }
}
