// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            "short" => short: capture,
            _ => drop,
        }
    }
}
