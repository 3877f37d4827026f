//! The machines stepped together on one thread: a scripted source, real drivers, workers and the controller, a clock that
//! is moved by hand. What a run did is a log; the same seed gives the same log.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use super::driver::{Driver, DriverShared, DriverStep};
use super::*;
use crate::config::{BackpressureConfig, SinkPoolConfig};
use crate::decode::{Admit, Gate};
use crate::error::ConnectorError;
use crate::failure::{Failure, FailureSlot};
use crate::graph::{Graph, Mark};
use crate::output::{Output, SinkOutput};
use crate::record::{Batch, Partition, Record};
use crate::sink::{Block, ShardQueue, ShardWriter, SinkFuture, SinkWorker, WorkerShared};
use crate::source::{Fetched, LaneId, SourceEvent, SourceLane};
use crate::stats::Stats;
use crate::time::{Clock, ManualClock, Time};

mod backpressure;
mod drain;
mod fanout;
mod revocations;
mod scripted;
mod stalls;
mod tests;

use scripted::{Broker, Control, Lane, ROW, Store};

static GRAPH: Graph = Graph::new(
    "sim",
    &[("source", "memory", 1), ("sink", "capture", 1)],
    &[(0, Mark::Source), (1, Mark::Sink)],
);

/// `checkpoint.drain_timeout`.
const DRAIN: Duration = Duration::from_secs(5);

/// What happened, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// A gate that holds one partition until it is opened.
#[derive(Clone, Default)]
struct Hold(Arc<AtomicBool>, i32);

impl Gate for Hold {
    fn admit(&mut self, batch: &Batch<'_>) -> Admit {
        if batch.partition() == self.1 && !self.0.load(std::sync::atomic::Ordering::SeqCst) {
            Admit::Hold
        } else {
            Admit::Ready
        }
    }
}

/// The kernel: a row for each record.
fn encode(
    batch: &Batch<'_>,
    out: &mut Output,
    fails_at: Option<(i64, bool)>,
) -> Result<(), Failure> {
    for record in batch.records() {
        out.begin(record);
        match fails_at {
            Some((offset, true)) if offset == record.offset() => panic!("in the kernel"),
            Some((offset, false)) if offset == record.offset() => {
                return Err(out.fail(1, "asked to"));
            }
            _ => {}
        }
        let row = (batch.partition(), record.offset());
        let appended = out.sink(0).append(record, |chunk| {
            chunk.extend_from_slice(&row.0.to_le_bytes());
            chunk.extend_from_slice(&row.1.to_le_bytes());
            Ok(())
        });
        appended.map_err(|error| out.fail(1, error))?;
    }
    Ok(())
}

struct Sim {
    clock: ManualClock,
    broker: Arc<Mutex<Broker>>,
    log: Log,
    store: Store,
    controller: Controller,
    drivers: Vec<(Driver, Arc<DriverStatus>, bool)>,
    workers: Vec<(SinkWorker, bool)>,
    workers_ended: Arc<AtomicUsize>,
    failure: Arc<FailureSlot>,
    shutdown: Arc<AtomicBool>,
    stats: Arc<Stats>,
    budget: Arc<Budget>,
    /// The most that may ever be in flight.
    bound: usize,
    next_lane: u64,
    /// This driver does not return from user code.
    stuck: Option<usize>,
    fails_at: Option<(i64, bool)>,
}

struct Options {
    seed: u64,
    fail: u32,
    drivers: usize,
    queue: usize,
    linger: Duration,
    gate: Option<Hold>,
    stalled_fail_after: Duration,
    budget: usize,
    max_bytes: usize,
    bytes_per_ms: Option<usize>,
    give_up_after: Duration,
    shards: usize,
    max_pending: usize,
    /// The kernel fails at this offset of any partition, by an error or by a panic.
    fails_at: Option<(i64, bool)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            fail: 0,
            drivers: 2,
            queue: 8,
            linger: Duration::from_millis(50),
            gate: None,
            stalled_fail_after: Duration::from_secs(600),
            budget: usize::MAX,
            max_bytes: 64 << 20,
            bytes_per_ms: None,
            give_up_after: Duration::from_secs(120),
            shards: 1,
            max_pending: 16,
            fails_at: None,
        }
    }
}

