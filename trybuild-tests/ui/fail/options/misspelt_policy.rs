// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> try_map(|line| Ok(std::str::from_utf8(line)?), on_error = skipp) -> capture
    }
}
