//! A worker seen from outside, also while a write blocks its thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::failure::{Failure, FailureSlot};
use crate::sink::ShardQueue;

/// A worker, seen from outside.
#[derive(Debug)]
pub struct WorkerWatch {
    place: String,
    queue: Arc<ShardQueue>,
    held_rows: AtomicUsize,
    ended: AtomicBool,
    reported: AtomicBool,
}

impl WorkerWatch {
    pub(super) fn new(place: String, queue: Arc<ShardQueue>) -> Self {
        WorkerWatch {
            place,
            queue,
            held_rows: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            reported: AtomicBool::new(false),
        }
    }

    /// The rows that the worker has taken from its queue and that are neither durable nor given up.
    #[must_use]
    pub fn held_rows(&self) -> usize {
        self.held_rows.load(Ordering::Relaxed)
    }

    /// Whether the worker has ended and given all its acks back.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn set_ended(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// The drain is over. A worker that has not ended is stuck in a call that blocks its thread: that is the run's failure
    /// if there is no earlier one, and what the worker holds is given up. Whether it is so; told once.
    pub(crate) fn fail_if_stuck(&self, failure: &FailureSlot) -> bool {
        if self.has_ended() {
            return false;
        }
        if !self.reported.swap(true, Ordering::Relaxed) {
            let rows = self.held_rows() + self.queue.abandon();
            let text = format!(
                "{rows} rows were not written within checkpoint.drain_timeout: a write blocks its thread and cannot be \
                 ended; the thread is left behind"
            );
            failure.set(Failure::new(self.place.clone(), text));
        }
        true
    }

    pub(super) fn took(&self, rows: usize) {
        self.held_rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn settled(&self, rows: usize) {
        self.held_rows.fetch_sub(rows, Ordering::Relaxed);
    }

    pub(super) fn settled_all(&self) -> usize {
        self.held_rows.swap(0, Ordering::Relaxed)
    }
}
