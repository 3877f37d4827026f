//! The worker of one shard: merges chunks into a block, seals it, writes it with retries, gives its acks back.
//!
//! A state machine: [`SinkWorker::step`] takes the time and a task context and never waits. It asks to be called again
//! at a time, by the queue's waker or by the attempt's future; all of them together with the drain's deadline
//! (invariant 5).
//!
//! 1. Settle the block in flight (`sealed.rs`): durable, failed for good, or waiting for its next attempt.
//! 2. Take chunks until the block under construction is full.
//! 3. Seal it when it is full, old enough, flushed or the queue is closed, and no other block is in flight.
//!
//! A block that failed drops its acks and sets the failure slot, which ends the run; until the drain has ended the worker
//! goes on with its other blocks.

mod orphan;
mod sealed;
mod watch;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Context;

use orphan::Orphan;
use sealed::Sealed;
pub use watch::WorkerWatch;

use super::block::Block;
use super::queue::ShardQueue;
use super::retry::Backoff;
use super::rotation::Rotation;
use super::writer::{MakeWriter, Writer};
use crate::config::SinkPoolConfig;
use crate::failure::{Failure, FailureSlot};
use crate::stats::SinkStats;
use crate::time::Time;

/// What a worker shares with the rest of the engine.
#[derive(Clone)]
pub struct WorkerShared {
    /// The sink's name.
    pub sink: &'static str,
    /// Its counters.
    pub stats: Arc<SinkStats>,
    /// Where the first failure of the pipeline goes.
    pub failure: Arc<FailureSlot>,
    /// When the drain gives up; [`Deadline::NONE`](crate::engine::Deadline) until there is one.
    pub deadline: Arc<crate::engine::Deadline>,
    /// Makes deduplication tokens unique to this run.
    pub run: Arc<str>,
}

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerStep {
    /// Step again at this time at the latest, wake-ups apart.
    pub wake_at: Option<Time>,
    /// The worker has ended: everything is written, or given up.
    pub done: bool,
}

/// The worker of one shard.
pub struct SinkWorker {
    shared: WorkerShared,
    shard: usize,
    queue: Arc<ShardQueue>,
    writer: Writer,
    /// Made when the writer can be asked for its replicas.
    rotation: Option<Rotation>,
    config: SinkPoolConfig,
    building: Block,
    opened: Time,
    sealed: Option<Sealed>,
    backoff: Backoff,
    flushes_seen: u64,
    blocks: u64,
    /// Whether the drain's beginning has cut the wait for the next attempt short.
    hurried: bool,
    ended: bool,
    watch: Arc<WorkerWatch>,
}

impl SinkWorker {
    /// A worker of `queue`; `seed` decorrelates the jitter of shards.
    ///
    /// `writer` makes the shard's writer: when the first block is written, and again after a panic in it.
    #[must_use]
    pub fn new(
        shared: WorkerShared,
        shard: usize,
        queue: Arc<ShardQueue>,
        writer: MakeWriter,
        config: SinkPoolConfig,
        seed: u64,
    ) -> Self {
        let backoff = Backoff::new(config.retry.clone(), seed);
        let watch = WorkerWatch::new(shared.place(shard), Arc::clone(&queue));
        SinkWorker {
            shared,
            shard,
            queue,
            writer: Writer::new(writer),
            rotation: None,
            config,
            building: Block::default(),
            opened: Time::ZERO,
            sealed: None,
            backoff,
            flushes_seen: 0,
            blocks: 0,
            hurried: false,
            ended: false,
            watch: Arc::new(watch),
        }
    }

    /// The worker, seen from outside.
    #[must_use]
    pub fn watch(&self) -> Arc<WorkerWatch> {
        Arc::clone(&self.watch)
    }

    /// Where it is: the sink and the shard.
    #[must_use]
    pub fn place(&self) -> String {
        self.shared.place(self.shard)
    }

    /// What takes the worker's place if it panics.
    pub(crate) fn orphan(&self) -> Orphan {
        Orphan::new(self.shared.clone(), self.shard, Arc::clone(&self.queue))
    }

