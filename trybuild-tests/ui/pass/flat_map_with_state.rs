//! State is borrowed by the closures of all stages, each in its turn, and lives as long as its thread.

use std::collections::HashMap;

spate::pipeline! {
    pub words {
        let mut counts: HashMap<u8, u64> = HashMap::new();
        let mut buffer = Vec::new();
        memory
        -> bytes
        -> inspect(|_| buffer.clear())
        -> flat_map(|line| {
            buffer.extend(line.iter().copied().filter(u8::is_ascii_alphanumeric));
            std::mem::take(&mut buffer)
        })
        -> map(|byte| {
            let count = counts.entry(byte).or_default();
            *count += 1;
            (byte, *count)
        })
        -> filter(|(_, count)| *count < 10)
        -> map(|(byte, count)| format!("{byte} {count}"))
        -> capture
    }
}
