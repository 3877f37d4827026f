// errors: 1

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<Order>
        -> match order.kind { Kind::Paid => clickhouse::<OrderRow>, _ => drop }
    }
}