    /// One step at the time `now`.
    pub fn step(&mut self, now: Time, cx: &mut Context<'_>) -> WorkerStep {
        if self.ended {
            return WorkerStep {
                wake_at: None,
                done: true,
            };
        }
        // Registered before the queue is looked at, or a push in between would go unseen.
        self.queue.register(cx.waker());
        if self.shared.deadline.passed(now) {
            return self.give_up();
        }
        if !self.hurried && self.shared.deadline.begun().is_some() {
            self.hurry(now);
        }
        loop {
            self.drive_write(now, cx);
            // Read before the queue is emptied: what was pushed before the close or the request is then in the block.
            let closed = self.queue.is_closed();
            let flushes = self.queue.flushes();
            let emptied = self.take_chunks(now);
            if self.sealed.is_some() {
                break;
            }
            if self.building.is_empty() {
                self.flushes_seen = flushes;
                if closed && emptied {
                    return self.end();
                }
                break;
            }
            if !(self.is_full()
                || closed
                || flushes != self.flushes_seen
                || now >= self.linger_ends())
            {
                break;
            }
            if emptied {
                self.flushes_seen = flushes;
            }
            self.seal(now);
        }
        WorkerStep {
            wake_at: self.wake_at(),
            done: false,
        }
    }

    fn is_full(&self) -> bool {
        self.building.rows() >= self.config.batch.max_rows
            || self.building.bytes() >= self.config.batch.max_bytes
    }

    fn linger_ends(&self) -> Time {
        self.opened.after(self.config.batch.linger)
    }

    /// Moves chunks into the block under construction; whether the queue was found empty.
    fn take_chunks(&mut self, now: Time) -> bool {
        while !self.is_full() {
            let Some(chunk) = self.queue.pop() else {
                return true;
            };
            if self.building.is_empty() {
                self.opened = now;
            }
            self.watch.took(chunk.rows());
            self.building.add(chunk);
        }
        false
    }

    fn seal(&mut self, now: Time) {
        assert!(
            self.sealed.is_none(),
            "one block of a shard is in flight at a time"
        );
        let token = format!(
            "{}-{}-{}-{}",
            self.shared.run, self.shared.sink, self.shard, self.blocks
        );
        self.blocks += 1;
        self.backoff.reset();
        self.sealed = Some(Sealed::new(self.building.seal(token), now));
    }

    fn wake_at(&self) -> Option<Time> {
        let sealed = self.sealed.as_ref().map(Sealed::wake_at);
        let linger =
            (!self.building.is_empty() && self.sealed.is_none()).then(|| self.linger_ends());
        [sealed, linger, self.shared.deadline.get()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends the worker at the drain's deadline; what is not written by then fails the run, with the last error as its
    /// reason.
    fn give_up(&mut self) -> WorkerStep {
        let why = self
            .sealed
            .as_ref()
            .map(|sealed| sealed.stands(&mut self.writer));
        let rows = self.abandon();
        if rows > 0 {
            let why = why.map_or_else(String::new, |why| format!("; {why}"));
            let text = format!("{rows} rows were not written within checkpoint.drain_timeout{why}");
            self.shared.failure.set(Failure::new(self.place(), text));
        }
        self.end()
    }

    /// Drops everything that is not written, so that its acks fail; the number of rows.
    fn abandon(&mut self) -> usize {
        self.sealed = None;
        self.building = Block::default();
        let held = self.watch.settled_all();
        let rows = held + self.queue.abandon();
        self.shared.abandoned(rows);
        rows
    }

    fn end(&mut self) -> WorkerStep {
        self.ended = true;
        WorkerStep {
            wake_at: None,
            done: true,
        }
    }
}

impl WorkerShared {
    fn place(&self, shard: usize) -> String {
        format!("sink `{}` shard {shard}", self.sink)
    }

    fn abandoned(&self, rows: usize) {
        self.stats
            .abandoned_rows
            .fetch_add(rows as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
