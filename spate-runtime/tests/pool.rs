//! The sink pool end to end: what a write that blocks, hangs or panics costs, and what it must not.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::{Duration, Instant};

use spate_runtime::config::{Config, OpenError, Section};
use spate_runtime::decode::{Bytes, decoder};
use spate_runtime::error::{ConnectorError, RowError};
use spate_runtime::exit::ExitReport;
use spate_runtime::graph::{Graph, Mark};
use spate_runtime::memory::{Memory, MemoryRecord, MemorySource};
use spate_runtime::pipeline::{Pipeline, PipelineBuilder, StageOptions};
use spate_runtime::record::Batch;
use spate_runtime::runtime::{RuntimeOptions, ShutdownHandle};
use spate_runtime::sink::{
    Block, CheckFuture, Checked, RowEncoder, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind, sink,
};
use spate_runtime::source::OpenContext;
use spate_runtime::{Output, Thread, stage};

const WAIT: Duration = Duration::from_secs(120);
const SHARDS: usize = 3;

/// Limits of a run that nothing is to reach.
const NEVER: [&str; 3] = ["60s", "60s", "10m"];

/// How the writes of shard 1 go; the other shards work.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Works,
    /// The poll does not return until the test lets it.
    BlocksItsThread,
    /// The check's poll does not.
    BlocksTheCheck,
    /// Every write panics.
    Panics,
}

struct State {
    mode: Mode,
    rows: Mutex<Vec<Vec<u8>>>,
    released: (Mutex<bool>, Condvar),
    blocked: (Mutex<usize>, Condvar),
}

impl State {
    fn block(&self) {
        *self.blocked.0.lock().unwrap() += 1;
        self.blocked.1.notify_all();
        let released = self.released.0.lock().unwrap();
        let wait = self
            .released
            .1
            .wait_timeout_while(released, 3 * WAIT, |released| !*released);
        drop(wait.unwrap());
    }

    fn wait_blocked(&self) {
        let blocked = self.blocked.0.lock().unwrap();
        let waited = self
            .blocked
            .1
            .wait_timeout_while(blocked, WAIT, |blocked| *blocked == 0)
            .unwrap();
        assert!(!waited.1.timed_out(), "nothing blocked");
    }

    fn release(&self) {
        *self.released.0.lock().unwrap() = true;
        self.released.1.notify_all();
    }
}

/// The states of the sinks, by the pipeline's name.
static STATES: LazyLock<Mutex<HashMap<String, Arc<State>>>> = LazyLock::new(Mutex::default);

/// A sink of three shards.
struct Shards;

struct Opened(Arc<State>);

struct Writer(Arc<State>, usize);

impl SinkKind for Shards {
    const KIND: &'static str = "shards";
    const CONFIGURED: bool = false;

    fn open(_: &Section, _: RowInfo, context: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        let states = STATES.lock().unwrap();
        Ok(Box::new(Opened(Arc::clone(&states[&context.pipeline]))))
    }
}

impl RowEncoder<&[u8]> for Shards {
    fn row() -> RowInfo {
        RowInfo {
            row: "bytes",
            columns: &[],
        }
    }

    fn encode(row: &&[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
        out.extend_from_slice(row);
        out.push(b'\n');
        Ok(())
    }
}

impl Sink for Opened {
    fn shards(&self) -> usize {
        SHARDS
    }

    fn writer(&self, shard: usize) -> Box<dyn ShardWriter> {
        Box::new(Writer(Arc::clone(&self.0), shard))
    }
}

impl ShardWriter for Writer {
    fn check(&mut self, _: usize) -> CheckFuture {
        let state = Arc::clone(&self.0);
        let blocks = self.1 == 1 && state.mode == Mode::BlocksTheCheck;
        Box::pin(async move {
            if blocks {
                state.block();
            }
            Ok(Checked::default())
        })
    }

