// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> try_filter(|line| line.len() > 1) -> capture
    }
}
