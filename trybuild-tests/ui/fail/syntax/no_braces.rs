// errors: 1

spate::pipeline! {
    pub orders kafka -> avro::<Order> -> clickhouse::<OrderRow>
}
