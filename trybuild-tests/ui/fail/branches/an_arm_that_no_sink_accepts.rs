// errors: 1

pub struct Line(Vec<u8>);

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            0 => drop,
            1..=9 => short: capture,
            _ => map(|line| Line(line.to_vec())) -> long: capture,
        }
    }
}
