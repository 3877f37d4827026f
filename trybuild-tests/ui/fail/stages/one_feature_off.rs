// package: bare
// errors: 1

pub struct Order;

spate::pipeline! {
    pub orders { memory -> avro::<Order> -> capture }
}
