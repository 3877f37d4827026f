//! From a pipeline and a configuration to a run: everything is checked and opened first, then the machines are started.

mod start;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread as StdThread};
use std::time::Duration;

pub use start::{ConfiguredPipeline, StartError};

use crate::config::{EngineConfig, SinkPoolConfig};
use crate::decode::SharedDecoder;
use crate::engine::shell::{run_controller, run_worker, spawn_driver};
use crate::engine::{
    Controller, ControllerConfig, Deadline, Driver, DriverHandle, DriverShared, DriverStatus,
    Mailbox,
};
use crate::exit::ExitReport;
use crate::failure::{Failure, FailureSlot};
use crate::graph::Graph;
use crate::limits::ABORT_GRACE;
use crate::output::{Output, SinkOutput};
use crate::pipeline::Factory;
use crate::sink::{Backoff, ShardQueue, Sink, SinkWorker, WorkerShared};
use crate::source::Source;
use crate::stats::Stats;
use crate::thread::Thread;
use crate::time::{Clock, MonotonicClock};

/// How a pipeline is run by an embedding program.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuntimeOptions {
    /// SIGTERM and SIGINT drain the pipeline; a second one ends the process at once. On by default; turn it off where the
    /// embedding program handles signals.
    pub handle_signals: bool,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        RuntimeOptions {
            handle_signals: true,
        }
    }
}

impl RuntimeOptions {
    /// The defaults, without signal handlers.
    #[must_use]
    pub fn embedded() -> Self {
        RuntimeOptions {
            handle_signals: false,
        }
    }
}

/// Ends a run from another thread.
#[derive(Debug, Clone)]
pub struct ShutdownHandle {
    requested: Arc<AtomicBool>,
    thread: Arc<std::sync::OnceLock<StdThread>>,
}

