//! The driver of one thread: takes batches from its lanes, runs the kernel over them, hands chunks to the shard queues.
//!
//! A state machine: [`Driver::step`] takes the time and the kernel and never waits. Steps, in order:
//!
//! 1. Commands: lanes added and dropped, the stop.
//! 2. Parked and due chunks are pushed. A full queue is reported and nothing is fetched, but commands are served
//!    (invariant 2).
//! 3. One batch of each lane that has room in its tracker, while the budget has room: gate, register, kernel, attach acks.
//!
//! A kernel that returns an error or panics fails the pipeline; its batch is rolled back and its ack dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::deadline::Deadline;
use super::mailbox::{Command, DriverStatus, Mailbox};
use crate::checkpoint::PartitionTracker;
use crate::decode::{Admit, Gate};
use crate::failure::{Failure, FailureSlot, panic_text};
use crate::limits::DRIVER_IDLE;
use crate::output::Output;
use crate::record::Batch;
use crate::scratch::Scratch;
use crate::source::{Fetched, LaneId, SourceLane};
use crate::time::Time;

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverStep {
    /// Something was done: step again at once.
    Work,
    /// Nothing to do before this time, a command apart.
    Idle {
        /// When to step again.
        wake_at: Time,
    },
    /// The kernel's state has to be made anew before the next step.
    Renew,
    /// The driver has ended.
    Ended,
}

/// What a driver shares with the rest of the engine.
pub struct DriverShared {
    /// Commands for this driver.
    pub mailbox: Arc<Mailbox>,
    /// How it stands.
    pub status: Arc<DriverStatus>,
    /// Where the first failure goes.
    pub failure: Arc<FailureSlot>,
    /// When a drain gives up.
    pub deadline: Arc<Deadline>,
}

struct Lane {
    lane: Box<dyn SourceLane>,
    tracker: Arc<PartitionTracker>,
    /// A batch is current and waits for its schemas.
    held: bool,
    ended: bool,
}

/// The driver of one thread.
pub struct Driver {
    shared: DriverShared,
    lanes: Vec<Lane>,
    output: Output,
    gate: Option<Box<dyn Gate>>,
    /// For the batch that is being run; empty between batches.
    scratch: Scratch,
    batch_records: usize,
    stopping: bool,
    seal_all: bool,
}

impl Driver {
    /// A driver without lanes.
    #[must_use]
    pub fn new(
        shared: DriverShared,
        output: Output,
        gate: Option<Box<dyn Gate>>,
        batch_records: usize,
    ) -> Self {
        Driver {
            shared,
            lanes: Vec::new(),
            output,
            gate,
            scratch: Scratch::new(),
            batch_records,
            stopping: false,
            seal_all: false,
        }
    }

    /// One step at the time `now`.
    pub fn step<K>(&mut self, now: Time, kernel: &mut K) -> DriverStep
    where
        K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
    {
        self.shared.status.begin_step();
        let renew = self.take_commands();
        if self.stopping && self.shared.deadline.passed(now) {
            let rows = self.output.abandon();
            if rows > 0 {
                tracing::error!(
                    rows,
                    "rows were given up before they reached a queue: the drain's deadline passed"
                );
            }
            return self.end();
        }
        let pushed = self.output.push(now, self.seal_all);
        self.shared.status.set_blocked(!pushed);
        self.seal_all &= !pushed;
        if renew {
            return DriverStep::Renew;
        }
        if !pushed {
            return DriverStep::Idle {
                wake_at: now.after(DRIVER_IDLE),
            };
        }
        if self.stopping {
            return self.end();
        }
        if self.run_lanes(now, kernel) {
            return DriverStep::Work;
        }
        let idle = now.after(DRIVER_IDLE);
        DriverStep::Idle {
            wake_at: self.output.wake_at().map_or(idle, |due| due.min(idle)),
        }
    }

    /// Serves the mailbox; whether the kernel's state has to be renewed.
    fn take_commands(&mut self) -> bool {
        let mut renew = false;
        while let Some(command) = self.shared.mailbox.take() {
            match command {
                Command::Add(lane, tracker) => {
                    assert_eq!(
                        lane.id(),
                        tracker.lane(),
                        "a lane came with another lane's tracker"
                    );
                    self.lanes.push(Lane {
                        lane,
                        tracker,
                        held: false,
                        ended: false,
                    });
                }
                Command::Drop(ids) => {
                    self.drop_lanes(|id| ids.contains(&id));
                    self.seal_all = true;
                    renew = true;
                }
                Command::Stop => {
                    self.drop_lanes(|_| true);
                    self.seal_all = true;
                    self.stopping = true;
                }
            }
        }
        renew && !self.stopping
    }

