// errors: 1

spate::pipeline! {
    pub lines(mark: &str) {
        memory
        -> bytes
        -> filter(|line| !line.starts_with(mark.as_bytes()))
        -> capture
    }
}
