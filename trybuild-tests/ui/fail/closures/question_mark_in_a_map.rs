// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> map(|line| std::str::from_utf8(line)?.len().to_string()) -> capture
    }
}
