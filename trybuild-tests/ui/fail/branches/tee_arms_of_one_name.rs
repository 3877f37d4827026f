// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> tee {
            all: capture,
            all: filter(|line| line.len() > 9) -> capture,
        }
    }
}
