// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> route(|order| order.kind) {
            Kind::Sale => clickhouse::<Sale>,
            Kind::Refund => clickhouse::<Refund>,
        }
    }
}
