//! A run: the machines are made, started, and waited for.
//!
//! The run returns a report whatever happens: a panic on this thread, in a source or in the engine itself, is caught, the
//! threads are told to give up, and the report says so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::threads::{join_all, join_until};
use super::{Runtime, Signals, run_id};
use crate::engine::shell::{WorkerHandle, run_controller, spawn_driver, spawn_worker};
use crate::engine::{
    Budget, Command, Controller, ControllerConfig, Deadline, Driver, DriverHandle, DriverShared,
    DriverStatus, Mailbox,
};
use crate::exit::ExitReport;
use crate::failure::{Failure, FailureSlot, panic_text};
use crate::limits::{ABORT_GRACE, EXIT_GRACE};
use crate::output::{Output, SinkOutput};
use crate::sink::{ShardQueue, SinkWorker, WorkerShared};
use crate::stats::Stats;
use crate::thread::Thread;
use crate::time::{Clock, Time};

/// What the machines of one run share.
struct Shared {
    clock: Arc<dyn Clock>,
    failure: Arc<FailureSlot>,
    stats: Arc<Stats>,
    deadline: Arc<Deadline>,
    workers_ended: Arc<AtomicUsize>,
    budget: Arc<Budget>,
}

/// What has been started: it has to be ended again, however the run goes.
#[derive(Default)]
struct Started {
    queues: Vec<Vec<Arc<ShardQueue>>>,
    mailboxes: Vec<Arc<Mailbox>>,
    workers: Vec<WorkerHandle>,
    drivers: Vec<JoinHandle<()>>,
    controller: Option<Controller>,
}

impl Started {
    /// Tells all threads to give up now.
    fn give_up(&mut self, shared: &Shared) {
        if let Some(controller) = &mut self.controller {
            controller.give_up();
        }
        shared.deadline.set(shared.clock.now(), Duration::ZERO);
        for mailbox in &self.mailboxes {
            mailbox.send(Command::Stop);
        }
        self.queues.iter().flatten().for_each(|queue| queue.wake());
    }
}

impl Runtime {
    /// Runs the pipeline on this thread until it is shut down, its source ends, or it fails.
    ///
    /// From a shutdown or a failure on it takes `checkpoint.drain_timeout` and three seconds at the most. A thread that is
    /// stuck in user code is left behind then; it ends with the process.
    ///
    /// It may be called from within an async runtime only where blocking is allowed.
    pub fn run(mut self) -> ExitReport {
        let shared = Shared {
            clock: Arc::clone(&self.clock),
            failure: Arc::default(),
            stats: Arc::new(Stats::new(self.graph.len(), self.sinks.len())),
            deadline: Arc::default(),
            workers_ended: Arc::default(),
            budget: Arc::new(Budget::new(self.max_in_flight, &self.config.backpressure)),
        };
        // A second call is impossible: `run` consumes the runtime.
        let _ = self.shutdown.thread.set(std::thread::current());
        let signals = Signals::listen(self.options.handle_signals);
        tracing::info!(
            pipeline = self.name,
            threads = self.threads,
            max_in_flight_bytes = self.max_in_flight,
            "starting"
        );

        let mut started = Started::default();
        // What a panic tears is not used again, counters apart.
        let run = AssertUnwindSafe(|| self.run_to_end(&shared, &mut started, &signals));
        if let Err(panic) = catch_unwind(run) {
            let text = format!(
                "the thread that runs the pipeline panicked: {}",
                panic_text(&*panic)
            );
            shared.failure.set(Failure::new("engine", text));
            started.give_up(&shared);
        }
        self.report(&shared, started)
    }

    fn run_to_end(&mut self, shared: &Shared, started: &mut Started, signals: &Signals) {
        if let Err(stopped) = self.check_sinks(signals) {
            if let Some(failure) = stopped {
                shared.failure.set(failure);
            }
            return;
        }
        self.start_workers(shared, started);
        let drivers = self.start_drivers(shared, started);
        self.control(shared, started, drivers, signals);
    }

