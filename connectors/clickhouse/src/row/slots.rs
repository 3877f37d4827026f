//! Room for one row: one capacity check for all of its columns. The crate's only unsafe lines.
//!
//! Pushing to a `Vec` checks the capacity, may move the bytes and stores the length for each value anew; what it costs is
//! measured by `spate-bench avro`.
#![allow(
    unsafe_code,
    reason = "the standard library has no stable safe way to write behind a `Vec`'s length and then claim it"
)]

/// What a row is written to: behind the end of a chunk, of which it becomes a part as a whole or not at all.
#[derive(Debug)]
pub struct Slots<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next byte goes.
    to: *mut u8,
    /// For how many bytes there is room.
    left: usize,
    size: usize,
}

impl<'a> Slots<'a> {
    /// Makes room for a row of at most `size` bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(out: &'a mut Vec<u8>, size: usize) -> Self {
        out.reserve(size);
        let to = out.spare_capacity_mut().as_mut_ptr().cast();
        Slots {
            out,
            to,
            left: size,
            size,
        }
    }

    /// Writes bytes.
    ///
    /// # Panics
    /// There is no room: the row said that it is smaller than it is.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) {
        if bytes.len() > self.left {
            too_large();
        }
        // SAFETY: `to` has room for `left` bytes, which are the `Vec`'s spare capacity and borrowed mutably, so that `bytes` is elsewhere.
        unsafe {
            self.to
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.to = self.to.add(bytes.len());
        }
        self.left -= bytes.len();
    }

    /// Makes the row a part of the chunk.
    #[inline(always)]
    pub fn finish(self) {
        let length = self.out.len() + (self.size - self.left);
        // SAFETY: `size` bytes were reserved, of which all but the last `left` were written.
        unsafe { self.out.set_len(length) }
    }
}

#[cold]
#[inline(never)]
fn too_large() -> ! {
    panic!("a row is larger than its columns said")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_part_of_the_chunk_as_a_whole() {
        for capacity in [0, 3, 100] {
            let mut out = Vec::with_capacity(capacity);
            out.push(9);
            let mut row = Slots::new(&mut out, 10);
            row.put(&[1, 2]);
            row.put(&[]);
            row.put(&[3]);
            row.finish();
            assert_eq!(out, [9, 1, 2, 3]);
        }
    }

    #[test]
    fn a_row_that_is_given_up_leaves_nothing() {
        let mut out = vec![9];
        Slots::new(&mut out, 2).put(&[1, 2]);
        assert_eq!(out, [9]);
    }

    #[test]
    #[should_panic(expected = "larger than its columns said")]
    fn more_than_was_asked_for_is_never_written() {
        let mut out = Vec::with_capacity(100);
        let mut row = Slots::new(&mut out, 2);
        row.put(&[1]);
        row.put(&[1, 2]);
    }
}
