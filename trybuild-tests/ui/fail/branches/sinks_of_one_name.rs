// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.first()) {
            Some(b'#') => capture,
            Some(_) => filter(|line| line.len() > 1) -> capture,
            None => drop,
        }
    }
}
