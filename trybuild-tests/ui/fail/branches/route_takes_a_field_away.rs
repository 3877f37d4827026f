// errors: 1

pub struct Line {
    pub kind: String,
    pub text: Vec<u8>,
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> map(|line| Line { kind: String::new(), text: line.to_vec() })
        -> route(|line| line.kind) {
            kind if kind.is_empty() => drop,
            _ => map(|line| line.text) -> capture,
        }
    }
}
