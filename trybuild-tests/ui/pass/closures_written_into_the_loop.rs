//! A closure may be written into the loop: whatever its body looks like, it means what it means as a closure, and no lint finds fault.
#![deny(warnings, missing_docs)]

use std::cell::RefCell;
use std::collections::HashSet;

/// Something that is dropped at the end of a call.
pub struct Guard<'a>(&'a RefCell<Vec<usize>>);

impl Guard<'_> {
    /// Counts.
    pub fn length(&self, line: &[u8]) -> usize {
        self.0.borrow_mut().push(line.len());
        line.len()
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Panics if the body's temporaries still hold a borrow.
        self.0.borrow_mut().clear();
    }
}

spate::pipeline! {
    /// Bodies of every kind.
    pub lines(limit: usize, words: HashSet<Vec<u8>>) {
        let mut seen = HashSet::new();
        let lengths = RefCell::new(Vec::new());
        let mut last = 0usize;

        memory
        -> bytes
        -> filter(|line| { line.len() > limit })
        -> filter(|line| { line.len() } > limit)
        -> filter(|line| !line.is_empty() && words.contains(*line))
        -> filter(|r#in| seen.insert(r#in.to_vec()))
        -> filter(|line| Guard(&lengths).length(line) > 1)
        -> filter(|line| lengths.borrow().len() < line.len())
        -> map(|mut line| { line = &line[1..]; last += line.len(); line })
        -> map(|line| { let out = (line, last); out })
        -> map(|pair| pair.0)
        -> map(|value| (value, limit).0)
        -> map(|r| lengths.borrow_mut().drain(..).fold(r, |line, _| line))
        -> map(|keep| if keep.is_empty() { &b"empty"[..] } else { keep })
        -> capture
    }
}
