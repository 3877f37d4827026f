// errors: 5

macro_rules! skip {
    () => {
        continue
    };
}

fn checked(line: &[u8], _: bool) -> &[u8] {
    line
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> filter(|line| line.len() > { if line.is_empty() { continue } 1 })
        -> filter(|line| line.is_empty() || skip!())
        -> map(|line| checked(line, skip![]))
        -> map(|line| { let lazy = move || line; if line.is_empty() { skip!{} } lazy() })
        -> map(|line| line.get(..{ if line.len() > 9 { break } 1 }).unwrap_or(line))
        -> capture
    }
}
