//! A run: the machines are made, started, and waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use super::{Runtime, Signals, join_ended, run_id};
use crate::engine::shell::{run_controller, run_worker, spawn_driver};
use crate::engine::{
    Controller, ControllerConfig, Deadline, Driver, DriverHandle, DriverShared, DriverStatus,
    Mailbox,
};
use crate::exit::ExitReport;
use crate::failure::{Failure, FailureSlot};
use crate::output::{Output, SinkOutput};
use crate::sink::{ShardQueue, SinkWorker, WorkerShared};
use crate::stats::Stats;
use crate::thread::Thread;
use crate::time::{Clock, MonotonicClock};

/// What the machines of one run share.
struct Shared {
    clock: Arc<dyn Clock>,
    failure: Arc<FailureSlot>,
    stats: Arc<Stats>,
    deadline: Arc<Deadline>,
    workers_ended: Arc<AtomicUsize>,
}

impl Runtime {
    /// Runs the pipeline on this thread until it is shut down, its source ends, or it fails.
    ///
    /// It may be called from within an async runtime only where blocking is allowed.
    pub fn run(self) -> ExitReport {
        let shared = Shared {
            clock: Arc::new(MonotonicClock::default()),
            failure: Arc::default(),
            stats: Arc::new(Stats::new(self.graph.nodes.len(), self.sinks.len())),
            deadline: Arc::default(),
            workers_ended: Arc::default(),
        };
        // A second call is impossible: `run` consumes the runtime.
        let _ = self.shutdown.thread.set(std::thread::current());
        let signals = Signals::install(self.options.handle_signals);
        tracing::info!(pipeline = self.name, threads = self.threads, "starting");

        match self.check_sinks(&*shared.clock, &signals) {
            Ok(()) => {}
            Err(stopped) => {
                if let Some(failure) = stopped {
                    shared.failure.set(failure);
                }
                return self.report(&shared, None);
            }
        }
        let queues = self.start_workers(&shared);
        let (drivers, joins) = self.start_drivers(&shared, &queues);
        self.control(shared, queues, drivers, joins, &signals)
    }

    /// Starts the worker of every shard; the shards' queues, by sink.
    fn start_workers(&self, shared: &Shared) -> Vec<Vec<Arc<ShardQueue>>> {
        let run: Arc<str> = run_id().into();
        let mut all = Vec::new();
        for (slot, open) in self.sinks.iter().enumerate() {
            let mut queues = Vec::new();
            for shard in 0..open.sink.shards() {
                let queue = Arc::new(ShardQueue::new(open.pool.queue.capacity));
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
                    open.sink.writer(shard),
                    open.pool.clone(),
                    fastrand::u64(..),
                );
                let (clock, ended) = (Arc::clone(&shared.clock), Arc::clone(&shared.workers_ended));
                self.io.handle.spawn(run_worker(worker, clock, ended));
                queues.push(queue);
            }
            all.push(queues);
        }
        all
    }

    /// Starts the driver threads; one that cannot be started fails the run.
    fn start_drivers(
        &self,
        shared: &Shared,
        queues: &[Vec<Arc<ShardQueue>>],
    ) -> (Vec<DriverHandle>, Vec<JoinHandle<()>>) {
        let cores = self.cores();
        let mut handles = Vec::new();
        let mut joins = Vec::new();
        for index in 0..self.threads {
            let (mailbox, status) = (Arc::<Mailbox>::default(), Arc::<DriverStatus>::default());
            let sinks = self.sinks.iter().zip(queues);
            let sinks = sinks
                .map(|(open, queues)| SinkOutput::new(open.pool.chunk.clone(), queues.clone()));
            let driver = Driver::new(
                DriverShared {
                    mailbox: Arc::clone(&mailbox),
                    status: Arc::clone(&status),
                    failure: Arc::clone(&shared.failure),
                    deadline: Arc::clone(&shared.deadline),
                },
                Output::new(self.graph, Arc::clone(&shared.stats), sinks.collect()),
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
                },
                Arc::clone(&self.factory),
                Arc::clone(&mailbox),
                Arc::clone(&status),
                Arc::clone(&shared.failure),
            );
            match spawned {
                Ok(join) => joins.push(join),
                Err(error) => {
                    status.set_ended();
                    let text = format!("could not be started: {error}");
                    shared
                        .failure
                        .set(Failure::new(format!("thread {index}"), text));
                }
            }
            handles.push(DriverHandle { mailbox, status });
        }
        (handles, joins)
    }

    /// Runs the controller on this thread until the run is over.
    fn control(
        mut self,
        shared: Shared,
        queues: Vec<Vec<Arc<ShardQueue>>>,
        drivers: Vec<DriverHandle>,
        joins: Vec<JoinHandle<()>>,
        signals: &Signals,
    ) -> ExitReport {
        let requested = Arc::clone(&self.shutdown.requested);
        let config = ControllerConfig {
            commit_interval: self.config.checkpoint.interval,
            drain_timeout: self.config.checkpoint.drain_timeout,
            max_pending_batches: self.config.checkpoint.max_pending_batches,
            stalled_fail_after: self.config.checkpoint.stalled_fail_after,
            backpressure: self.config.backpressure.clone(),
            failure: Arc::clone(&shared.failure),
            shutdown: Arc::clone(&requested),
            deadline: Arc::clone(&shared.deadline),
            queues: queues.into_iter().flatten().collect(),
            workers_ended: Arc::clone(&shared.workers_ended),
            sinks: self
                .sinks
                .iter()
                .map(|open| open.name)
                .zip(shared.stats.sinks.iter().cloned())
                .collect(),
        };
        let source = self.source.take().expect("a runtime runs once");
        let mut controller = Controller::new(config, source, drivers, shared.clock.now());
        controller.start(shared.clock.now());
        run_controller(&mut controller, &*shared.clock, || {
            if signals.received() {
                requested.store(true, Ordering::Release);
            }
        });
        join_ended(joins);
        self.report(&shared, Some(&controller))
    }

    /// Stops the asynchronous runtime and tells how the run ended.
    fn report(self, shared: &Shared, controller: Option<&Controller>) -> ExitReport {
        let sinks = self.sinks.iter().map(|open| open.name).collect();
        // Workers that are left end with the runtime, and their last counts are in the report.
        drop(self.sinks);
        self.io.stop();
        let report = ExitReport {
            pipeline: self.name,
            graph: self.graph,
            sinks,
            failure: shared.failure.get(),
            totals: shared.stats.totals(),
            committed: controller.map(Controller::committed).unwrap_or_default(),
            abandoned_batches: controller.map_or(0, Controller::abandoned_batches),
            lost_batches: controller.map_or(0, Controller::lost_batches),
        };
        tracing::info!("{report}");
        report
    }
}
