//! Memory for one batch: bytes that a decoder makes and that records borrow as they borrow from payloads.
//!
//! A driver has one; it is emptied when the kernel has run the batch, and keeps its room for the next.

use bumpalo::Bump;

/// Bytes that live as long as the batch.
#[derive(Debug, Default)]
pub struct Scratch(Bump);

impl Scratch {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Scratch::default()
    }

    /// Keeps a copy of the bytes until the batch has been run.
    #[inline]
    pub fn keep<'b>(&'b self, bytes: &[u8]) -> &'b [u8] {
        self.0.alloc_slice_copy(bytes)
    }

    /// Empties it. Nothing borrows from it any more: the compiler sees to that.
    pub fn clear(&mut self) {
        self.0.reset();
    }
}