    fn write(&mut self, _: usize, block: &Block) -> SinkFuture {
        let (state, shard) = (Arc::clone(&self.0), self.1);
        let data = block.chunks().concat();
        Box::pin(async move {
            match state.mode {
                Mode::BlocksItsThread if shard == 1 => state.block(),
                Mode::Panics if shard == 1 => panic!("in the client"),
                // A timer of the shard's own runtime.
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
            let rows = data.split(|&b| b == b'\n').filter(|row| !row.is_empty());
            state.rows.lock().unwrap().extend(rows.map(<[u8]>::to_vec));
            Ok::<(), ConnectorError>(())
        })
    }
}

static GRAPH: Graph = Graph::new(
    "pool",
    &[
        ("memory", "memory", 1),
        ("bytes", "bytes", 1),
        ("shards", "shards", 1),
    ],
    &[(0, Mark::Source), (1, Mark::Decoder), (2, Mark::Sink)],
);

fn pipeline() -> Pipeline {
    let decoder = decoder::<Bytes, &[u8]>();
    let sink0 = sink::<Shards, _>();
    PipelineBuilder::new(&GRAPH)
        .source::<Memory>(StageOptions::new())
        .decoder(decoder, StageOptions::new())
        .sink("shards", sink0, StageOptions::new())
        .build(move |thread: Thread| {
            let mut decode = decoder.open(&thread);
            Ok(thread.drive(|batch: &Batch<'_>, out: &mut Output| {
                for record in batch.records() {
                    out.begin(record);
                    let r = match stage::decode(decoder, &mut decode, record, batch.scratch()) {
                        Ok(r) => r,
                        Err(e) => return Err(out.fail(1, e)),
                    };
                    if let Err(e) = stage::encode(sink0, &r, record, out.sink(0)) {
                        return Err(out.fail(2, e));
                    }
                }
                Ok(())
            }))
        })
}

struct Run {
    source: MemorySource,
    state: Arc<State>,
    shutdown: ShutdownHandle,
    report: std::sync::mpsc::Receiver<ExitReport>,
}

impl Run {
    /// `limits`: `pipeline.startup_timeout`, `checkpoint.drain_timeout`,
    /// `checkpoint.stalled_fail_after`.
    fn start(name: &str, mode: Mode, limits: [&str; 3]) -> Run {
        let [startup, drain, stalled] = limits;
        let state = Arc::new(State {
            mode,
            rows: Mutex::default(),
            released: (Mutex::new(false), Condvar::new()),
            blocked: (Mutex::new(0), Condvar::new()),
        });
        STATES
            .lock()
            .unwrap()
            .insert(name.to_owned(), Arc::clone(&state));
        // The queues have room for a chunk of every batch: a full one would hold the other shards too.
        let yaml = format!(
            "
pipeline: {{ name: {name}, threads: 1, pin: false, batch_records: 8, startup_timeout: {startup} }}
checkpoint: {{ interval: 100ms, drain_timeout: {drain}, stalled_fail_after: {stalled} }}
sink:
  batch: {{ linger: 5ms }}
  chunk: {{ linger: 1ms }}
  queue: {{ capacity: 64 }}
  retry: {{ initial: 5ms, give_up_after: 3s }}
"
        );
        let pipeline = pipeline();
        let source = pipeline.memory_source().expect("a memory source");
        let configured = pipeline
            .with_config(Config::from_yaml(&yaml).expect("a configuration"))
            .expect("it fits");
        let runtime = configured
            .into_runtime(RuntimeOptions::embedded())
            .expect("it opens");
        let shutdown = runtime.shutdown_handle();
        let (send, report) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            // The test may have failed meanwhile.
            let _ = send.send(runtime.run());
        });
        Run {
            source,
            state,
            shutdown,
            report,
        }
    }

    /// Partition `p` has the records of shard `p`.
    fn push(&self, records: usize) {
        for shard in 0..SHARDS {
            self.push_to(shard, records);
        }
        self.source.assign_lanes(SHARDS as i32);
    }

    fn push_to(&self, shard: usize, records: usize) {
        for i in 0..records {
            self.source.push_record(
                shard as i32,
                MemoryRecord {
                    payload: Some(format!("{shard}/{i}").into_bytes()),
                    key: Some(key_of(shard, i)),
                    ..MemoryRecord::default()
                },
            );
        }
    }

    fn report(&self) -> ExitReport {
        self.report.recv_timeout(WAIT).expect("the run returns")
    }

    fn stored(&self, shard: usize) -> usize {
        let rows = self.state.rows.lock().unwrap();
        let prefix = format!("{shard}/");
        rows.iter()
            .filter(|row| row.starts_with(prefix.as_bytes()))
            .count()
    }
}