    /// Starts the worker of every shard; one that cannot be started fails the run.
    fn start_workers(&self, shared: &Shared, started: &mut Started) {
        let run: Arc<str> = run_id().into();
        for (slot, open) in self.sinks.iter().enumerate() {
            let mut queues = Vec::new();
            for shard in 0..open.sink.shards() {
                let queue = Arc::new(ShardQueue::new(open.pool.queue.capacity));
                let sink = Arc::clone(&open.sink);
                let worker = SinkWorker::new(
                    WorkerShared {
                        sink: open.name,
                        stats: Arc::clone(&shared.stats.sinks[slot]),
                        failure: Arc::clone(&shared.failure),
                        deadline: Arc::clone(&shared.deadline),
                        run: Arc::clone(&run),
                    },
                    shard,
                    Arc::clone(&queue),
                    Box::new(move || sink.writer(shard)),
                    open.pool.clone(),
                    fastrand::u64(..),
                );
                let place = worker.place();
                let (clock, ended) = (Arc::clone(&shared.clock), Arc::clone(&shared.workers_ended));
                match spawn_worker(worker, clock, ended) {
                    Ok(worker) => started.workers.push(worker),
                    Err(error) => {
                        let text = format!(
                            "its thread could not be started: {error}; raise the limit of threads (ulimit -u, the \
                             container's)"
                        );
                        shared.failure.set(Failure::new(place, text));
                    }
                }
                queues.push(queue);
            }
            started.queues.push(queues);
        }
    }

    /// Starts the driver threads; one that cannot be started fails the run.
    fn start_drivers(&self, shared: &Shared, started: &mut Started) -> Vec<DriverHandle> {
        let cores = self.cores();
        let mut handles = Vec::new();
        for index in 0..self.threads {
            let (mailbox, status) = (Arc::<Mailbox>::default(), Arc::<DriverStatus>::default());
            let sinks = self.sinks.iter().zip(&started.queues);
            let sinks = sinks
                .map(|(open, queues)| SinkOutput::new(open.pool.chunk.clone(), queues.clone()));
            let driver = Driver::new(
                DriverShared {
                    mailbox: Arc::clone(&mailbox),
                    status: Arc::clone(&status),
                    failure: Arc::clone(&shared.failure),
                    deadline: Arc::clone(&shared.deadline),
                },
                Output::new(
                    self.graph,
                    Arc::clone(&shared.stats),
                    sinks.collect(),
                    Arc::clone(&shared.budget),
                ),
                self.decoder.gate(),
                self.config.pipeline.batch_records,
            );
            let spawned = spawn_driver(
                index,
                cores.as_ref().map(|cores| cores[index]),
                Thread {
                    decoder: Arc::clone(&self.decoder),
                    driver,
                    clock: Arc::clone(&shared.clock),
                    phase: Arc::default(),
                },
                Arc::clone(&self.factory),
                Arc::clone(&mailbox),
                Arc::clone(&status),
                Arc::clone(&shared.failure),
            );
            started.mailboxes.push(Arc::clone(&mailbox));
            match spawned {
                Ok(thread) => started.drivers.push(thread),
                Err(error) => {
                    mailbox.end(&status);
                    let text = format!(
                        "could not be started: {error}; raise the limit of threads (ulimit -u, the container's), or set \
                         pipeline.threads lower"
                    );
                    shared
                        .failure
                        .set(Failure::new(format!("thread {index}"), text));
                }
            }
            handles.push(DriverHandle { mailbox, status });
        }
        handles
    }

