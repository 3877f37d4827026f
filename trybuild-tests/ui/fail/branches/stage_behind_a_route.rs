// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            0 => drop,
            _ => map(|line| line.to_vec()),
        }
        -> capture
    }
}
