// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            n if n > 0 => map(|line| (line[0], n).0) -> discard,
            _ => drop,
        }
    }
}
