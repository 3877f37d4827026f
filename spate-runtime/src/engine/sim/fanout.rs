//! What one batch becomes in several rows, shards and sinks, or in none: a driver, real outputs and workers, one tracker per
//! lane. The builder takes one sink so far; the machines take any number.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::checkpoint::{PartitionTracker, Progress};

static GRAPH: Graph = Graph::new(
    "fan",
    &[
        ("source", "memory", 1),
        ("drop", "filter", 1),
        ("rows", "capture", 1),
        ("audit", "capture", 1),
    ],
    &[(0, Mark::Source), (2, Mark::Sink), (3, Mark::Sink)],
);

const SINKS: usize = 2;
const SHARDS: usize = 3;
/// A key of each shard: the router is fixed for good.
const KEYS: [&[u8]; SHARDS] = [b"c", b"a", b"g"];

/// A sink and a shard of it.
type Part = (usize, usize);

fn parts() -> impl Iterator<Item = Part> {
    (0..SINKS).flat_map(|sink| (0..SHARDS).map(move |shard| (sink, shard)))
}

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Stored,
    Refused,
    /// The next write is stored, those after it wait.
    StoredOnce,
}

/// Says what becomes of the writes of each part; one that is not in it waits.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<BTreeMap<Part, Answer>>>);

impl Answers {
    fn set(&self, part: Part, answer: Answer) {
        self.0.lock().unwrap().insert(part, answer);
    }

    fn store_all(&self) {
        parts().for_each(|part| self.set(part, Answer::Stored));
    }

    fn poll(&self, part: Part) -> std::task::Poll<Result<(), ConnectorError>> {
        let mut answers = self.0.lock().unwrap();
        let Some(answer) = answers.get(&part).copied() else {
            return std::task::Poll::Pending;
        };
        if answer == Answer::StoredOnce {
            answers.remove(&part);
        }
        std::task::Poll::Ready(match answer {
            Answer::Refused => Err(ConnectorError::fatal("refused")),
            Answer::Stored | Answer::StoredOnce => Ok(()),
        })
    }
}

#[derive(Clone)]
struct Writer {
    part: Part,
    answers: Answers,
    /// How often each part was written to.
    written: Arc<Mutex<BTreeMap<Part, usize>>>,
}

impl ShardWriter for Writer {
    fn write(&mut self, _: usize, _: &Block) -> SinkFuture {
        *self.written.lock().unwrap().entry(self.part).or_default() += 1;
        let (part, answers) = (self.part, self.answers.clone());
        Box::pin(std::future::poll_fn(move |_| answers.poll(part)))
    }
}

/// A lane that counts how often it was fetched.
struct Counted(Lane, Arc<AtomicUsize>);

impl SourceLane for Counted {
    fn id(&self) -> LaneId {
        self.0.id()
    }

    fn partition(&self) -> &Partition {
        self.0.partition()
    }

    fn fetch(&mut self, max: usize) -> Result<Fetched, ConnectorError> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.0.fetch(max)
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        self.0.read(f);
    }

    fn finish(&mut self) {
        self.0.finish();
    }
}

struct Fan {
    now: Time,
    driver: Driver,
    mailbox: Arc<Mailbox>,
    queues: Vec<Arc<ShardQueue>>,
    workers: Vec<(Part, SinkWorker)>,
    answers: Answers,
    written: Arc<Mutex<BTreeMap<Part, usize>>>,
    trackers: Vec<Arc<PartitionTracker>>,
    fetches: Vec<Arc<AtomicUsize>>,
    read_failure: Arc<FailureSlot>,
    stats: Arc<Stats>,
}

impl Fan {
    /// A driver with a lane of so many records for each partition, and blocks of at most `max_rows`.
    fn new(partitions: i32, records: i64, max_pending: usize, max_rows: usize) -> Fan {
        Fan::with_queues(64, partitions, records, max_pending, max_rows)
    }

