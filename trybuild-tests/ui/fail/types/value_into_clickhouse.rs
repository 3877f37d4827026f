// package: values
// errors: 1

use spate::avro;

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<avro::Value>
        -> filter(|order| order.get("order_id").is_some())
        -> clickhouse
    }
}
