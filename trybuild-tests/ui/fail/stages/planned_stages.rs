// errors: 3

spate::pipeline! {
    pub orders {
        kafka(topic = "orders")
        -> json::<Order>
        -> kafka(topic = "out")

        dead_letter = capture;
    }
}