    /// Runs the controller on this thread until the run is over.
    fn control(
        &mut self,
        shared: &Shared,
        started: &mut Started,
        drivers: Vec<DriverHandle>,
        signals: &Signals,
    ) {
        let requested = Arc::clone(&self.shutdown.requested);
        let config = ControllerConfig {
            commit_interval: self.config.checkpoint.interval,
            drain_timeout: self.config.checkpoint.drain_timeout,
            max_pending_batches: self.config.checkpoint.max_pending_batches,
            stalled_fail_after: self.config.checkpoint.stalled_fail_after,
            backpressure: self.config.backpressure.clone(),
            budget: Arc::clone(&shared.budget),
            failure: Arc::clone(&shared.failure),
            shutdown: Arc::clone(&requested),
            deadline: Arc::clone(&shared.deadline),
            queues: started.queues.iter().flatten().cloned().collect(),
            workers_ended: Arc::clone(&shared.workers_ended),
            workers: started
                .workers
                .iter()
                .map(|worker| Arc::clone(&worker.watch))
                .collect(),
            sinks: self
                .sinks
                .iter()
                .map(|open| open.name)
                .zip(shared.stats.sinks.iter().cloned())
                .collect(),
        };
        let source = self.source.take().expect("a runtime runs once");
        let controller = Controller::new(config, source, drivers, shared.clock.now());
        let controller = started.controller.insert(controller);
        controller.start(shared.clock.now());
        run_controller(controller, &*shared.clock, || {
            if signals.received() {
                requested.store(true, Ordering::Release);
            }
        });
    }

    /// Ends what is left of the run and tells how it went.
    fn report(self, shared: &Shared, started: Started) -> ExitReport {
        let Started {
            queues,
            workers,
            drivers,
            controller,
            ..
        } = started;
        let clock = &*shared.clock;
        let end = exit_by(&shared.deadline, clock.now());
        let mut stuck = join_all(drivers, clock, end);
        for worker in workers {
            if !join_until(worker.thread, clock, end) {
                stuck += 1;
                worker.watch.fail_if_stuck(&shared.failure);
            }
        }
        let sinks = self.sinks.iter().map(|open| open.name).collect();
        let (mut committed, mut lag) = (Vec::new(), Vec::new());
        let (mut abandoned_batches, mut lost_batches) = (0, 0);
        if let Some(controller) = controller {
            committed = controller.committed();
            lag = controller.lag().to_vec();
            abandoned_batches = controller.abandoned_batches();
            lost_batches = controller.lost_batches();
            drop_caught("source", controller, &shared.failure);
        }
        drop_caught("source", self.source, &shared.failure);
        drop_caught("sink", self.sinks, &shared.failure);
        if !self.io.stop(clock, end) || stuck > 0 {
            tracing::warn!("a thread does not return from user code and is left behind");
        } else {
            drop(queues);
            debug_assert_eq!(
                shared.budget.in_flight(),
                0,
                "the run is over, and bytes still count as in flight"
            );
        }
        let mut totals = shared.stats.totals();
        for sink in &mut totals.sinks {
            // At the end whatever is not known to be durable is given up, wherever it was.
            sink.abandoned_rows = sink.encoded.saturating_sub(sink.rows);
        }
        ExitReport {
            pipeline: self.name,
            graph: self.graph,
            sinks,
            failure: shared.failure.get(),
            further_failures: shared.failure.further(),
            totals,
            committed,
            lag,
            abandoned_batches,
            lost_batches,
            drain: shared
                .deadline
                .begun()
                .map(|begun| clock.now().since(begun)),
        }
    }
}

/// When the last threads are left behind: a fixed time behind the drain's deadline, so that the waits before do not add up.
fn exit_by(deadline: &Deadline, now: Time) -> Time {
    match deadline.get() {
        Some(at) if now >= at => at.after(EXIT_GRACE),
        _ => now.after(ABORT_GRACE),
    }
}

/// Drops what may run a user's destructor; its panic is a failure of the run and no more.
fn drop_caught<T>(place: &str, value: T, failure: &FailureSlot) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        let text = format!("panicked while it was dropped: {}", panic_text(&*panic));
        failure.set(Failure::new(place, text));
    }
}
