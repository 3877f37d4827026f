//! The controller: owns the source's control plane and the checkpointer, and decides how the run goes.
//!
//! A state machine: [`Controller::step`] takes the time and never waits. Whatever the phase, each step polls the source, so
//! that a member of a consumer group stays one (invariant 2).
//!
//! - Running: lanes go to drivers, watermarks are committed, a full budget or queue pauses the lanes.
//! - Draining (a signal, the end of a bounded source, a failure): drivers stop and hand over what is open; when they have
//!   ended the queues are closed; when the workers have ended the last watermarks are committed.
//! - Done: the source is closed. At the drain's deadline each of these waits is cut short.

mod calls;
mod faults;
mod revoke;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use calls::Again;

use super::budget::Budget;
use super::deadline::Deadline;
use super::mailbox::{Command, DriverStatus, Mailbox};
use super::revocation::{Revocation, RevocationStep};
use super::stall::{StallWatch, ThreadWatch};
use crate::checkpoint::{Checkpointer, PartitionTracker};
use crate::config::BackpressureConfig;
use crate::error::ConnectorError;
use crate::failure::{Failure, FailureSlot};
use crate::limits::{ABORT_GRACE, CALL_RETRY, CONTROLLER_IDLE, EVENTS_PER_STEP};
use crate::record::Partition;
use crate::sink::ShardQueue;
use crate::source::{Commit, LaneId, Source, SourceEvent, SourceLane};
use crate::stats::SinkStats;
use crate::time::Time;

/// One driver, as the controller sees it.
pub struct DriverHandle {
    /// Where to leave commands.
    pub mailbox: Arc<Mailbox>,
    /// How it stands.
    pub status: Arc<DriverStatus>,
}

/// What the controller works with.
pub struct ControllerConfig {
    /// `checkpoint.interval`.
    pub commit_interval: Duration,
    /// `checkpoint.drain_timeout`.
    pub drain_timeout: Duration,
    /// `checkpoint.max_pending_batches`.
    pub max_pending_batches: usize,
    /// `checkpoint.stalled_fail_after`.
    pub stalled_fail_after: Duration,
    /// `backpressure`.
    pub backpressure: BackpressureConfig,
    /// The gauge of what is in flight.
    pub budget: Arc<Budget>,
    /// Where failures go.
    pub failure: Arc<FailureSlot>,
    /// Set by a signal or a shutdown handle.
    pub shutdown: Arc<AtomicBool>,
    /// Set when a drain begins.
    pub deadline: Arc<Deadline>,
    /// The queues of all shards of all sinks.
    pub queues: Vec<Arc<ShardQueue>>,
    /// How many sink workers have ended.
    pub workers_ended: Arc<std::sync::atomic::AtomicUsize>,
    /// The workers, to name one that does not end.
    pub workers: Vec<Arc<crate::sink::WorkerWatch>>,
    /// The sinks by name: a failure for want of a sink quotes its last error.
    pub sinks: Vec<(&'static str, Arc<SinkStats>)>,
}

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerStep {
    /// Step again at this time at the latest.
    pub wake_at: Time,
    /// The run is over.
    pub done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Drivers hand over what is open.
    Stopping,
    /// Workers write what is queued.
    Flushing,
    /// The last commit.
    Committing,
    Done,
}

struct LaneEntry {
    driver: usize,
    held: Held,
}

/// Where a lane's object is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// With its driver, which reads it.
    Reading,
    /// With its driver, which was told to drop it.
    Dropping,
    /// Nowhere.
    Gone,
}

/// The controller.
pub struct Controller {
    config: ControllerConfig,
    source: Box<dyn Source>,
    checkpointer: Checkpointer,
    drivers: Vec<DriverHandle>,
    lanes: BTreeMap<LaneId, LaneEntry>,
    revocations: Vec<Revocation>,
    stalls: StallWatch,
    threads: ThreadWatch,
    phase: Phase,
    paused_at: Option<Time>,
    again: Again,
    last_trouble: Option<ConnectorError>,
    lag: Vec<(Partition, i64)>,
    abandoned: usize,
    lost: usize,
    /// The first lane seen with a failed batch, and the offset that it waits for.
    given_up: Option<(Partition, i64)>,
    /// A lane was given back in the drain without the commit of its watermark.
    uncommitted: bool,
}

impl Controller {
    /// A controller whose source has not been started.
    #[must_use]
    pub fn new(
        config: ControllerConfig,
        source: Box<dyn Source>,
        drivers: Vec<DriverHandle>,
        now: Time,
    ) -> Self {
        assert!(!drivers.is_empty(), "a pipeline has at least one driver");
        let checkpointer = Checkpointer::new(config.commit_interval, now);
        let stalls = StallWatch::new(config.stalled_fail_after);
        let threads = ThreadWatch::new(config.stalled_fail_after);
        Controller {
            config,
            source,
            checkpointer,
            drivers,
            lanes: BTreeMap::new(),
            revocations: Vec::new(),
            stalls,
            threads,
            phase: Phase::Running,
            paused_at: None,
            again: Again::default(),
            last_trouble: None,
            lag: Vec::new(),
            abandoned: 0,
            lost: 0,
            given_up: None,
            uncommitted: false,
        }
    }

