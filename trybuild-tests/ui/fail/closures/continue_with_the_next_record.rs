// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> map(|line| if line.is_empty() { continue } else { line }) -> capture
    }
}
