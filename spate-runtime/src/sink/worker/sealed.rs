//! The block in flight: which replica gets the next attempt, how long it may take, what its outcome means.
//!
//! Every attempt hands the same block to the writer: the same bytes under the same token. The wait for a breaker is no
//! attempt: it takes no rung of the backoff. No attempt begins later than `retry.give_up_after` after the block was sealed;
//! at that moment a waiting block gets its last one, whatever the breakers say, so that none is given up untried. A drain that
//! begins ends the wait for the backoff.

use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use super::SinkWorker;
use crate::error::ConnectorError;
use crate::failure::Failure;
use crate::sink::block::Block;
use crate::sink::breaker::Told;
use crate::sink::rotation::Rotation;
use crate::sink::writer::{Answer, Panicked, Running, Writer};
use crate::time::Time;

/// A sealed block and how its writing goes.
pub(super) struct Sealed {
    block: Block,
    sealed_at: Time,
    state: State,
    attempts: u32,
    /// The replica and the error of the last attempt that failed.
    last: Option<(usize, ConnectorError)>,
}

enum State {
    Attempt {
        replica: usize,
        running: Running<Result<(), ConnectorError>>,
        until: Time,
    },
    /// For the backoff or for a breaker.
    Waiting { until: Time },
}

/// How an attempt ended.
enum Outcome {
    Durable,
    Failed(ConnectorError),
    Panicked(Panicked),
}

impl Sealed {
    pub(super) fn new(block: Block, now: Time) -> Self {
        Sealed {
            block,
            sealed_at: now,
            state: State::Waiting { until: now },
            attempts: 0,
            last: None,
        }
    }

    /// When it has to be looked at again at the latest.
    pub(super) fn wake_at(&self) -> Time {
        match &self.state {
            State::Attempt { until, .. } | State::Waiting { until } => *until,
        }
    }

    /// How it stands, for the report of a drain that ends here.
    pub(super) fn stands(&self, writer: &mut Writer) -> String {
        let attempts = self.attempts;
        match (&self.state, &self.last) {
            (_, Some((replica, error))) => {
                let place = writer.place(*replica);
                format!("attempt {attempts} is the last; the last error, at {place}: {error}")
            }
            (State::Attempt { replica, .. }, None) => {
                format!("an attempt at {} did not end", writer.place(*replica))
            }
            (State::Waiting { .. }, None) => {
                "no attempt was made, because the breakers of all replicas are open".to_owned()
            }
        }
    }
}

impl SinkWorker {
    /// A drain has begun, which may end before the next attempt: a waiting block gets it now, and the backoff begins anew.
    pub(super) fn hurry(&mut self, now: Time) {
        self.hurried = true;
        self.backoff.reset();
        if let Some(Sealed {
            state: State::Waiting { until },
            ..
        }) = &mut self.sealed
        {
            *until = now;
        }
    }

    /// Moves the block in flight on as far as it goes without waiting.
    pub(super) fn drive_write(&mut self, now: Time, cx: &mut Context<'_>) {
        let timeout = self.config.retry.attempt_timeout();
        while let Some(sealed) = &mut self.sealed {
            match &mut sealed.state {
                State::Waiting { until } if now < *until => return,
                State::Waiting { .. } => self.begin_attempt(now, timeout),
                State::Attempt {
                    replica,
                    running,
                    until,
                } => {
                    let replica = *replica;
                    let outcome = match running.poll(cx) {
                        Poll::Ready(answer) => self.judge(answer),
                        Poll::Pending if now < *until => return,
                        Poll::Pending => match running.stop() {
                            Ok(()) => Outcome::Failed(late(timeout)),
                            Err(panicked) => Outcome::Panicked(panicked),
                        },
                    };
                    self.attempt_ended(Some(replica), outcome, now);
                }
            }
        }
    }

    fn judge(&mut self, answer: Answer<Result<(), ConnectorError>>) -> Outcome {
        match (answer.value, answer.dropped) {
            (Ok(Ok(())), Ok(())) => Outcome::Durable,
            // What was confirmed before is stored.
            (Ok(Ok(())), Err(Panicked(text))) => {
                tracing::error!(
                    sink = self.shared.sink,
                    shard = self.shard,
                    "the writer panicked behind a block that it had confirmed: {text}"
                );
                self.writer.renew();
                Outcome::Durable
            }
            (Ok(Err(error)), Ok(())) => Outcome::Failed(error),
            (Err(panicked), _) | (_, Err(panicked)) => Outcome::Panicked(panicked),
        }
    }

