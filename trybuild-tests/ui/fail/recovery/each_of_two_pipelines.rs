// errors: 2

spate::pipeline! {
    pub orders {
        kafka(topic = "orders") -> avro::<Order> -> clikhouse::<OrderRow>
    }

    pub refunds {
        kafka(topic = "refunds") -> avro::<Refund> -> map()
        -> clickhouse::<RefundRow>
    }
}
