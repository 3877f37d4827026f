// errors: 1

spate::pipeline! {
    pub lines {
        let limit: usize = std::env::var("LIMIT")?;
        memory
        -> bytes
        -> filter(|line| line.len() > limit)
        -> capture
    }
}
