// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> tee(all: capture, none: discard)
    }
}
