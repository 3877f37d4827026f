//! The bounded queue between drivers and the worker of one shard.
//!
//! Drivers only ever try to push; a full queue is their signal to park the chunk and pause (invariant 2). The worker is
//! woken by a push, a flush request and the close.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

use crossbeam_queue::ArrayQueue;

use super::block::Chunk;

/// The queue of one shard.
#[derive(Debug)]
pub struct ShardQueue {
    chunks: ArrayQueue<Chunk>,
    waker: Mutex<Option<Waker>>,
    closed: AtomicBool,
    flushes: AtomicU64,
}

impl ShardQueue {
    /// A queue for at most `capacity` chunks.
    ///
    /// # Panics
    /// If `capacity` is zero.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        ShardQueue {
            chunks: ArrayQueue::new(capacity),
            waker: Mutex::new(None),
            closed: AtomicBool::new(false),
            flushes: AtomicU64::new(0),
        }
    }

    /// Adds a chunk, or gives it back when the queue is full.
    ///
    /// # Errors
    /// The chunk, when there is no room for it.
    pub fn push(&self, chunk: Chunk) -> Result<(), Chunk> {
        // Into a closed queue only by a driver that was stuck until the drain was over: its acks fail with the queue.
        self.chunks.push(chunk)?;
        self.wake();
        Ok(())
    }

    /// How full the queue is, from 0 to 1.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.chunks.len() as f64 / self.chunks.capacity() as f64
    }

    /// Asks the worker to write what it has without waiting for more.
    pub fn request_flush(&self) {
        self.flushes.fetch_add(1, Ordering::Release);
        self.wake();
    }

    /// Nothing will be pushed any more: the worker writes what is there and ends.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.wake();
    }

    pub(super) fn pop(&self) -> Option<Chunk> {
        self.chunks.pop()
    }

    /// Drops what is queued, so that its acks fail; the number of rows.
    pub(crate) fn abandon(&self) -> usize {
        std::iter::from_fn(|| self.pop())
            .map(|chunk| chunk.rows())
            .sum()
    }

    pub(super) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Acquire)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn register(&self, waker: &Waker) {
        let mut slot = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }

    pub(crate) fn wake(&self) {
        let waker = self
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
