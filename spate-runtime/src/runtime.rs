//! From a pipeline and a configuration to a run: everything is checked and opened first, then the machines are started.

mod run;
mod signals;
mod start;
mod threads;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread as StdThread;

pub use start::{ConfiguredPipeline, StartError};

use crate::config::{EngineConfig, SinkPoolConfig};
use crate::decode::SharedDecoder;
use crate::engine::shell::run_start_check;
use crate::failure::Failure;
use crate::graph::Graph;
use crate::limits::{ABORT_GRACE, START_POLL};
use crate::pipeline::Factory;
use crate::sink::{Sink, StartCheck, StartSink};
use crate::source::Source;
use crate::time::Clock;
use signals::Signals;
use threads::IoThread;

/// How a pipeline is run by an embedding program.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuntimeOptions {
    /// SIGTERM and SIGINT drain the pipeline; a second one ends the process at once, with exit code 128 plus its number (143,
    /// 130). After the run they do what they do by default. On by default; turn it off where the embedding program handles
    /// signals.
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
    sink: Arc<dyn Sink>,
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
    /// Until the run takes it.
    source: Option<Box<dyn Source>>,
    decoder: Arc<dyn SharedDecoder>,
    sinks: Vec<OpenSink>,
    io: IoThread,
    shutdown: ShutdownHandle,
    threads: usize,
    clock: Arc<dyn Clock>,
    max_in_flight: usize,
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

    /// Runs by this clock instead of the system's: for tests that let time pass by hand. Threads still sleep in real time
    /// between two looks at the clock, so it has to be moved until what is waited for has happened.
    #[doc(hidden)]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// `backpressure.max_in_flight_bytes`: as set, else as it follows from threads, shards, blocks, chunks and queues.
    #[must_use]
    pub fn max_in_flight_bytes(&self) -> usize {
        self.max_in_flight
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

    fn stop_requested(&self, signals: &Signals) -> bool {
        signals.received() || self.shutdown.requested.load(Ordering::Acquire)
    }

    /// Looks at every replica of every sink before the run. `Err(None)` is a shutdown meanwhile.
    fn check_sinks(&self, signals: &Signals) -> Result<(), Option<Failure>> {
        let clock = &self.clock;
        let timeout = self.config.pipeline.startup_timeout;
        let begin = clock.now();
        let sinks: Vec<StartSink> = self.sinks.iter().map(OpenSink::start).collect();
        let check = StartCheck::new(&sinks, timeout, begin);
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let clock_of_check = Arc::clone(clock);
        let task = self.io.handle.spawn(async move {
            // The receiver is gone if the start-up was given up.
            let _ = send.send(run_start_check(check, clock_of_check).await);
        });
        let names: Vec<String> = sinks
            .iter()
            .map(|open| format!("`{}`", open.name))
            .collect();
        let failure = |text: &str| Failure::new(format!("start of {}", names.join(", ")), text);
        loop {
            match receive.recv_timeout(START_POLL) {
                Ok(outcome) => return outcome.map_err(Some),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Some(failure("the check of the sinks panicked")));
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            }
            if self.stop_requested(signals) {
                task.abort();
                return Err(None);
            }
            if clock.now().since(begin) >= timeout + ABORT_GRACE {
                return Err(Some(failure(&format!(
                    "a sink's check blocks its thread and did not return within pipeline.startup_timeout ({timeout:?})"
                ))));
            }
        }
    }
}

impl OpenSink {
    fn start(&self) -> StartSink {
        StartSink {
            name: self.name,
            sink: Arc::clone(&self.sink),
            retry: self.pool.retry.clone(),
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
