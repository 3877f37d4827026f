//! The controller: owns the source's control plane and the checkpointer, and decides how the run goes.
//!
//! A state machine: [`Controller::step`] takes the time and never waits. Whatever the phase, each step polls the source, so
//! that a member of a consumer group stays one (invariant 2).
//!
//! - Running: lanes go to drivers, watermarks are committed, full queues pause the lanes.
//! - Draining (a signal, the end of a bounded source, a failure): drivers stop and hand over what is open; when they have
//!   ended the queues are closed; when the workers have ended the last watermarks are committed.
//! - Done: the source is closed. At the drain's deadline each of these waits is cut short.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::deadline::Deadline;
use super::mailbox::{Command, DriverStatus, Mailbox};
use super::revocation::{Revocation, RevocationStep};
use crate::checkpoint::{Checkpointer, PartitionTracker};
use crate::config::BackpressureConfig;
use crate::error::ConnectorError;
use crate::failure::{Failure, FailureSlot};
use crate::limits::{ABORT_GRACE, COMMIT_RETRY, CONTROLLER_IDLE, EVENTS_PER_STEP};
use crate::sink::ShardQueue;
use crate::source::{Commit, LaneId, Source, SourceEvent, SourceLane};
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
    /// `backpressure`.
    pub backpressure: BackpressureConfig,
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
}

/// The controller.
pub struct Controller {
    config: ControllerConfig,
    source: Box<dyn Source>,
    checkpointer: Checkpointer,
    drivers: Vec<DriverHandle>,
    lanes: BTreeMap<LaneId, LaneEntry>,
    revocations: Vec<Revocation>,
    phase: Phase,
    paused_at: Option<Time>,
    commit_not_before: Time,
    last_trouble: Option<ConnectorError>,
    abandoned: usize,
    lost: usize,
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
        Controller {
            config,
            source,
            checkpointer,
            drivers,
            lanes: BTreeMap::new(),
            revocations: Vec::new(),
            phase: Phase::Running,
            paused_at: None,
            commit_not_before: Time::ZERO,
            last_trouble: None,
            abandoned: 0,
            lost: 0,
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
        self.check_failed_batches();
        if self.phase == Phase::Running
            && (self.config.failure.is_set() || self.config.shutdown.load(Ordering::Acquire))
        {
            self.begin_drain(now);
        }
        self.drive_revocations(now);
        if self.phase == Phase::Running {
            self.apply_backpressure(now);
        }
        self.drive_drain(now);
        self.drive_commits(now);
        let idle = now.after(CONTROLLER_IDLE);
        ControllerStep {
            wake_at: idle.min(self.checkpointer.wake_at().max(now)),
            done: self.phase == Phase::Done,
        }
    }

    /// The offsets that this run stored, by partition.
    #[must_use]
    pub fn committed(&self) -> Vec<(crate::record::Partition, i64)> {
        self.checkpointer.committed()
    }

    /// Batches that were read and are not behind a committed watermark: they will be read again.
    #[must_use]
    pub fn abandoned_batches(&self) -> usize {
        self.abandoned
    }

    /// Batches in flight of lanes that were lost to another member, which reads them again.
    #[must_use]
    pub fn lost_batches(&self) -> usize {
        self.lost
    }

