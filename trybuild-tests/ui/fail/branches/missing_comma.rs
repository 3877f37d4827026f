// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            0 => drop
            1..=9 => short: capture,
            _ => long: capture,
        }
    }
}