/// Records in a batch.
const BATCH: usize = 8;

impl Sim {
    fn new(options: Options) -> Sim {
        let clock = ManualClock::default();
        let log = Log::default();
        let broker = Arc::new(Mutex::new(Broker::default()));
        let failure = Arc::new(FailureSlot::default());
        let deadline = Arc::new(Deadline::default());
        let shutdown = Arc::new(AtomicBool::new(false));
        let workers_ended = Arc::new(AtomicUsize::new(0));
        let stats = Arc::new(Stats::new(2, 1));
        let store = Store {
            log: Arc::clone(&log),
            rng: Arc::new(Mutex::new(fastrand::Rng::with_seed(options.seed))),
            fail: options.fail,
            hang: Arc::default(),
            bytes_per_ms: options.bytes_per_ms,
            clock: clock.clone(),
            panics: Arc::default(),
            rows: Arc::default(),
        };
        let mut pool = SinkPoolConfig::default();
        pool.batch.linger = options.linger;
        pool.batch.max_rows = if options.max_bytes < 64 << 20 {
            usize::MAX
        } else {
            64
        };
        pool.batch.max_bytes = options.max_bytes;
        pool.chunk.linger = options.linger;
        // One batch fills a chunk.
        pool.chunk.target_bytes = BATCH * ROW;
        pool.queue.capacity = options.queue;
        pool.retry.initial = Duration::from_millis(10);
        pool.retry.max = Duration::from_millis(100);
        pool.retry.give_up_after = options.give_up_after;
        let backpressure = BackpressureConfig::default();
        let budget = Arc::new(Budget::new(options.budget, &backpressure));
        // What a thread had open, and one batch more.
        let overshoot = options.drivers * (pool.chunk.target_bytes + BATCH * ROW);
        let mut queues = Vec::new();
        let mut workers = Vec::new();
        for shard in 0..options.shards {
            let queue = Arc::new(ShardQueue::new(options.queue));
            let shared = WorkerShared {
                sink: "sink",
                stats: Arc::clone(&stats.sinks[0]),
                failure: Arc::clone(&failure),
                deadline: Arc::clone(&deadline),
                run: "run".into(),
            };
            let worker = SinkWorker::new(
                shared,
                shard,
                Arc::clone(&queue),
                Box::new({
                    let store = store.clone();
                    move || Box::new(store.clone())
                }),
                pool.clone(),
                options.seed,
            );
            workers.push((worker, false));
            queues.push(queue);
        }
        let mut drivers = Vec::new();
        let mut handles = Vec::new();
        for _ in 0..options.drivers {
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
            let sink = SinkOutput::new(pool.chunk.clone(), queues.clone());
            let output = Output::new(&GRAPH, Arc::clone(&stats), vec![sink], Arc::clone(&budget));
            let gate = options
                .gate
                .clone()
                .map(|gate| Box::new(gate) as Box<dyn Gate>);
            drivers.push((
                Driver::new(shared, output, gate, BATCH),
                Arc::clone(&status),
                false,
            ));
            handles.push(DriverHandle { mailbox, status });
        }
        let config = ControllerConfig {
            commit_interval: Duration::from_millis(200),
            drain_timeout: DRAIN,
            max_pending_batches: options.max_pending,
            stalled_fail_after: options.stalled_fail_after,
            backpressure,
            budget: Arc::clone(&budget),
            failure: Arc::clone(&failure),
            shutdown: Arc::clone(&shutdown),
            deadline,
            queues,
            workers_ended: Arc::clone(&workers_ended),
            workers: Vec::new(),
            sinks: vec![("sink", Arc::clone(&stats.sinks[0]))],
        };
        let control = Control {
            broker: Arc::clone(&broker),
            log: Arc::clone(&log),
        };
        let controller = Controller::new(config, Box::new(control), handles, clock.now());
        Sim {
            clock,
            broker,
            log,
            store,
            controller,
            drivers,
            workers,
            workers_ended,
            failure,
            shutdown,
            stats,
            bound: options.budget.saturating_add(overshoot),
            budget,
            next_lane: 0,
            stuck: None,
            fails_at: options.fails_at,
        }
    }

