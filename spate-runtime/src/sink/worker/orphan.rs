//! What takes a worker's place when it panics, which is a fault of the engine: the run fails with its name, and what is
//! still pushed to its queue is given up, so that no driver waits for room and the drain can end.

use std::sync::Arc;
use std::task::Context;

use super::{WorkerShared, WorkerStep};
use crate::failure::Failure;
use crate::sink::ShardQueue;
use crate::time::Time;

/// A queue without a worker.
pub(crate) struct Orphan {
    shared: WorkerShared,
    shard: usize,
    queue: Arc<ShardQueue>,
}

impl Orphan {
    pub(super) fn new(shared: WorkerShared, shard: usize, queue: Arc<ShardQueue>) -> Self {
        Orphan {
            shared,
            shard,
            queue,
        }
    }

    /// The worker panicked with this text while it held so many rows.
    pub(crate) fn begin(&self, panic: &str, held_rows: usize) {
        self.shared.abandoned(held_rows);
        let text = format!(
            "the worker panicked, which is a fault of Spate; {held_rows} rows in its hands were not written: {panic}"
        );
        let place = self.shared.place(self.shard);
        self.shared.failure.set(Failure::new(place, text));
    }

    /// Gives up what is queued, until the queue is closed or the drain's deadline passes.
    pub(crate) fn step(&self, now: Time, cx: &mut Context<'_>) -> WorkerStep {
        self.queue.register(cx.waker());
        let over = self.queue.is_closed() || self.shared.deadline.passed(now);
        self.shared.abandoned(self.queue.abandon());
        WorkerStep {
            wake_at: self.shared.deadline.get(),
            done: over,
        }
    }
}
