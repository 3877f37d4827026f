//! What a closure may hold means the same in every stage: names, shadowing, temporaries, nested items and mutable records.
#![deny(warnings)]

use std::cell::RefCell;

spate::pipeline! {
    pub lines(least: usize) {
        let words = RefCell::new(Vec::<Vec<u8>>::new());
        let mut r = 0_usize;
        memory
        -> bytes
        -> filter(|r| { let least = least + 1; r.len() >= least })
        -> filter(|keep| keep.len() > r)
        -> filter(|line| !words.borrow().iter().any(|word| word == line))
        -> filter(|line| words.borrow().first().map_or(true, |first| first.as_slice() != *line))
        -> map(|line| { r += 1; words.borrow_mut().push(line.to_vec()); line })
        -> map(|mut line| { line = line.strip_prefix(b"#".as_slice()).unwrap_or(line); line })
        -> map(|line| { const LONG: usize = 80; fn long(n: usize) -> bool { n > LONG } (line, long(line.len())) })
        -> filter(|pair| pair.1)
        -> map(|out| { let batch = out.0; batch.to_vec() })
        -> map(|record| unsafe_free(record))
        -> filter(|value| { let value = value.len(); value < 1000 })
        -> capture
    }
}

fn unsafe_free(mut line: Vec<u8>) -> Vec<u8> {
    line.dedup();
    line
}