    /// Assigns partitions of `records` records, each from its committed offset on.
    fn assign(&mut self, partitions: std::ops::Range<i32>, records: i64) -> Vec<LaneId> {
        let mut broker = self.broker.lock().unwrap();
        let mut ids = Vec::new();
        let lanes = partitions
            .map(|number| {
                let id = LaneId(self.next_lane);
                self.next_lane += 1;
                ids.push(id);
                Box::new(Lane {
                    id,
                    partition: Partition::new("t", number),
                    next: broker.committed.get(&number).copied().unwrap_or(0),
                    end: records,
                    current: Vec::new(),
                    keys: Vec::new(),
                    broker: Arc::clone(&self.broker),
                }) as Box<dyn SourceLane>
            })
            .collect();
        broker.events.push_back(SourceEvent::Assigned(lanes));
        ids
    }

    fn event(&self, event: SourceEvent) {
        self.broker.lock().unwrap().events.push_back(event);
    }

    /// One step of every machine, then a millisecond passes; whether the run is over.
    fn step(&mut self) -> bool {
        let now = self.clock.now();
        let done = self.controller.step(now).done;
        self.step_drivers(now);
        self.step_workers(now);
        self.clock.advance(Duration::from_millis(1));
        assert!(
            self.budget.in_flight() <= self.bound,
            "too much is in flight"
        );
        done
    }

    fn step_drivers(&mut self, now: Time) {
        let (stuck, fails_at) = (self.stuck, self.fails_at);
        let drivers = self.drivers.iter_mut().enumerate();
        for (_, (driver, status, ended)) in
            drivers.filter(|(index, (_, _, ended))| !ended && stuck != Some(*index))
        {
            let mut kernel = |batch: &Batch<'_>, out: &mut Output| encode(batch, out, fails_at);
            if driver.step(now, &mut kernel) == DriverStep::Ended {
                *ended = true;
                status.set_ended();
            }
        }
    }

    fn step_workers(&mut self, now: Time) {
        for (worker, ended) in self.workers.iter_mut().filter(|(_, ended)| !ended) {
            if worker
                .step(now, &mut Context::from_waker(Waker::noop()))
                .done
            {
                *ended = true;
                self.workers_ended
                    .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
        }
    }

    fn until(&mut self, what: &str, condition: impl Fn(&Sim) -> bool) {
        for _ in 0..100_000 {
            if condition(self) {
                return;
            }
            self.step();
        }
        panic!("never: {what}\n{}", self.log.lock().unwrap().join("\n"));
    }

    fn drain(&mut self) {
        self.shutdown
            .store(true, std::sync::atomic::Ordering::SeqCst);
        for _ in 0..100_000 {
            if self.step() {
                return;
            }
        }
        panic!("the drain never ended");
    }

    /// The run is over, in whatever way: nothing is counted as in flight any more.
    fn assert_nothing_is_in_flight(self) {
        let budget = Arc::clone(&self.budget);
        drop(self);
        assert_eq!(budget.in_flight(), 0);
    }

    fn committed(&self, partition: i32) -> Option<i64> {
        self.broker
            .lock()
            .unwrap()
            .committed
            .get(&partition)
            .copied()
    }

    /// Invariant 1: every offset below a commit is stored.
    fn assert_nothing_committed_is_missing(&self) {
        let stored: std::collections::BTreeSet<(i32, i64)> =
            self.store.rows.lock().unwrap().iter().copied().collect();
        for (&partition, &offset) in &self.broker.lock().unwrap().committed {
            for o in 0..offset {
                assert!(
                    stored.contains(&(partition, o)),
                    "{partition}/{o} is committed and not stored"
                );
            }
        }
    }
}
