// errors: 1

use spate::avro;

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> avro::<avro::Value>
        -> capture
    }
}
