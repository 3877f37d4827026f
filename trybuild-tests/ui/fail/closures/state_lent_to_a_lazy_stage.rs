// errors: 1

spate::pipeline! {
    pub words {
        let mut seen = std::collections::HashSet::<Vec<u8>>::new();
        memory
        -> bytes
        -> flat_map(|line| line.split(|byte| *byte == b' ').filter(|word| seen.insert(word.to_vec())))
        -> filter(|word| !seen.contains(*word))
        -> capture
    }
}