    /// Begins to join; a failure goes to the failure slot and ends the run in the next steps.
    pub fn start(&mut self, now: Time) {
        if let Err(error) = self.source.start(now) {
            self.source_failed(&error);
        }
    }

    /// One step at the time `now`.
    pub fn step(&mut self, now: Time) -> ControllerStep {
        if self.phase == Phase::Done {
            return ControllerStep {
                wake_at: now,
                done: true,
            };
        }
        self.poll_source(now);
        if self.phase == Phase::Running {
            self.check_stalls(now);
            if self.config.failure.is_set()
                || self.config.shutdown.load(Ordering::Acquire)
                || self.has_failed_batches()
            {
                self.begin_drain(now);
            }
        }
        self.call_again(now);
        self.drive_revocations(now);
        if self.phase == Phase::Running {
            self.apply_backpressure(now);
        }
        self.drive_drain(now);
        self.drive_commits(now);
        let idle = now.after(CONTROLLER_IDLE);
        ControllerStep {
            wake_at: self
                .checkpointer
                .wake_at()
                .map_or(idle, |at| idle.min(at.max(now))),
            done: self.phase == Phase::Done,
        }
    }

    /// The offsets that this run stored, by partition.
    #[must_use]
    pub fn committed(&self) -> Vec<(Partition, i64)> {
        self.checkpointer.committed()
    }

    /// Batches that were read and are not behind a committed watermark: they will be read again.
    #[must_use]
    pub fn abandoned_batches(&self) -> usize {
        self.abandoned
    }

    /// How many records of each partition were still to be read when the lanes were given back, as far as the source knows.
    #[must_use]
    pub fn lag(&self) -> &[(Partition, i64)] {
        &self.lag
    }

    /// The run ends without a drain, because something panicked: what is in flight is given up.
    pub(crate) fn give_up(&mut self) {
        if self.phase != Phase::Done {
            self.phase = Phase::Done;
            self.abandoned += self.checkpointer.pending();
        }
    }

    /// Batches in flight of lanes that were lost to another member, which reads them again.
    #[must_use]
    pub fn lost_batches(&self) -> usize {
        self.lost
    }

