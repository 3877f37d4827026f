//! The worker of one shard: merges chunks into a block, seals it, writes it with retries, gives its acks back.
//!
//! A state machine: [`SinkWorker::step`] takes the time and a task context and never waits. It asks to be called again
//! at a time, by the queue's waker or by the write's future; all of them together with the drain's deadline
//! (invariant 5).
//!
//! 1. Settle the write in flight: durable, failed for good, or waiting for its next attempt.
//! 2. Take chunks until the block under construction is full.
//! 3. Seal it when it is full, old enough, flushed or the queue is closed, and no other block is in flight.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::block::Block;
use super::queue::ShardQueue;
use super::retry::Backoff;
use super::{ShardWriter, SinkFuture};
use crate::config::SinkPoolConfig;
use crate::error::ConnectorError;
use crate::failure::{Failure, FailureSlot};
use crate::stats::SinkStats;
use crate::time::Time;

/// What a worker shares with the rest of the engine.
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

/// A sealed block and how its writing goes.
struct Sealed {
    block: Block,
    sealed_at: Time,
    write: Write,
    last_error: Option<ConnectorError>,
}

enum Write {
    Running(SinkFuture),
    Waiting { until: Time },
}

/// The worker of one shard.
pub struct SinkWorker {
    shared: WorkerShared,
    shard: usize,
    queue: Arc<ShardQueue>,
    writer: Box<dyn ShardWriter>,
    config: SinkPoolConfig,
    building: Block,
    opened: Time,
    sealed: Option<Sealed>,
    backoff: Backoff,
    flushes_seen: u64,
    blocks: u64,
    ended: bool,
}

impl SinkWorker {
    /// A worker of `queue`; `seed` decorrelates the jitter of shards.
    #[must_use]
    pub fn new(
        shared: WorkerShared,
        shard: usize,
        queue: Arc<ShardQueue>,
        writer: Box<dyn ShardWriter>,
        config: SinkPoolConfig,
        seed: u64,
    ) -> Self {
        let backoff = Backoff::new(config.retry.clone(), seed);
        SinkWorker {
            shared,
            shard,
            queue,
            writer,
            config,
            building: Block::default(),
            opened: Time::ZERO,
            sealed: None,
            backoff,
            flushes_seen: 0,
            blocks: 0,
            ended: false,
        }
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
        loop {
            if let Err(failure) = self.drive_write(now, cx) {
                self.shared.failure.set(failure);
                self.abandon();
                return self.end();
            }
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

    /// The sink and the shard, as errors name them.
    pub(crate) fn place(&self) -> String {
        self.shared.place(self.shard)
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
        let block = self.building.seal(token);
        self.backoff.reset();
        let write = Write::Running(self.writer.write(&block));
        self.sealed = Some(Sealed {
            block,
            sealed_at: now,
            write,
            last_error: None,
        });
    }

    /// Settles the write in flight as far as it goes without waiting.
    fn drive_write(&mut self, now: Time, cx: &mut Context<'_>) -> Result<(), Failure> {
        let Some(sealed) = &mut self.sealed else {
            return Ok(());
        };
        loop {
            match &mut sealed.write {
                Write::Waiting { until } if now < *until => return Ok(()),
                Write::Waiting { .. } => {
                    sealed.write = Write::Running(self.writer.write(&sealed.block))
                }
                Write::Running(future) => match poll_caught(future, cx) {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(Ok(())) => {
                        let block = self.sealed.take().expect("a block is in flight").block;
                        let stats = &self.shared.stats;
                        stats.attempt_succeeded(self.shard);
                        stats.blocks.fetch_add(1, Ordering::Relaxed);
                        stats.rows.fetch_add(block.rows() as u64, Ordering::Relaxed);
                        stats
                            .bytes
                            .fetch_add(block.bytes() as u64, Ordering::Relaxed);
                        block.delivered();
                        return Ok(());
                    }
                    Poll::Ready(Err(error)) => {
                        self.shared.stats.attempt_failed(self.shard, &error);
                        let gave_up =
                            now.since(sealed.sealed_at) >= self.config.retry.give_up_after;
                        if !error.is_retryable() || gave_up {
                            return Err(self.shared.failed(
                                self.shard,
                                &self.backoff,
                                error,
                                gave_up,
                            ));
                        }
                        let wait = self.backoff.next_wait();
                        self.shared.stats.retries.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(
                            sink = self.shared.sink,
                            shard = self.shard,
                            attempt = self.backoff.attempts(),
                            rows = sealed.block.rows(),
                            ?wait,
                            "a write failed and will be repeated: {error}"
                        );
                        sealed.last_error = Some(error);
                        sealed.write = Write::Waiting {
                            until: now.after(wait),
                        };
                    }
                },
            }
        }
    }

    fn wake_at(&self) -> Option<Time> {
        let waiting = match &self.sealed {
            Some(Sealed {
                write: Write::Waiting { until },
                ..
            }) => Some(*until),
            _ => None,
        };
        let linger =
            (!self.building.is_empty() && self.sealed.is_none()).then(|| self.linger_ends());
        [waiting, linger, self.shared.deadline.get()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends the worker at the drain's deadline; what is not written by then fails the run, with the last error as its
    /// reason.
    fn give_up(&mut self) -> WorkerStep {
        let last = self
            .sealed
            .as_ref()
            .and_then(|sealed| sealed.last_error.clone());
        let rows = self.abandon();
        if rows > 0 {
            let why = last.map_or_else(
                || "a write did not end".to_owned(),
                |error| format!("the last attempt: {error}"),
            );
            let text =
                format!("{rows} rows were not written within checkpoint.drain_timeout; {why}");
            self.shared
                .failure
                .set(Failure::new(self.shared.place(self.shard), text));
        }
        self.end()
    }

    /// Drops everything that is not written, so that its acks fail; the number of rows.
    fn abandon(&mut self) -> usize {
        let mut rows = self.sealed.take().map_or(0, |sealed| sealed.block.rows());
        rows += std::mem::take(&mut self.building).rows();
        while let Some(chunk) = self.queue.pop() {
            rows += chunk.rows();
        }
        self.shared
            .stats
            .abandoned_rows
            .fetch_add(rows as u64, Ordering::Relaxed);
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

    fn failed(
        &self,
        shard: usize,
        backoff: &Backoff,
        error: ConnectorError,
        gave_up: bool,
    ) -> Failure {
        let attempts = backoff.attempts() + 1;
        let how = if gave_up && error.is_retryable() {
            format!("gave up after {attempts} attempts (retry.give_up_after): ")
        } else {
            String::new()
        };
        Failure::new(self.place(shard), format!("{how}{error}"))
    }
}

/// Polls a write; a panic in it is an error of its block.
fn poll_caught(future: &mut SinkFuture, cx: &mut Context<'_>) -> Poll<Result<(), ConnectorError>> {
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll,
        Err(panic) => {
            let text = crate::failure::panic_text(&*panic);
            Poll::Ready(Err(ConnectorError::fatal(format!(
                "the writer panicked: {text}"
            ))))
        }
    }
}

#[cfg(test)]
mod tests;