    /// Drops lanes and then tells the controller, which gives them back only when they are gone.
    fn drop_lanes(&mut self, which: impl Fn(LaneId) -> bool) {
        let mut dropped = Vec::new();
        self.lanes.retain(|lane| {
            let id = lane.lane.id();
            let gone = which(id);
            if gone {
                dropped.push(id);
            }
            !gone
        });
        for id in dropped {
            self.shared.status.lane_dropped(id);
        }
    }

    fn end(&mut self) -> DriverStep {
        self.shared.status.set_blocked(false);
        DriverStep::Ended
    }

    /// One batch of every lane that has one; whether there was any.
    fn run_lanes<K>(&mut self, now: Time, kernel: &mut K) -> bool
    where
        K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
    {
        let mut worked = false;
        for index in 0..self.lanes.len() {
            if self.shared.failure.is_set() {
                return false;
            }
            // Asked before each batch: the threads together overshoot the budget by at most one batch each.
            if !self.output.has_room() {
                break;
            }
            // The kernel's panics are caught inside; this is for the lane's own code, a user's as well as a client's.
            let ran = catch_unwind(AssertUnwindSafe(|| self.run_lane(index, now, kernel)));
            let ran = ran.unwrap_or_else(|panic| {
                let lane = &*self.lanes[index].lane;
                let text = format!("reading panicked: {}", panic_text(&*panic));
                Err(lane_failure(lane, text))
            });
            match ran {
                Ok(ran) => worked |= ran,
                Err(failure) => {
                    self.shared.failure.set(failure);
                    return false;
                }
            }
            if !self.output.push(now, false) {
                self.shared.status.set_blocked(true);
                break;
            }
        }
        // Lanes take turns: the next step begins with another one.
        if self.lanes.len() > 1 {
            self.lanes.rotate_left(1);
        }
        worked
    }

    fn run_lane<K>(&mut self, index: usize, now: Time, kernel: &mut K) -> Result<bool, Failure>
    where
        K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
    {
        let Lane {
            lane,
            tracker,
            held,
            ended,
        } = &mut self.lanes[index];
        if *ended || !tracker.has_room() {
            return Ok(false);
        }
        if !*held {
            match lane.fetch(self.batch_records) {
                Ok(Fetched::Batch) => {}
                Ok(Fetched::Empty) => return Ok(false),
                Ok(Fetched::Passed(next_offset)) => {
                    tracker.pass(next_offset);
                    return Ok(true);
                }
                Ok(Fetched::End) => {
                    *ended = true;
                    return Ok(false);
                }
                Err(error) if error.is_retryable() => {
                    tracing::warn!(partition = %lane.partition(), "reading failed and will be repeated: {error}");
                    return Ok(false);
                }
                Err(error) => return Err(lane_failure(&**lane, error.to_string())),
            }
        }
        let (output, gate, scratch) = (&mut self.output, &mut self.gate, &self.scratch);
        let mut outcome = Ok(false);
        lane.read(&mut |batch| {
            let batch = &batch.with_scratch(scratch);
            outcome = run_batch(batch, tracker, gate, output, now, kernel);
        });
        self.scratch.clear();
        match outcome {
            Ok(ran) => {
                *held = !ran;
                if ran {
                    lane.finish();
                }
                Ok(ran)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// Runs one batch; `false` if it has to wait for its schemas.
fn run_batch<K>(
    batch: &Batch<'_>,
    tracker: &PartitionTracker,
    gate: &mut Option<Box<dyn Gate>>,
    output: &mut Output,
    now: Time,
    kernel: &mut K,
) -> Result<bool, Failure>
where
    K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
{
    if let Some(gate) = gate {
        match gate.admit(batch) {
            Admit::Ready => {}
            Admit::Hold => return Ok(false),
            Admit::Stop(error) => {
                return Err(Failure::new(
                    format!("decoder, partition {}", tracker.partition()),
                    error.to_string(),
                ));
            }
        }
    }
    let records = batch.records();
    let ack = tracker
        .register(records[0].offset(), batch.next_offset())
        .map_err(|error| {
            Failure::new(
                format!("source, partition {}", tracker.partition()),
                error.to_string(),
            )
        })?;
    output.start_batch(tracker.partition(), now);
    // The kernel's state may be torn by a panic; it is not used again, because the pipeline stops.
    match catch_unwind(AssertUnwindSafe(|| kernel(batch, output))) {
        Ok(Ok(())) => {
            output.end_batch(records.len(), ack, now);
            Ok(true)
        }
        Ok(Err(failure)) => {
            output.roll_back();
            Err(failure)
        }
        Err(panic) => {
            output.roll_back();
            Err(output.panicked(&panic_text(&*panic)))
        }
    }
}

fn lane_failure(lane: &dyn SourceLane, text: String) -> Failure {
    Failure::new(format!("source, partition {}", lane.partition()), text)
}
