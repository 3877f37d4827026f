//! The look at every replica of every shard before the run.
//!
//! A state machine: [`StartCheck::step`] takes the time and a task context and never waits. All replicas are asked at the
//! same time, each again while its error may pass.
//!
//! - A fatal error of any replica ends the start: a table that differs on one replica would refuse blocks later.
//! - When all have passed, the run begins.
//! - At the start-up timeout the run begins with what is there, with a warning for each replica that is missing, if every
//!   shard has a replica that passed; else the start fails and names the replicas of the shard that has none.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::retry::Backoff;
use super::writer::{MakeWriter, Panicked, Running, Writer};
use super::{Checked, Sink};
use crate::config::RetryConfig;
use crate::error::ConnectorError;
use crate::failure::Failure;
use crate::limits::CHECK_ATTEMPT;
use crate::time::Time;

/// A sink to look at.
pub(crate) struct StartSink {
    pub(crate) name: &'static str,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) retry: RetryConfig,
}

/// What a step asks for.
#[derive(Debug)]
pub(crate) enum StartStep {
    /// Step again at this time at the latest, wake-ups apart.
    Wait(Time),
    /// The run can begin, or not.
    Done(Result<(), Failure>),
}

/// The look at all sinks.
pub(crate) struct StartCheck {
    shards: Vec<Shard>,
    timeout: Duration,
    end: Time,
    /// Said already: replicas of a table have the same to say.
    warned: BTreeSet<(&'static str, String)>,
}

struct Shard {
    sink: &'static str,
    shard: usize,
    writer: Writer,
    replicas: Vec<Replica>,
}

struct Replica {
    state: State,
    backoff: Backoff,
    last: Option<ConnectorError>,
}

enum State {
    Running(Running<Result<Checked, ConnectorError>>, Time),
    Waiting(Time),
    Passed,
}

impl StartCheck {
    /// A look that begins `now` and ends after `timeout` at the latest.
    pub(crate) fn new(sinks: &[StartSink], timeout: Duration, now: Time) -> Self {
        let mut shards = Vec::new();
        for open in sinks {
            for shard in 0..open.sink.shards() {
                let sink = Arc::clone(&open.sink);
                let make: MakeWriter = Box::new(move || sink.writer(shard));
                let mut writer = Writer::new(make);
                // A writer that panics here panics in its first check as well, and is reported there.
                let replicas = writer.call(|writer| writer.replicas()).unwrap_or(1).max(1);
                let replicas = (0..replicas).map(|_| Replica {
                    state: State::Waiting(now),
                    backoff: Backoff::new(open.retry.clone(), fastrand::u64(..)),
                    last: None,
                });
                shards.push(Shard {
                    sink: open.name,
                    shard,
                    replicas: replicas.collect(),
                    writer,
                });
            }
        }
        StartCheck {
            shards,
            timeout,
            end: now.after(timeout),
            warned: BTreeSet::new(),
        }
    }

    /// One step at the time `now`.
    pub(crate) fn step(&mut self, now: Time, cx: &mut Context<'_>) -> StartStep {
        let mut wake_at = self.end;
        let mut waiting = false;
        for shard in &mut self.shards {
            for replica in 0..shard.replicas.len() {
                match shard.drive(replica, now, cx) {
                    Ok(Some(checked)) => {
                        for text in checked.warnings {
                            if self.warned.insert((shard.sink, text.clone())) {
                                tracing::warn!(sink = shard.sink, "{text}");
                            }
                        }
                    }
                    Ok(None) => {}
                    Err(failure) => return StartStep::Done(Err(failure)),
                }
                match &shard.replicas[replica].state {
                    State::Running(_, until) | State::Waiting(until) => {
                        waiting = true;
                        wake_at = wake_at.min(*until);
                    }
                    State::Passed => {}
                }
            }
        }
        if !waiting {
            return StartStep::Done(Ok(()));
        }
        if now < self.end {
            return StartStep::Wait(wake_at);
        }
        StartStep::Done(self.settle_for_less())
    }

    /// The start-up timeout has passed: whether the run can begin with the replicas that passed.
    fn settle_for_less(&mut self) -> Result<(), Failure> {
        let timeout = self.timeout;
        for shard in &mut self.shards {
            if !shard.replicas.iter().any(Replica::has_passed) {
                let missing = shard.missing().join("; ");
                let text =
                    format!("not ready within pipeline.startup_timeout ({timeout:?}): {missing}");
                return Err(Failure::new(shard.place(), text));
            }
        }
        for shard in &mut self.shards {
            for missing in shard.missing() {
                tracing::warn!(
                    sink = shard.sink,
                    shard = shard.shard,
                    "a replica is not ready within pipeline.startup_timeout ({timeout:?}), the others carry on: {missing}"
                );
            }
        }
        Ok(())
    }
}

impl Shard {
    fn place(&self) -> String {
        format!("sink `{}` shard {}", self.sink, self.shard)
    }

    /// Moves the look at one replica on; what it found when it passes now.
    fn drive(
        &mut self,
        replica: usize,
        now: Time,
        cx: &mut Context<'_>,
    ) -> Result<Option<Checked>, Failure> {
        loop {
            let error = match &mut self.replicas[replica].state {
                State::Passed => return Ok(None),
                State::Waiting(until) if now < *until => return Ok(None),
                State::Waiting(_) => match self.writer.call(|writer| writer.check(replica)) {
                    Ok(future) => {
                        let until = now.after(CHECK_ATTEMPT);
                        self.replicas[replica].state = State::Running(Running::new(future), until);
                        continue;
                    }
                    Err(panicked) => fatal(panicked),
                },
                State::Running(running, until) => match running.poll(cx) {
                    Poll::Pending if now < *until => return Ok(None),
                    Poll::Pending => late(),
                    Poll::Ready(answer) => match (answer.value, answer.dropped) {
                        (Ok(Ok(checked)), Ok(())) => {
                            self.replicas[replica].state = State::Passed;
                            return Ok(Some(checked));
                        }
                        (Ok(Err(error)), Ok(())) => error,
                        (Err(panicked), _) | (_, Err(panicked)) => fatal(panicked),
                    },
                },
            };
            let place = self.writer.place(replica);
            if !error.is_retryable() {
                return Err(Failure::new(self.place(), format!("{place}: {error}")));
            }
            tracing::warn!(
                sink = self.sink,
                shard = self.shard,
                replica = place,
                "not ready yet: {error}"
            );
            let entry = &mut self.replicas[replica];
            entry.state = State::Waiting(now.after(entry.backoff.next_wait()));
            entry.last = Some(error);
        }
    }

    /// The replicas that have not passed, each with its address and what is known of it.
    fn missing(&mut self) -> Vec<String> {
        let mut missing = Vec::new();
        for (index, replica) in self.replicas.iter().enumerate() {
            if !replica.has_passed() {
                let place = self.writer.place(index);
                missing.push(match &replica.last {
                    Some(error) => format!("{place}: {error}"),
                    None => format!("{place}: no answer; see that the server runs and answers"),
                });
            }
        }
        missing
    }
}

impl Replica {
    fn has_passed(&self) -> bool {
        matches!(self.state, State::Passed)
    }
}

fn fatal(Panicked(text): Panicked) -> ConnectorError {
    ConnectorError::fatal(format!("the check panicked: {text}"))
}

fn late() -> ConnectorError {
    ConnectorError::retryable(format!(
        "no answer within {CHECK_ATTEMPT:?}; see that the server runs and answers"
    ))
}

#[cfg(test)]
mod tests;
