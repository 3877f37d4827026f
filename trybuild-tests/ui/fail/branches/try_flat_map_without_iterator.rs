// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> try_flat_map(|line| Ok(line.len())) -> discard
    }
}