    /// Whether the lanes are paused because too much is in flight, or a queue is full.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused_at.is_some()
    }

    // ---- the source ----

    fn poll_source(&mut self, now: Time) {
        for _ in 0..EVENTS_PER_STEP {
            match self.source.poll(now) {
                Ok(Some(event)) => self.take_event(event, now),
                Ok(None) => return,
                Err(error) if error.is_retryable() => return self.trouble(error),
                Err(error) => return self.source_failed(&error),
            }
        }
    }

    fn take_event(&mut self, event: SourceEvent, now: Time) {
        match event {
            SourceEvent::Assigned(lanes) => self.assign(lanes),
            SourceEvent::Revoking(lanes) => self.revoke(lanes, false, now),
            SourceEvent::Lost(lanes) => self.revoke(lanes, true, now),
            SourceEvent::Committed { id, result } => {
                self.checkpointer.ended(id, result.is_ok(), now);
                match result {
                    Ok(()) => {}
                    Err(error) if error.is_retryable() => self.trouble(error),
                    Err(error) => self.source_failed(&error),
                }
            }
            SourceEvent::Ended => {
                tracing::info!("the source has come to its end");
                self.config.shutdown.store(true, Ordering::Release);
            }
            SourceEvent::Trouble(error) => self.trouble(error),
        }
    }

    fn trouble(&mut self, error: ConnectorError) {
        if self
            .last_trouble
            .as_ref()
            .is_none_or(|last| last.message != error.message)
        {
            tracing::warn!("source: {error}");
        }
        self.last_trouble = Some(error);
    }

    fn source_failed(&mut self, error: &ConnectorError) {
        self.config
            .failure
            .set(Failure::new("source", error.to_string()));
    }

    fn assign(&mut self, lanes: Vec<Box<dyn SourceLane>>) {
        let ids: Vec<LaneId> = lanes.iter().map(|lane| lane.id()).collect();
        for lane in lanes {
            let tracker = Arc::new(PartitionTracker::new(
                lane.id(),
                lane.partition().clone(),
                self.config.max_pending_batches,
            ));
            let driver = self.idlest_driver();
            tracing::debug!(partition = %lane.partition(), driver, "lane assigned");
            self.checkpointer.add(Arc::clone(&tracker));
            // While draining the lane is dropped here: nothing of it is read, its partition goes back at the close.
            let running = self.phase == Phase::Running;
            let held = if running { Held::Reading } else { Held::Gone };
            let before = self.lanes.insert(lane.id(), LaneEntry { driver, held });
            assert!(before.is_none(), "a lane was assigned twice");
            if running {
                self.drivers[driver]
                    .mailbox
                    .send(Command::Add(lane, tracker));
            }
        }
        // A lane that joins a paused source is paused as well.
        if self.paused_at.is_some() {
            self.pause(&ids);
        }
    }

    fn idlest_driver(&self) -> usize {
        let mut load = vec![0usize; self.drivers.len()];
        for entry in self.lanes.values() {
            load[entry.driver] += 1;
        }
        (0..load.len())
            .min_by_key(|&driver| load[driver])
            .expect("there is a driver")
    }

    // ---- commits ----

    fn drive_commits(&mut self, now: Time) {
        if matches!(
            self.phase,
            Phase::Running | Phase::Stopping | Phase::Flushing
        ) {
            // Behind the deadline only a thread that is stuck is waited for: what is stored by now is committed meanwhile.
            let late = self.config.deadline.passed(now);
            self.commit(now, late);
        }
    }

    fn commit(&mut self, now: Time, urgent: bool) {
        let Some((id, offsets)) = self.checkpointer.step(now, urgent) else {
            return;
        };
        if tracing::enabled!(tracing::Level::DEBUG) {
            for (partition, records) in self.source.lag() {
                tracing::debug!(%partition, records, "lag");
            }
        }
        self.source_commit(id, &offsets, now);
    }

    fn source_commit(&mut self, id: u64, offsets: &[Commit], now: Time) {
        if let Err(error) = self.source.commit(id, offsets) {
            self.checkpointer.ended(id, false, now);
            if error.is_retryable() {
                self.trouble(error);
            } else {
                self.source_failed(&error);
            }
        }
    }

    // ---- drain ----

    fn begin_drain(&mut self, now: Time) {
        tracing::info!(timeout = ?self.config.drain_timeout, "draining");
        self.config.deadline.set(now, self.config.drain_timeout);
        for driver in &self.drivers {
            driver.mailbox.send(Command::Stop);
        }
        // Workers learn of the deadline by being woken.
        self.config.queues.iter().for_each(|queue| queue.wake());
        self.phase = Phase::Stopping;
    }

    fn drive_drain(&mut self, now: Time) {
        let deadline = self.config.deadline.get();
        let late = |grace: Duration| deadline.is_some_and(|at| now >= at.after(grace));
        if self.phase == Phase::Stopping {
            // A driver that is stuck keeps the queues open; what the others have handed over is written all the same.
            self.config
                .queues
                .iter()
                .for_each(|queue| queue.request_flush());
            // A driver sees the deadline itself; the grace is for one that is stuck in user code.
            if self.drivers.iter().all(|driver| driver.status.has_ended()) || late(ABORT_GRACE) {
                self.config.queues.iter().for_each(|queue| queue.close());
                self.phase = Phase::Flushing;
            }
        }
        if self.phase == Phase::Flushing {
            let shards = self.config.queues.len();
            let ended = self.config.workers_ended.load(Ordering::Acquire);
            if ended >= shards || late(ABORT_GRACE) {
                self.fail_for_failed_batches(late(Duration::ZERO));
                if ended < shards {
                    self.fail_for_late_workers(shards - ended);
                }
                self.phase = Phase::Committing;
            } else if late(Duration::ZERO) {
                // Their own alarms may be late; a worker that is woken sees the deadline.
                self.config.queues.iter().for_each(|queue| queue.wake());
            }
        }
        if self.phase == Phase::Committing {
            let behind = self
                .lanes
                .keys()
                .any(|lane| self.checkpointer.is_behind(*lane));
            let committing = self.checkpointer.is_committing();
            if (!behind && !committing) || late(ABORT_GRACE) {
                self.finish(behind || committing);
            } else if !committing {
                self.commit(now, true);
            }
        }
    }

    fn finish(&mut self, mut uncommitted: bool) {
        uncommitted |= self.uncommitted;
        self.abandoned += self.checkpointer.pending();
        if uncommitted {
            let why = self
                .last_trouble
                .as_ref()
                .map_or(String::new(), |error| format!(": {error}"));
            let text = format!(
                "the last offsets could not be committed within checkpoint.drain_timeout{why}"
            );
            self.config.failure.set(Failure::new("checkpoint", text));
        }
        self.lag = self.source.lag();
        let lanes: Vec<LaneId> = std::mem::take(&mut self.lanes).into_keys().collect();
        let all_ended = self.drivers.iter().all(|driver| driver.status.has_ended());
        if all_ended {
            if !lanes.is_empty() {
                // Nothing is called again: the close gives back what is left.
                self.release(lanes);
            }
            self.source.close();
        } else {
            self.fail_for_stuck_drivers();
        }
        self.phase = Phase::Done;
    }
}