/// Waits for a condition, bounded.
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + WAIT;
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A key that is routed to `shard`.
fn key_of(shard: usize, i: usize) -> Vec<u8> {
    let hash = |key: &[u8]| {
        key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    (0..)
        .map(|n| format!("{i}-{n}").into_bytes())
        .find(|key| hash(key) % SHARDS as u64 == shard as u64)
        .expect("there is one")
}

#[test]
fn shards_that_work_store_and_commit_everything() {
    let run = Run::start("works", Mode::Works, NEVER);
    run.push(50);
    for shard in 0..SHARDS {
        assert!(run.source.wait_committed(shard as i32, 50, WAIT));
    }
    run.shutdown.shutdown();
    assert_eq!(run.report().exit_code(), 0);
    for shard in 0..SHARDS {
        assert_eq!(
            run.stored(shard),
            50,
            "the keys of the test go where it thinks"
        );
    }
}

#[test]
fn a_write_that_blocks_its_thread_harms_its_own_shard_only_and_the_run_still_ends() {
    let run = Run::start("blocks", Mode::BlocksItsThread, ["60s", "2s", "10m"]);
    run.push(50);
    run.state.wait_blocked();
    for shard in [0, 2] {
        assert!(
            run.source.wait_committed(shard, 50, WAIT),
            "shard {shard} goes on"
        );
    }
    // And on, while the write still blocks.
    run.push(50);
    for shard in [0, 2] {
        assert!(run.source.wait_committed(shard, 100, WAIT));
    }
    // All of the shard's rows are in its queue before the drain, which lets a driver that comes late drop what it holds: a
    // row that was read behind them went to a later shard's queue, and the driver fills the queues in the shards' order.
    wait_for("its last row is read", || run.source.position(1) == 100);
    run.push_to(2, 1);
    assert!(run.source.wait_committed(2, 101, WAIT));
    run.shutdown.shutdown();
    let report = run.report();
    assert_eq!(report.exit_code(), 1, "{report}");
    let failure = report.failure().expect("a reason");
    assert_eq!(failure.place(), "sink `shards` shard 1");
    assert!(failure.message().contains("blocks its thread"), "{failure}");
    assert!(
        failure.message().contains("100 rows"),
        "what it holds and what is queued: {failure}"
    );
    assert_eq!(report.totals().sinks[0].abandoned_rows, 100);
    assert_eq!(run.source.last_committed(1), None);
    assert_eq!(run.stored(1), 0);
    run.state.release();
}

#[test]
fn a_write_that_never_ends_stops_the_run_and_the_report_says_what_was_waited_for() {
    let run = Run::start("stalls", Mode::BlocksItsThread, ["60s", "300ms", "3s"]);
    // Nothing else is read that could be late as well.
    run.push_to(1, 5);
    run.source.assign_lanes(SHARDS as i32);
    let report = run.report();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "partition memory/1");
    let text = failure.message();
    assert!(
        text.starts_with("stalled (checkpoint.stalled_fail_after): the batch from offset 0 is neither stored nor given up after"),
        "{text}"
    );
    assert!(text.contains("batches in flight: 1;"), "{text}");
    assert_eq!(run.source.last_committed(1), None);
    run.state.release();
}

#[test]
fn a_check_that_blocks_its_thread_ends_the_start() {
    let run = Run::start("check", Mode::BlocksTheCheck, ["300ms", "60s", "10m"]);
    let report = run.report();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a reason");
    assert!(
        failure.message().contains("pipeline.startup_timeout")
            && failure.place().contains("`shards`"),
        "{failure}"
    );
    run.state.release();
}

#[test]
fn a_writer_that_panics_fails_the_run_and_the_other_shards_are_stored() {
    let run = Run::start("panics", Mode::Panics, NEVER);
    run.push(50);
    let report = run.report();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a reason");
    assert_eq!(failure.place(), "sink `shards` shard 1");
    assert!(failure.message().contains("in the client"), "{failure}");
    assert_eq!(run.source.last_committed(1), None);
    assert!(report.totals().sinks[0].abandoned_rows > 0);
    for shard in [0, 2] {
        let committed = run.source.last_committed(shard).unwrap_or(0);
        assert!(
            run.stored(shard as usize) as i64 >= committed,
            "what is committed is stored"
        );
    }
}
