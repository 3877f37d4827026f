// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> filter(|line| {
            if line.is_empty() {
                return;
            }
            line.len() < 80
        })
        -> capture
    }
}
