// errors: 1

pub enum Kind {
    Short,
    Long,
    Odd,
}

fn kind(line: &[u8]) -> Kind {
    if line.len() % 2 == 1 {
        Kind::Odd
    } else if line.len() < 10 {
        Kind::Short
    } else {
        Kind::Long
    }
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| kind(line)) {
            Kind::Short => short: capture,
            Kind::Long => long: capture,
        }
    }
}
