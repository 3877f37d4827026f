// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> map(|line, meta| (meta.ofset(), line.len()))
        -> discard
    }
}
