//! What travels from a driver to the store: chunks of encoded rows, merged into blocks.

use std::sync::Arc;

use bytes::Bytes;

use crate::ack::Ack;
use crate::engine::{Budget, Held};

/// Encoded rows of one driver for one shard, with the acks of the batches that they came from.
#[derive(Debug)]
pub struct Chunk {
    data: Bytes,
    rows: usize,
    acks: Vec<Ack>,
    /// Its part of the budget.
    held: Option<Held>,
}

impl Chunk {
    /// A chunk of `rows` encoded rows.
    ///
    /// # Panics
    /// If it has no rows.
    #[must_use]
    pub fn new(data: impl Into<Bytes>, rows: usize, acks: Vec<Ack>) -> Self {
        assert!(rows > 0, "a chunk has rows");
        Chunk {
            data: data.into(),
            rows,
            acks,
            held: None,
        }
    }

    /// The chunk counts as in flight from here until it, or the block that it goes into, is dropped.
    #[must_use]
    pub fn counted(mut self, budget: &Arc<Budget>) -> Self {
        self.held = Some(budget.hold(self.data.len()));
        self
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of encoded bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.data.len()
    }
}

/// Chunks that are written together, under one token: every attempt sends the same bytes.
#[derive(Debug, Default)]
pub struct Block {
    chunks: Vec<Bytes>,
    rows: usize,
    bytes: usize,
    token: String,
    acks: Vec<Ack>,
    held: Vec<Held>,
}

impl Block {
    /// The encoded rows, in order; to be sent one after the other.
    #[must_use]
    pub fn chunks(&self) -> &[Bytes] {
        &self.chunks
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of encoded bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The deduplication token: the same for every attempt, never used for other rows.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn add(&mut self, chunk: Chunk) {
        self.rows += chunk.rows;
        self.bytes += chunk.data.len();
        self.chunks.push(chunk.data);
        self.acks.extend(chunk.acks);
        self.held.extend(chunk.held);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn seal(&mut self, token: String) -> Block {
        let mut block = std::mem::take(self);
        block.token = token;
        block
    }

    /// The block is durable: its acks are given back, and its part of the budget.
    pub(crate) fn delivered(self) {
        self.acks.into_iter().for_each(Ack::delivered);
    }

    /// A block for tests of writers, without acks.
    #[must_use]
    pub fn for_test(chunks: Vec<Bytes>, rows: usize, token: impl Into<String>) -> Self {
        let bytes = chunks.iter().map(Bytes::len).sum();
        Block {
            chunks,
            rows,
            bytes,
            token: token.into(),
            acks: Vec::new(),
            held: Vec::new(),
        }
    }
}
