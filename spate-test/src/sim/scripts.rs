//! The scripts of the doubles of one process: what they answer is drawn when they are asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spate_runtime::decode::{Admit, Gate};
use spate_runtime::error::ConnectorError;
use spate_runtime::record::{Batch, Partition};
use spate_runtime::source::Commit;
use spate_runtime::time::Time;

use super::faults::{Dice, Fault};
use super::truth::Truth;
use crate::scripted::{Attempt, Call, CommitReply, Fetch, Reply, SinkScript, SourceScript, Stored};

pub(super) struct DrawnSource {
    /// A commit without an answer is noticed too late for a run.
    pub(super) stalls_late: bool,
    pub(super) dice: Dice,
    pub(super) truth: Truth,
    pub(super) process: u32,
}

impl SourceScript for DrawnSource {
    fn fetch(&mut self, _: &Partition, max: usize) -> Fetch {
        let dice = &mut self.dice;
        if dice.hits(Fault::FetchNothing) {
            Fetch::Nothing
        } else if dice.hits(Fault::FetchShort) {
            Fetch::Records(dice.rng.usize(1..=max))
        } else if dice.hits(Fault::FetchFails) {
            Fetch::Fails(ConnectorError::retryable("drawn: no leader"))
        } else if dice.hits(Fault::FetchFatal) {
            Fetch::Fails(ConnectorError::fatal("drawn: not authorised"))
        } else {
            Fetch::Records(max)
        }
    }

    fn commit(&mut self, _: &[Commit]) -> CommitReply {
        let dice = &mut self.dice;
        if dice.hits(Fault::CommitRefused) {
            CommitReply::Refused
        } else if dice.hits(Fault::CommitLate) {
            CommitReply::Late(dice.millis(1, 4_000))
        } else if dice.hits(Fault::CommitTakenButRefused) {
            CommitReply::TakenButRefused
        } else if dice.hits(Fault::CommitTwice) {
            CommitReply::TakenTwice
        } else if dice.hits(Fault::CommitNotBegun) {
            CommitReply::NotBegun(ConnectorError::retryable("drawn: the queue is full"))
        } else if dice.hits(Fault::CommitLost) {
            let mut truth = self.truth.state();
            truth.note(format_args!(
                "p{} the answer to a commit is lost",
                self.process
            ));
            truth.cause(self.process, "checkpoint");
            truth.process(self.process).stuck |= self.stalls_late;
            match dice.rng.bool() {
                true => CommitReply::Lost,
                false => CommitReply::AnswerLost,
            }
        } else if dice.hits(Fault::CommitFatal) {
            CommitReply::RefusedWith(ConnectorError::fatal("drawn: fenced"))
        } else {
            CommitReply::Taken
        }
    }

    fn call(&mut self, call: Call) -> Result<(), ConnectorError> {
        let fault = match call {
            Call::Start => return Ok(()),
            Call::Poll if self.dice.hits(Fault::PollFatal) => {
                return Err(ConnectorError::fatal("drawn: the client is fenced"));
            }
            Call::Poll => Fault::PollFails,
            Call::Pause | Call::Resume => Fault::PauseFails,
            Call::Release => Fault::ReleaseFails,
        };
        match self.dice.hits(fault) {
            true => Err(ConnectorError::retryable(format!("drawn: {call:?} failed"))),
            false => Ok(()),
        }
    }
}

/// Until when each sink refuses everything; shared by all processes.
#[derive(Clone, Default)]
pub(super) struct Outages(Arc<Mutex<Vec<Time>>>);

impl Outages {
    pub(super) fn begin(&self, sink: usize, until: Time) {
        let mut outages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = outages.len().max(sink + 1);
        outages.resize(most, Time::ZERO);
        outages[sink] = outages[sink].max(until);
    }

