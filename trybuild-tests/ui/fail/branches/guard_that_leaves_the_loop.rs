// errors: 4

fn size(line: &[u8]) -> Option<usize> {
    (!line.is_empty()).then_some(line.len())
}

macro_rules! next {
    () => {
        continue
    };
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| *line) {
            line if line.len() > 80 || { if line.is_empty() { continue } false } => long: capture,
            line if size(line)? > 40 => half: capture,
            line if { if line.len() > 20 { return Ok(()); } true } => short: capture,
            line if line == b"#" || next!() => drop,
            _ => rest: capture,
        }
    }
}
