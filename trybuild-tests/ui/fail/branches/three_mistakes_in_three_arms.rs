// errors: 3

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> tee {
            a: fliter(|line| line.len() > 1) -> capture,
            b: try_map(|line| Ok(line.len() as u64), on_error = skp) -> capture,
            c: map(|line| line.len() as u64),
        }
    }
}
