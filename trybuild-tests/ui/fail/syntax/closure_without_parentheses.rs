// errors: 2

spate::pipeline! {
    pub lines {
        memory -> bytes -> map |line| line.to_vec() -> capture
    }

    pub sorted {
        memory -> bytes -> route |line| line.len() { 0 => drop, _ => capture }
    }
}
