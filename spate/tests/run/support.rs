//! A running pipeline and bounded waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use spate::{Config, ExitReport, Pipeline, Runtime, RuntimeOptions, ShutdownHandle};
use spate_runtime::time::{Clock, ManualClock, Time};
use spate_test::scripted::Alarms;

/// The longest wait of a test, in real time. It is never reached unless something hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// How far the clock goes between two looks.
const TICK: Duration = Duration::from_millis(5);

/// A pipeline that runs by a clock of its own.
pub(crate) struct Run {
    pub(crate) alarms: Alarms,
    pub(crate) shutdown: ShutdownHandle,
    looks: Arc<AtomicUsize>,
    thread: JoinHandle<ExitReport>,
}

/// Counts how often the thread that runs the pipeline looks at the clock.
struct Watched {
    clock: ManualClock,
    looks: Arc<AtomicUsize>,
    runs: Arc<std::sync::OnceLock<thread::ThreadId>>,
}

impl Clock for Watched {
    fn now(&self) -> Time {
        let now = self.clock.now();
        if self.runs.get() == Some(&thread::current().id()) {
            self.looks.fetch_add(1, Ordering::SeqCst);
        }
        now
    }
}

pub(crate) fn open(pipeline: Pipeline, yaml: &str) -> Runtime {
    let config = Config::from_yaml(yaml).expect("a configuration");
    let configured = pipeline.with_config(config).expect("it fits");
    configured
        .into_runtime(RuntimeOptions::embedded())
        .expect("it opens")
}

impl Run {
    pub(crate) fn start(pipeline: Pipeline, yaml: &str) -> Run {
        let alarms = Alarms::default();
        let (looks, runs) = (Arc::<AtomicUsize>::default(), Arc::default());
        let runtime = open(pipeline, yaml).with_clock(Arc::new(Watched {
            clock: alarms.clock(),
            looks: Arc::clone(&looks),
            runs: Arc::clone(&runs),
        }));
        let shutdown = runtime.shutdown_handle();
        Run {
            alarms,
            shutdown,
            looks,
            thread: thread::spawn(move || {
                runs.set(thread::current().id()).expect("it runs once");
                runtime.run()
            }),
        }
    }

    /// Waits until `condition` holds. No time passes meanwhile by the run's clock.
    pub(crate) fn until(&self, what: &str, condition: impl FnMut() -> bool) {
        self.wait(what, Duration::ZERO, condition);
    }

    /// Lets time pass until `condition` holds.
    pub(crate) fn in_time(&self, what: &str, condition: impl FnMut() -> bool) {
        self.wait(what, TICK, condition);
    }

    fn wait(&self, what: &str, tick: Duration, mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + LIMIT;
        while !condition() {
            assert!(Instant::now() < end, "never: {what}");
            assert!(!self.thread.is_finished(), "the run ended before: {what}");
            self.tick(tick);
        }
    }

    /// Lets so much time pass, step by step.
    pub(crate) fn pass(&self, time: Duration) {
        for _ in 0..time.div_duration_f64(TICK) as u64 {
            self.tick(TICK);
        }
    }

    fn tick(&self, by: Duration) {
        self.alarms.advance(by);
        // The threads run in real time. So that a controller which the machine keeps waiting misses no time, it has to come
        // round between two ticks: its second look is at a clock that has moved, after a whole step.
        let (seen, end) = (self.looks.load(Ordering::SeqCst), Instant::now() + LIMIT);
        thread::sleep(Duration::from_micros(500));
        while self.looks.load(Ordering::SeqCst) < seen + 2 && !self.thread.is_finished() {
            assert!(Instant::now() < end, "the run's thread stands still");
            self.thread.thread().unpark();
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// Waits for the end of the run. So much time passes at the most: a run that needs more never ends.
    pub(crate) fn end_within(self, most: Duration) -> ExitReport {
        let (begin, end) = (self.alarms.now(), Instant::now() + LIMIT);
        while !self.thread.is_finished() {
            assert!(Instant::now() < end, "the run did not end within {most:?}");
            let left = most.saturating_sub(self.alarms.now().since(begin));
            self.tick(TICK.min(left));
        }
        self.thread.join().expect("a run does not panic")
    }

    /// Waits for the end of a run that needs no time for it.
    pub(crate) fn end(self) -> ExitReport {
        self.end_within(Duration::ZERO)
    }

    /// Shuts it down and waits for its end, which needs no time.
    pub(crate) fn stop(self) -> ExitReport {
        self.shutdown.shutdown();
        self.end()
    }
}

/// The rows as text.
pub(crate) fn texts(rows: Vec<Vec<u8>>) -> Vec<String> {
    rows.into_iter()
        .map(|row| String::from_utf8(row).expect("text"))
        .collect()
}
