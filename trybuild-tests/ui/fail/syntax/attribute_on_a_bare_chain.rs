// errors: 1

pub fn orders() -> spate::Pipeline {
    spate::pipeline! {
        /// Orders.
        memory -> bytes -> discard
    }
}
