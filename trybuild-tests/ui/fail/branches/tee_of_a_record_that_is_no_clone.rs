// errors: 1

pub struct Line(Vec<u8>);

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> map(|line| Line(line.to_vec()))
        -> tee {
            all: map(|line| line.0) -> capture,
            long: filter(|line| line.0.len() > 9) -> map(|line| line.0) -> capture,
        }
    }
}
