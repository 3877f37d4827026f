//! Guards that bind, as in any `match`.

macro_rules! half {
    ($of:expr) => {
        $of.split_at($of.len() / 2).0
    };
}

spate::pipeline! {
    pub lines(first: Option<u8>, words: Vec<u8>) {
        memory
        -> bytes
        -> route(|line| line.first().copied()) {
            Some(byte) if let Some(first) = first && byte == first => first: capture,
            Some(byte) if byte > 9 && let Some(first @ 1..=5) = first && matches!(byte, b'a'..=b'z') && first > 1 => second: capture,
            _ if let [b'#', ..] = half!(words.as_slice()) && words.len() > 1 => third: capture,
            _ => rest: discard,
        }
    }
}