    fn with_queues(
        capacity: usize,
        partitions: i32,
        records: i64,
        max_pending: usize,
        max_rows: usize,
    ) -> Fan {
        let (failure, deadline) = (Arc::<FailureSlot>::default(), Arc::<Deadline>::default());
        let stats = Arc::new(Stats::new(GRAPH.len(), SINKS));
        let mut pool = SinkPoolConfig::default();
        pool.batch.max_rows = max_rows;
        pool.batch.linger = Duration::ZERO;
        pool.chunk.linger = Duration::ZERO;
        pool.chunk.target_bytes = 1;
        let (answers, written) = (
            Answers::default(),
            Arc::<Mutex<BTreeMap<Part, usize>>>::default(),
        );
        let (mut queues, mut workers, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for sink in 0..SINKS {
            let of_sink: Vec<_> = (0..SHARDS)
                .map(|_| Arc::new(ShardQueue::new(capacity)))
                .collect();
            for (shard, queue) in of_sink.iter().enumerate() {
                let part = (sink, shard);
                let shared = WorkerShared {
                    sink: GRAPH.node(2 + sink).map_or("", |node| node.name),
                    stats: Arc::clone(&stats.sinks[sink]),
                    failure: Arc::clone(&failure),
                    deadline: Arc::clone(&deadline),
                    run: "run".into(),
                };
                let writer = Writer {
                    part,
                    answers: answers.clone(),
                    written: Arc::clone(&written),
                };
                let make = Box::new(move || Box::new(writer.clone()) as Box<dyn ShardWriter>);
                let worker =
                    SinkWorker::new(shared, shard, Arc::clone(queue), make, pool.clone(), 1);
                workers.push((part, worker));
            }
            outputs.push(SinkOutput::new(pool.chunk.clone(), of_sink.clone()));
            queues.extend(of_sink);
        }
        let budget = Arc::new(Budget::new(usize::MAX, &BackpressureConfig::default()));
        let output = Output::new(&GRAPH, Arc::clone(&stats), outputs, budget);
        let mailbox = Arc::new(Mailbox::default());
        let read_failure = Arc::new(FailureSlot::default());
        let shared = DriverShared {
            mailbox: Arc::clone(&mailbox),
            status: Arc::default(),
            // The driver's own: it reads on when a sink has failed.
            failure: Arc::clone(&read_failure),
            deadline,
        };
        let mut fan = Fan {
            now: Time::ZERO,
            driver: Driver::new(shared, output, None, BATCH),
            mailbox,
            queues,
            workers,
            answers,
            written,
            trackers: Vec::new(),
            fetches: Vec::new(),
            read_failure,
            stats,
        };
        for number in 0..partitions {
            fan.add(number, records, max_pending);
        }
        fan
    }

    fn add(&mut self, number: i32, records: i64, max_pending: usize) {
        let (id, partition) = (LaneId(number as u64), Partition::new("t", number));
        let tracker = Arc::new(PartitionTracker::new(id, partition, max_pending));
        self.trackers.push(Arc::clone(&tracker));
        self.fetches.push(Arc::default());
        self.read(number as usize, records);
    }

    /// Reads a partition from its beginning.
    fn read(&mut self, index: usize, records: i64) {
        let tracker = Arc::clone(&self.trackers[index]);
        let lane = Lane {
            id: tracker.lane(),
            partition: tracker.partition().clone(),
            next: 0,
            end: records,
            current: Vec::new(),
            keys: Vec::new(),
            broker: Arc::default(),
        };
        let lane = Box::new(Counted(lane, Arc::clone(&self.fetches[index])));
        self.mailbox.send(Command::Add(lane, tracker));
    }

    fn step(&mut self, kernel: impl Fn(&Batch<'_>, &mut Output)) -> DriverStep {
        let mut kernel = |batch: &Batch<'_>, out: &mut Output| -> Result<(), Failure> {
            kernel(batch, out);
            Ok(())
        };
        let step = self.driver.step(self.now, &mut kernel);
        for (_, worker) in &mut self.workers {
            let _ = worker.step(self.now, &mut Context::from_waker(Waker::noop()));
        }
        self.now = self.now.after(Duration::from_millis(1));
        step
    }

    fn steps(&mut self, kernel: impl Fn(&Batch<'_>, &mut Output)) {
        for _ in 0..20 {
            self.step(&kernel);
        }
    }

    fn progress(&self, lane: usize) -> Progress {
        self.trackers[lane].advance()
    }

    fn written(&self) -> BTreeSet<Part> {
        self.written.lock().unwrap().keys().copied().collect()
    }
}

/// Every record becomes a row in every shard of every sink.
fn everywhere(batch: &Batch<'_>, out: &mut Output) {
    for record in batch.records() {
        out.begin(record);
        for key in KEYS {
            let child = Record::new(record.offset(), None).with_key(Some(key));
            for sink in 0..SINKS {
                append(out, sink, &child);
            }
        }
    }
}

fn append(out: &mut Output, sink: usize, record: &Record<'_>) {
    let appended = out.sink(sink).append(record, |chunk| {
        chunk.extend_from_slice(b"row");
        Ok(())
    });
    assert!(appended.is_ok());
}

#[test]
fn a_batch_is_settled_when_the_rows_in_every_shard_of_every_sink_are_stored() {
    let mut order: Vec<Part> = parts().collect();
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..30 {
        rng.shuffle(&mut order);
        let mut fan = Fan::new(1, 8, 4, 100);
        fan.steps(everywhere);
        assert_eq!(fan.written().len(), SINKS * SHARDS, "rows went everywhere");
        for part in &order {
            assert_eq!(fan.progress(0).watermark, None, "before {part:?} is stored");
            fan.answers.set(*part, Answer::Stored);
            fan.steps(everywhere);
        }
        assert_eq!(fan.progress(0).watermark, Some(8));
        assert_eq!(fan.stats.totals().sinks[1].rows, 24);
    }
}

#[test]
fn the_worst_outcome_of_a_batchs_rows_is_the_batchs() {
    let mut order: Vec<Part> = parts().collect();
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..30 {
        rng.shuffle(&mut order);
        for failing in parts() {
            let mut fan = Fan::new(1, 8, 4, 100);
            fan.steps(everywhere);
            for part in &order {
                let fails = *part == failing;
                let answer = if fails {
                    Answer::Refused
                } else {
                    Answer::Stored
                };
                fan.answers.set(*part, answer);
                fan.steps(everywhere);
                assert_eq!(fan.progress(0).watermark, None);
            }
            let p = fan.progress(0);
            assert!(p.failed && p.stopped, "{failing:?} was refused: {p:?}");
        }
    }
}

#[test]
fn a_refused_block_holds_the_watermark_at_the_first_batch_that_it_has_rows_of() {
    // Three rows a record in one shard, and a block is full with one batch's.
    let thrice = |batch: &Batch<'_>, out: &mut Output| {
        for record in batch.records() {
            out.begin(record);
            for _ in 0..3 {
                append(out, 0, &Record::new(record.offset(), None));
            }
        }
    };
    let mut fan = Fan::new(1, 16, 4, 24);
    fan.steps(thrice);
    assert_eq!(fan.progress(0).pending, 2);
    fan.answers.set((0, 0), Answer::StoredOnce);
    fan.steps(thrice);
    assert_eq!(fan.progress(0).watermark, Some(8));
    fan.answers.set((0, 0), Answer::Refused);
    fan.steps(thrice);
    let p = fan.progress(0);
    assert_eq!(
        (p.watermark, p.waits_for, p.stopped),
        (Some(8), Some(8), true)
    );
}

#[test]
fn records_that_become_no_row_move_the_watermark_and_call_no_sink() {
    type Outcome = fn(&mut Output);
    let outcomes: [(&str, Outcome); 4] = [
        ("dropped by a filter", |out| out.drop_record(1)),
        ("skipped by on_error", |out| out.skip(1, "no number")),
        ("tombstones", |out| out.tombstone(1)),
        ("taken apart into nothing", |out| out.expand(1)),
    ];
    for (what, outcome) in outcomes {
        let mut fan = Fan::new(2, 1000, 4, 100);
        for _ in 0..200 {
            fan.step(|batch, out| {
                for record in batch.records() {
                    out.begin(record);
                    outcome(out);
                }
            });
        }
        for lane in 0..2 {
            let p = fan.progress(lane);
            assert_eq!((p.watermark, p.pending), (Some(1000), 0), "{what}");
        }
        assert_eq!(fan.written(), BTreeSet::new(), "{what}");
        assert!(fan.queues.iter().all(|queue| queue.fill() == 0.0), "{what}");
        assert_eq!(fan.stats.totals().unaccounted(), 0, "{what}");
    }
}

#[test]
fn a_record_without_rows_waits_for_those_before_it() {
    let mut fan = Fan::new(1, 24, 4, 100);
    // The first batch has rows, the others none.
    let kernel = |batch: &Batch<'_>, out: &mut Output| {
        if batch.records()[0].offset() == 0 {
            everywhere(batch, out);
        }
    };
    fan.steps(kernel);
    assert_eq!(
        (fan.progress(0).watermark, fan.progress(0).pending),
        (None, 3)
    );
    fan.answers.store_all();
    fan.steps(kernel);
    assert_eq!(fan.progress(0).watermark, Some(24));
}