impl ShutdownHandle {
    /// Begins the drain; calling it again changes nothing.
    pub fn shutdown(&self) {
        self.requested.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// A sink that is open, with its pool's settings.
struct OpenSink {
    name: &'static str,
    sink: Box<dyn Sink>,
    pool: SinkPoolConfig,
}

/// A pipeline that is ready to run.
#[must_use = "a runtime does nothing until it is run"]
pub struct Runtime {
    name: String,
    graph: &'static Graph,
    config: EngineConfig,
    options: RuntimeOptions,
    factory: Factory,
    source: Box<dyn Source>,
    decoder: Arc<dyn SharedDecoder>,
    sinks: Vec<OpenSink>,
    io: IoThread,
    shutdown: ShutdownHandle,
    threads: usize,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("name", &self.name)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Runtime {
    /// A handle that ends the run.
    #[must_use]
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        self.shutdown.clone()
    }

    /// Runs the pipeline on this thread until it is shut down, its source ends, or it fails.
    ///
    /// It may be called from within an async runtime only where blocking is allowed.
    pub fn run(self) -> ExitReport {
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
        // A second call is impossible: `run` consumes the runtime.
        let _ = self.shutdown.thread.set(std::thread::current());
        let signals = Signals::install(self.options.handle_signals);
        let failure = Arc::new(FailureSlot::default());
        let stats = Arc::new(Stats::new(self.graph.nodes.len(), self.sinks.len()));
        let deadline = Arc::new(Deadline::default());
        let requested = Arc::clone(&self.shutdown.requested);
        tracing::info!(pipeline = self.name, threads = self.threads, "starting");

        if let Err(stopped) = self.check_sinks(&*clock, &signals) {
            if let Some(stopped) = stopped {
                failure.set(stopped);
            }
            return self.report(&failure, &stats, None);
        }

        let workers_ended = Arc::new(AtomicUsize::new(0));
        let run: Arc<str> = run_id().into();
        let mut queues: Vec<Vec<Arc<ShardQueue>>> = Vec::new();
        for (slot, open) in self.sinks.iter().enumerate() {
            let shards = open.sink.shards();
            queues.push(
                (0..shards)
                    .map(|_| Arc::new(ShardQueue::new(open.pool.queue.capacity)))
                    .collect(),
            );
            for (shard, queue) in queues[slot].iter().enumerate() {
                let shared = WorkerShared {
                    sink: open.name,
                    stats: Arc::clone(&stats.sinks[slot]),
                    failure: Arc::clone(&failure),
                    deadline: Arc::clone(&deadline),
                    run: Arc::clone(&run),
                };
                let (queue, writer) = (Arc::clone(queue), open.sink.writer(shard));
                let worker = SinkWorker::new(
                    shared,
                    shard,
                    queue,
                    writer,
                    open.pool.clone(),
                    fastrand::u64(..),
                );
                self.io.handle.spawn(run_worker(
                    worker,
                    Arc::clone(&clock),
                    Arc::clone(&workers_ended),
                ));
            }
        }

        let cores = self.cores();
        let mut handles = Vec::new();
        let mut joins = Vec::new();
        for index in 0..self.threads {
            let (mailbox, status) = (
                Arc::new(Mailbox::default()),
                Arc::new(DriverStatus::default()),
            );
            let shared = DriverShared {
                mailbox: Arc::clone(&mailbox),
                status: Arc::clone(&status),
                failure: Arc::clone(&failure),
                deadline: Arc::clone(&deadline),
            };
            let outputs = self.sinks.iter().zip(&queues);
            let outputs = outputs
                .map(|(open, queues)| SinkOutput::new(open.pool.chunk.clone(), queues.clone()));
            let output = Output::new(self.graph, Arc::clone(&stats), outputs.collect());
            let driver = Driver::new(
                shared,
                output,
                self.decoder.gate(),
                self.config.pipeline.batch_records,
            );
            let thread = Thread {
                decoder: Arc::clone(&self.decoder),
                driver,
                clock: Arc::clone(&clock),
            };
            let core = cores.as_ref().map(|cores| cores[index]);
            let spawned = spawn_driver(
                index,
                core,
                thread,
                Arc::clone(&self.factory),
                Arc::clone(&mailbox),
                Arc::clone(&status),
                Arc::clone(&failure),
            );
            match spawned {
                Ok(join) => joins.push(join),
                Err(error) => {
                    status.set_ended();
                    failure.set(Failure::new(
                        format!("thread {index}"),
                        format!("could not be started: {error}"),
                    ));
                }
            }
            handles.push(DriverHandle { mailbox, status });
        }

        let config = ControllerConfig {
            commit_interval: self.config.checkpoint.interval,
            drain_timeout: self.config.checkpoint.drain_timeout,
            max_pending_batches: self.config.checkpoint.max_pending_batches,
            backpressure: self.config.backpressure.clone(),
            failure: Arc::clone(&failure),
            shutdown: Arc::clone(&requested),
            deadline,
            queues: queues.into_iter().flatten().collect(),
            workers_ended,
        };
        let Runtime {
            name,
            graph,
            source,
            sinks,
            io,
            ..
        } = self;
        let mut controller = Controller::new(config, source, handles, clock.now());
        controller.start(clock.now());
        run_controller(&mut controller, &*clock, || {
            if signals.received() {
                requested.store(true, Ordering::Release);
            }
        });
        join_ended(joins);
        let names = sinks.iter().map(|open| open.name).collect();
        drop(sinks);
        io.stop();
        let report = ExitReport {
            pipeline: name,
            graph,
            sinks: names,
            failure: failure.get(),
            totals: stats.totals(),
            committed: controller.committed(),
            abandoned_batches: controller.abandoned_batches(),
        };
        tracing::info!("{report}");
        report
    }

    fn report(
        self,
        failure: &FailureSlot,
        stats: &Stats,
        committed: Option<&Controller>,
    ) -> ExitReport {
        let Runtime {
            name,
            graph,
            sinks,
            io,
            ..
        } = self;
        let names = sinks.iter().map(|open| open.name).collect();
        drop(sinks);
        io.stop();
        ExitReport {
            pipeline: name,
            graph,
            sinks: names,
            failure: failure.get(),
            totals: stats.totals(),
            committed: committed.map(Controller::committed).unwrap_or_default(),
            abandoned_batches: committed.map_or(0, Controller::abandoned_batches),
        }
    }

    /// The cores to pin to, if pinning is on and the threads fit.
    fn cores(&self) -> Option<Vec<core_affinity::CoreId>> {
        let config = &self.config.pipeline;
        if !config.pin {
            return None;
        }
        let allowed = core_affinity::get_core_ids()?;
        let cores: Vec<_> = allowed
            .into_iter()
            .skip(config.first_core)
            .take(self.threads)
            .collect();
        if cores.len() < self.threads {
            tracing::info!(
                threads = self.threads,
                "threads are not pinned: there are fewer allowed cores"
            );
            return None;
        }
        Some(cores)
    }

    /// Checks every sink until it answers, refuses, or the start-up timeout passes. `Err(None)` is a shutdown meanwhile.
    fn check_sinks(&self, clock: &dyn Clock, signals: &Signals) -> Result<(), Option<Failure>> {
        let timeout = self.config.pipeline.startup_timeout;
        let begin = clock.now();
        for open in &self.sinks {
            let place = || format!("sink `{}`", open.name);
            let mut backoff = Backoff::new(open.pool.retry.clone(), fastrand::u64(..));
            loop {
                let (send, receive) = std::sync::mpsc::sync_channel(1);
                let check = open.sink.check();
                let task = self.io.handle.spawn(async move {
                    // The receiver is gone if the start-up was given up.
                    let _ = send.send(check.await);
                });
                let error = loop {
                    match receive.recv_timeout(Duration::from_millis(20)) {
                        Ok(Ok(())) => break None,
                        Ok(Err(error)) => break Some(error),
                        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                            break Some(crate::error::ConnectorError::fatal(
                                "the check of the sink panicked",
                            ));
                        }
                        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                    }
                    if signals.received() || self.shutdown.requested.load(Ordering::Acquire) {
                        task.abort();
                        return Err(None);
                    }
                    if clock.now().since(begin) >= timeout {
                        task.abort();
                        let text =
                            format!("no answer within pipeline.startup_timeout ({timeout:?})");
                        return Err(Some(Failure::new(place(), text)));
                    }
                };
                let Some(error) = error else { break };
                if !error.is_retryable() {
                    return Err(Some(Failure::new(place(), error.to_string())));
                }
                if clock.now().since(begin) >= timeout {
                    let text =
                        format!("not ready within pipeline.startup_timeout ({timeout:?}): {error}");
                    return Err(Some(Failure::new(place(), text)));
                }
                tracing::warn!(sink = open.name, "not ready yet: {error}");
                std::thread::sleep(
                    backoff
                        .next_wait()
                        .min(timeout.saturating_sub(clock.now().since(begin))),
                );
            }
        }
        Ok(())
    }
}

/// Joins the threads that have ended; one that is stuck in user code is left behind, the report names it.
fn join_ended(joins: Vec<JoinHandle<()>>) {
    let end = std::time::Instant::now() + ABORT_GRACE;
    for join in joins {
        while !join.is_finished() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        if join.is_finished() {
            // A driver's panic was caught inside; there is nothing to learn from the join.
            let _ = join.join();
        }
    }
}

/// Unique to this run: two runs never use the same deduplication token for different rows.
fn run_id() -> String {
    let wall = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    format!(
        "{:x}-{:x}-{:08x}",
        wall.as_micros(),
        std::process::id(),
        fastrand::u32(..)
    )
}

/// The thread of the asynchronous runtime: sink workers, registry look-ups.
pub(crate) struct IoThread {
    pub(crate) handle: tokio::runtime::Handle,
    stop: tokio::sync::oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl IoThread {
    pub(crate) fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("spate-io".into())
            .spawn(move || {
                // Ends when the sender is used or dropped; tasks that are left are dropped with the runtime.
                let _ = runtime.block_on(stopped);
                runtime.shutdown_timeout(ABORT_GRACE);
            })?;
        Ok(IoThread {
            handle,
            stop,
            thread,
        })
    }

    fn stop(self) {
        drop(self.stop);
        // It ends within the grace of its shutdown.
        let _ = self.thread.join();
    }
}

/// SIGTERM and SIGINT: the first is noted, the second ends the process.
struct Signals(Arc<AtomicBool>);

impl Signals {
    fn install(on: bool) -> Self {
        let seen = Arc::new(AtomicBool::new(false));
        if on {
            for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
                let installed =
                    signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&seen))
                        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&seen)));
                if let Err(error) = installed {
                    tracing::warn!(signal, "the signal handler could not be installed: {error}");
                }
            }
        }
        Signals(seen)
    }

    fn received(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
