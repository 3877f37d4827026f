// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            0 => useless: drop,
            1..10 => capture,
            _ => useless: drop,
        }
    }
}
