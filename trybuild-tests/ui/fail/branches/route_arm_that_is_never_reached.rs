// errors: 1

#![deny(unreachable_patterns)]

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            0 => drop,
            1..=9 => short: capture,
            5 => five: capture,
            _ => long: capture,
        }
    }
}
