// package: values
// errors: 1

use spate::avro;

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<avro::Value>
        -> filter(|order| order.order_id > 0)
        -> map(|order| order.to_string())
        -> capture
    }
}
