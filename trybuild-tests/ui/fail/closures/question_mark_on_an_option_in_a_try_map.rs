// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> try_map(|line| Ok(line.first()?.to_string()), on_error = skip) -> capture
    }
}