    pub(super) fn end(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn is_on(&self, sink: usize, now: Time) -> bool {
        let outages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outages.get(sink).is_some_and(|until| now < *until)
    }
}

pub(super) struct DrawnSink {
    pub(super) dice: Dice,
    pub(super) truth: Truth,
    pub(super) process: u32,
    pub(super) sink: usize,
    pub(super) shards: usize,
    pub(super) latency: Duration,
    pub(super) outages: Outages,
    /// Whether what is answered as stored is: a planted bug turns it off.
    pub(super) keeps: bool,
}

impl DrawnSink {
    fn draw(&mut self, attempt: &Attempt) -> Reply {
        let place = format!("sink `{}` shard {}", super::SINKS[self.sink], attempt.shard);
        let mut truth = self.truth.state();
        let now = truth.now;
        let dice = &mut self.dice;
        if self.outages.is_on(self.sink, now) {
            truth.cause(self.process, place);
            return Reply::retryable("drawn: the server is down");
        }
        let mut cause = || truth.cause(self.process, place.clone());
        if dice.hits(Fault::WriteFails) {
            cause();
            Reply::retryable("drawn: too many parts")
        } else if dice.hits(Fault::WriteAnswerLost) {
            cause();
            Reply::lost()
        } else if dice.hits(Fault::WritePartly) {
            cause();
            Reply::partly(dice.rng.usize(1..3))
        } else if dice.hits(Fault::WriteFatal) {
            cause();
            Reply::fatal("drawn: unknown table")
        } else if dice.hits(Fault::WriteHangs) {
            cause();
            truth.process(self.process).stuck = true;
            let mut reply = Reply::hang();
            if dice.rng.bool() {
                // The server has it all the same.
                reply.stores = crate::scripted::Stores::All;
                reply.early = true;
            }
            reply
        } else if dice.hits(Fault::WritePanicsInCall) {
            cause();
            Reply::panic_in_call()
        } else if dice.hits(Fault::WritePanicsInPoll) {
            cause();
            Reply::panic_in_poll()
        } else {
            Reply::stored()
        }
    }
}

impl SinkScript for DrawnSink {
    fn attempt(&mut self, attempt: &Attempt) -> Reply {
        let mut reply = self.draw(attempt);
        let most = self.latency.as_millis() as u64;
        reply.after = match self.dice.hits(Fault::WriteSlow) {
            true => {
                // It can take longer than an attempt may.
                let place = format!("sink `{}` shard {}", super::SINKS[self.sink], attempt.shard);
                self.truth.state().cause(self.process, place);
                self.dice.millis(1, 8_000)
            }
            false if most > 0 => self.dice.millis(0, most),
            false => Duration::ZERO,
        };
        if self.dice.hits(Fault::WritePanicsOnDrop) {
            let place = format!("sink `{}` shard {}", super::SINKS[self.sink], attempt.shard);
            self.truth.state().cause(self.process, place);
            reply.panics_on_drop = true;
        }
        reply
    }

    fn stored(&mut self, stored: &Stored) -> bool {
        let shard = stored.attempt.shard;
        if self.keeps {
            let mut truth = self.truth.state();
            truth.stores(self.process, self.sink, shard, self.shards, &stored.data);
        }
        false
    }
}

/// A gate that holds batches now and then, as while a schema is looked up.
pub(super) struct DrawnGate {
    pub(super) dice: Dice,
    pub(super) truth: Truth,
    pub(super) process: u32,
}

impl Gate for DrawnGate {
    fn admit(&mut self, batch: &Batch<'_>) -> Admit {
        if self.dice.hits(Fault::GateHolds) {
            return Admit::Hold;
        }
        if self.dice.hits(Fault::GateStops) {
            let place = format!("decoder, partition {}/{}", batch.topic(), batch.partition());
            self.truth.state().cause(self.process, place);
            return Admit::Stop(ConnectorError::fatal(
                "drawn: the registry rejects the credentials",
            ));
        }
        Admit::Ready
    }
}