    /// Whether the lanes are paused because a queue is full.
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
                    Err(error) if error.is_retryable() => {
                        self.commit_not_before = now.after(COMMIT_RETRY);
                        self.trouble(error);
                    }
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
            assert!(
                self.lanes.insert(lane.id(), LaneEntry { driver }).is_none(),
                "a lane was assigned twice"
            );
            if self.phase == Phase::Running {
                self.drivers[driver]
                    .mailbox
                    .send(Command::Add(lane, tracker));
            }
            // While draining the lane is dropped here: nothing of it is read, its partition goes back at the close.
        }
        // A lane that joins a paused source is paused as well.
        if self.paused_at.is_some() {
            self.call("pause", |source| source.pause(&ids));
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

    // ---- revocation ----

    fn revoke(&mut self, lanes: Vec<LaneId>, lost: bool, now: Time) {
        let mut by_driver: BTreeMap<usize, Vec<LaneId>> = BTreeMap::new();
        for lane in &lanes {
            if let Some(entry) = self.lanes.get(lane) {
                by_driver.entry(entry.driver).or_default().push(*lane);
            }
        }
        // While draining the drivers drop all their lanes anyway.
        if self.phase == Phase::Running {
            for (driver, lanes) in &by_driver {
                self.drivers[*driver]
                    .mailbox
                    .send(Command::Drop(lanes.clone()));
            }
        }
        let with_drivers = by_driver.into_values().flatten().collect();
        self.revocations
            .push(Revocation::new(lanes, with_drivers, lost, now));
    }

    fn drive_revocations(&mut self, now: Time) {
        if self.revocations.is_empty() {
            return;
        }
        for driver in &self.drivers {
            for lane in driver.status.take_dropped() {
                self.revocations
                    .iter_mut()
                    .for_each(|revocation| revocation.dropped(lane));
            }
        }
        // A driver that has ended holds no lane, whatever it had time to report.
        for (lane, entry) in &self.lanes {
            if self.drivers[entry.driver].status.has_ended() {
                self.revocations
                    .iter_mut()
                    .for_each(|revocation| revocation.dropped(*lane));
            }
        }
        // Rows of these lanes may wait in a block for company: ask the workers to write now.
        self.config
            .queues
            .iter()
            .for_each(|queue| queue.request_flush());
        let mut commit = false;
        let mut released = Vec::new();
        self.revocations.retain(
            |revocation| match revocation.step(&self.checkpointer, now) {
                RevocationStep::Wait => true,
                RevocationStep::Commit => {
                    commit = true;
                    true
                }
                RevocationStep::Release => {
                    released.push((revocation.lanes.clone(), revocation.is_lost()));
                    false
                }
            },
        );
        if commit {
            self.commit(now, true);
        }
        for (lanes, lost) in released {
            for lane in &lanes {
                let pending = self.checkpointer.progress(*lane).map_or(0, |p| p.pending);
                // What is lost was given to another member, which reads it; nothing of this run was given up.
                if lost {
                    self.lost += pending;
                } else {
                    self.abandoned += pending;
                }
                self.checkpointer.remove(*lane);
                self.lanes.remove(lane);
            }
            self.call("release", |source| source.release(&lanes));
        }
    }

    // ---- backpressure ----

    fn apply_backpressure(&mut self, now: Time) {
        let config = &self.config.backpressure;
        let blocked = self.drivers.iter().any(|driver| driver.status.is_blocked());
        let fullest = self
            .config
            .queues
            .iter()
            .map(|queue| queue.fill())
            .fold(0.0, f64::max);
        match self.paused_at {
            None if blocked || fullest >= config.high_ratio => {
                self.paused_at = Some(now);
                let lanes: Vec<LaneId> = self.lanes.keys().copied().collect();
                tracing::debug!(
                    lanes = lanes.len(),
                    "paused: a sink is slower than the source"
                );
                self.call("pause", |source| source.pause(&lanes));
            }
            Some(since)
                if !blocked
                    && fullest <= config.low_ratio
                    && now.since(since) >= config.min_pause =>
            {
                self.paused_at = None;
                let lanes: Vec<LaneId> = self.lanes.keys().copied().collect();
                tracing::debug!(lanes = lanes.len(), "resumed");
                self.call("resume", |source| source.resume(&lanes));
            }
            _ => {}
        }
    }

    fn call(&mut self, what: &str, f: impl FnOnce(&mut dyn Source) -> Result<(), ConnectorError>) {
        match f(&mut *self.source) {
            Ok(()) => {}
            Err(error) if error.is_retryable() => {
                self.trouble(ConnectorError::retryable(format!("{what} failed: {error}")));
            }
            Err(error) => {
                self.source_failed(&ConnectorError::fatal(format!("{what} failed: {error}")))
            }
        }
    }

    // ---- commits ----

    fn check_failed_batches(&mut self) {
        if self.config.failure.is_set() {
            return;
        }
        if let Some(partition) = self.checkpointer.failed().next() {
            let failure = Failure::new(
                format!("partition {partition}"),
                "a batch was given up by its sink",
            );
            self.config.failure.set(failure);
        }
    }

    fn drive_commits(&mut self, now: Time) {
        if matches!(
            self.phase,
            Phase::Running | Phase::Stopping | Phase::Flushing
        ) {
            self.commit(now, false);
        }
    }

    fn commit(&mut self, now: Time, urgent: bool) {
        if now < self.commit_not_before {
            return;
        }
        let Some((id, offsets)) = self.checkpointer.step(now, urgent) else {
            return;
        };
        self.source_commit(id, &offsets, now);
    }

    fn source_commit(&mut self, id: u64, offsets: &[Commit], now: Time) {
        if let Err(error) = self.source.commit(id, offsets) {
            self.checkpointer.ended(id, false, now);
            self.commit_not_before = now.after(COMMIT_RETRY);
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
            // A driver sees the deadline itself; the grace is for one that is stuck in user code.
            if self.drivers.iter().all(|driver| driver.status.has_ended()) || late(ABORT_GRACE) {
                self.config.queues.iter().for_each(|queue| queue.close());
                self.phase = Phase::Flushing;
            }
        }
        if self.phase == Phase::Flushing {
            let ended =
                self.config.workers_ended.load(Ordering::Acquire) >= self.config.queues.len();
            if ended || late(ABORT_GRACE) {
                self.phase = Phase::Committing;
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

    fn finish(&mut self, uncommitted: bool) {
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
        let lanes: Vec<LaneId> = std::mem::take(&mut self.lanes).into_keys().collect();
        let all_ended = self.drivers.iter().all(|driver| driver.status.has_ended());
        if all_ended {
            if !lanes.is_empty() {
                self.call("release", |source| source.release(&lanes));
            }
            self.source.close();
        } else {
            self.config.failure.set(Failure::new(
                "driver",
                "a driver thread did not stop: user code does not return",
            ));
        }
        self.phase = Phase::Done;
    }
}