    fn begin_attempt(&mut self, now: Time, timeout: Duration) {
        let sealed = self.sealed.as_mut().expect("a block is in flight");
        let rotation = match &mut self.rotation {
            Some(rotation) => rotation,
            made @ None => match self.writer.call(|writer| writer.replicas()) {
                Ok(replicas) => made.insert(Rotation::new(replicas.max(1), &self.config.breaker)),
                Err(panicked) => return self.attempt_ended(None, Outcome::Panicked(panicked), now),
            },
        };
        let last_call = sealed.sealed_at.after(self.config.retry.give_up_after);
        let replica = match rotation.begin(now) {
            Ok(replica) => replica,
            Err(_) if now >= last_call => rotation.begin_anyway(now),
            Err(opens_at) => {
                sealed.state = State::Waiting {
                    until: opens_at.min(last_call),
                };
                return;
            }
        };
        sealed.attempts += 1;
        match self
            .writer
            .call(|writer| writer.write(replica, &sealed.block))
        {
            Ok(future) => {
                sealed.state = State::Attempt {
                    replica,
                    running: Running::new(future),
                    until: now.after(timeout),
                };
            }
            Err(panicked) => self.attempt_ended(Some(replica), Outcome::Panicked(panicked), now),
        }
    }

    /// Takes note of an attempt's end. Without a replica there was none to be made at.
    fn attempt_ended(&mut self, replica: Option<usize>, outcome: Outcome, now: Time) {
        let told = match &outcome {
            Outcome::Durable => Told::Works,
            Outcome::Failed(error) if error.is_retryable() => Told::Fails,
            // A fatal error is about the block, a panic about the writer.
            Outcome::Failed(_) | Outcome::Panicked(_) => Told::Nothing,
        };
        if let (Some(replica), Some(rotation)) = (replica, &mut self.rotation) {
            rotation.end(replica, told, now);
        }
        if let Outcome::Failed(error) = &outcome {
            self.shared.stats.attempt_failed(self.shard, error);
        }
        match outcome {
            Outcome::Durable => self.block_delivered(),
            Outcome::Failed(error) if error.is_retryable() => {
                self.retry(replica.unwrap_or_default(), error, now);
            }
            Outcome::Failed(error) => self.block_failed(replica, "refused", &error, now),
            Outcome::Panicked(Panicked(text)) => {
                self.writer.renew();
                let error = format!("the writer panicked: {text}");
                self.block_failed(replica, "failed", &error, now);
            }
        }
    }

    fn retry(&mut self, replica: usize, error: ConnectorError, now: Time) {
        let sealed = self.sealed.as_mut().expect("a block is in flight");
        let last_call = sealed.sealed_at.after(self.config.retry.give_up_after);
        if now >= last_call {
            let how = "gave up (retry.give_up_after)";
            return self.block_failed(Some(replica), how, &error, now);
        }
        let until = now.after(self.backoff.next_wait()).min(last_call);
        sealed.state = State::Waiting { until };
        self.shared.stats.retries.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(
            sink = self.shared.sink,
            shard = self.shard,
            replica = self.writer.place(replica),
            attempt = sealed.attempts,
            rows = sealed.block.rows(),
            wait = ?until.since(now),
            breaker_open = self.rotation.as_ref().is_some_and(|r| r.is_open(replica)),
            "a write failed and will be repeated: {error}"
        );
        sealed.last = Some((replica, error));
    }

    fn block_delivered(&mut self) {
        let block = self.sealed.take().expect("a block is in flight").block;
        let stats = &self.shared.stats;
        stats.attempt_succeeded(self.shard);
        stats.blocks.fetch_add(1, Ordering::Relaxed);
        stats.rows.fetch_add(block.rows() as u64, Ordering::Relaxed);
        stats
            .bytes
            .fetch_add(block.bytes() as u64, Ordering::Relaxed);
        self.watch.settled(block.rows());
        block.delivered();
    }

    /// The block is given up: its acks fail, and so does the run. The other blocks go on.
    fn block_failed(
        &mut self,
        replica: Option<usize>,
        how: &str,
        error: &dyn std::fmt::Display,
        now: Time,
    ) {
        let sealed = self.sealed.take().expect("a block is in flight");
        let rows = sealed.block.rows();
        let at = replica.map_or_else(String::new, |replica| {
            format!(", the last at {}", self.writer.place(replica))
        });
        let text = format!(
            "{how} after {} in {:?} on a block of {rows} rows{at}: {error}",
            count(sealed.attempts, "attempt"),
            millis(now.since(sealed.sealed_at)),
        );
        self.watch.settled(rows);
        self.shared.abandoned(rows);
        // Set before the acks fail: the controller reports a failed batch without a failure in words of its own.
        self.shared.failure.set(Failure::new(self.place(), text));
        drop(sealed);
    }
}

fn late(timeout: Duration) -> ConnectorError {
    ConnectorError::retryable(format!(
        "no end within {timeout:?} (`retry.attempt_timeout`); the block may have been stored all the same, and is sent \
         again under the same token"
    ))
}

/// Without the digits that tell nobody anything.
fn millis(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn count(number: u32, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}