#[test]
fn a_lane_with_too_many_batches_in_flight_is_not_fetched_and_holds_no_other() {
    // The partition's number is its shard's; the shard of partition 0 stores nothing.
    let by_partition = |batch: &Batch<'_>, out: &mut Output| {
        let key = KEYS[batch.partition() as usize];
        for record in batch.records() {
            out.begin(record);
            append(
                out,
                0,
                &Record::new(record.offset(), None).with_key(Some(key)),
            );
        }
    };
    let mut fan = Fan::new(1, 800, 4, 8);
    fan.steps(by_partition);
    fan.answers.set((0, 1), Answer::Stored);
    fan.answers.set((0, 2), Answer::Stored);
    let fetches = |fan: &Fan| fan.fetches[0].load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!((fan.progress(0).pending, fetches(&fan)), (4, 4));
    fan.add(1, 800, 4);
    fan.add(2, 800, 4);
    (0..20).for_each(|_| fan.steps(by_partition));
    assert_eq!(fan.progress(1).watermark, Some(800), "the others go on");
    assert_eq!(fan.progress(2).watermark, Some(800));
    let p = fan.progress(0);
    assert_eq!((p.watermark, p.pending, fetches(&fan)), (None, 4, 4));
    fan.answers.store_all();
    (0..20).for_each(|_| fan.steps(by_partition));
    assert_eq!(fan.progress(0).watermark, Some(800));
}

