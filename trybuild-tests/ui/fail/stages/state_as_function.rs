// errors: 1

spate::pipeline! {
    pub orders {
        let mut convert = Converter::new("EUR");
        kafka(topic = "orders")
        -> avro::<Order>
        -> map(convert)
        -> clickhouse::<OrderRow>
    }
}
