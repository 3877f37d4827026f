// errors: 1

spate::pipeline! {
    pub orders
}