#[test]
fn a_lane_that_goes_back_stops_the_pipeline_and_settles_nothing() {
    let mut fan = Fan::new(1, 16, 4, 100);
    fan.answers.store_all();
    fan.steps(everywhere);
    assert_eq!(fan.progress(0).watermark, Some(16));
    fan.read(0, 16);
    fan.steps(everywhere);
    let failure = fan.read_failure.get().expect("it went back").to_string();
    assert_eq!(
        failure,
        "source, partition t/0: t/0: a batch from offset 0 came after offset 16 had been delivered"
    );
    assert_eq!(fan.stats.totals().records, 16);
    assert_eq!(fan.progress(0).watermark, Some(16));
}

#[test]
fn a_row_that_fails_halfway_leaves_nothing_in_the_chunk() {
    let mut fan = Fan::new(1, 8, 4, 100);
    fan.answers.store_all();
    fan.steps(|batch, out| {
        for record in batch.records() {
            out.begin(record);
            let fails = record.offset() % 2 == 1;
            let appended = out.sink(0).append(record, |chunk| {
                chunk.extend_from_slice(if fails { b"ro" } else { b"row" });
                if fails {
                    return Err(crate::error::RowError::new("too long"));
                }
                Ok(())
            });
            if let Err(error) = appended {
                out.skip(2, error);
            }
        }
    });
    assert_eq!(fan.progress(0).watermark, Some(8));
    let totals = fan.stats.totals();
    assert_eq!((totals.sinks[0].rows, totals.sinks[0].bytes), (4, 12));
    assert_eq!(totals.stages[2].skipped, 4);
}

#[test]
fn a_lane_that_goes_renews_the_state_once_and_a_stop_does_not() {
    let mut fan = Fan::new(2, 8, 4, 100);
    assert_eq!(fan.step(everywhere), DriverStep::Work, "two lanes came");
    fan.mailbox.send(Command::Drop(vec![LaneId(0)]));
    assert_eq!(fan.step(everywhere), DriverStep::Renew);
    assert!(matches!(fan.step(everywhere), DriverStep::Idle { .. }));
    fan.mailbox.send(Command::Drop(vec![LaneId(1)]));
    fan.mailbox.send(Command::Stop);
    assert_eq!(fan.step(everywhere), DriverStep::Ended);
}

#[test]
fn lanes_take_turns_when_there_is_room_for_one_batch_only() {
    let mut fan = Fan::with_queues(1, 3, 80_000, 4, 8);
    fan.answers.store_all();
    for _ in 0..300 {
        fan.step(everywhere);
    }
    let watermarks: Vec<i64> = (0..3)
        .map(|lane| fan.progress(lane).watermark.unwrap_or(0))
        .collect();
    let (least, most) = (watermarks.iter().min(), watermarks.iter().max());
    assert!(least.unwrap() * 2 >= *most.unwrap(), "{watermarks:?}");
}
