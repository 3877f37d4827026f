//! A closure with two parameters gets the record's metadata; all of it.

use spate::prelude::*;

fn place(meta: spate::Meta<'_>) -> String {
    format!("{}/{}@{} {:?} {:?}", meta.topic(), meta.partition(), meta.offset(), meta.timestamp(), meta.key())
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> filter(|_, meta| meta.offset() % 2 == 0)
        -> inspect(|line: &&[u8], meta| println!("{} {}", line.len(), place(meta)))
        -> filter_map(|line, meta| meta.headers().get("kind").map(|kind| (kind, line)))
        -> flat_map(|(kind, line), meta| [(kind, line, meta.partition()), (line, kind, 0)])
        -> try_map(|(kind, line, partition), meta| match meta.timestamp() {
            Some(millis) => Ok(format!("{partition} {millis} {} {}", std::str::from_utf8(kind)?, line.len())),
            None => Err(StageError::new("no timestamp")),
        }, on_error = skip)
        -> map(|text, meta| format!("{text} {}", place(meta)))
        -> capture
    }
}
