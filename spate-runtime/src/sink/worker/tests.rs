//! The worker, stepped on one thread with a clock that stands still.

use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use super::*;
use crate::ack::{Ack, AckCell, AckState};
use crate::sink::Chunk;

/// The token and the bytes of each attempt.
type Written = Arc<Mutex<Vec<(String, Vec<u8>)>>>;
type Script = Arc<Mutex<Vec<Option<Result<(), ConnectorError>>>>>;

/// Answers from a script, in order; `None` and the end of the script never answer.
#[derive(Clone, Default)]
struct Scripted {
    script: Script,
    written: Written,
}

impl ShardWriter for Scripted {
    fn write(&mut self, block: &Block) -> SinkFuture {
        let bytes = block.chunks().concat();
        self.written
            .lock()
            .unwrap()
            .push((block.token().to_owned(), bytes));
        let mut script = self.script.lock().unwrap();
        let answer = if script.is_empty() {
            None
        } else {
            script.remove(0)
        };
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

struct Panics;

impl ShardWriter for Panics {
    fn write(&mut self, _: &Block) -> SinkFuture {
        Box::pin(async { panic!("in the client") })
    }
}

struct Bench {
    worker: SinkWorker,
    queue: Arc<ShardQueue>,
    writer: Scripted,
    failure: Arc<FailureSlot>,
    deadline: Arc<crate::engine::Deadline>,
    stats: Arc<SinkStats>,
}

fn config() -> SinkPoolConfig {
    let mut config = SinkPoolConfig::default();
    config.batch.max_rows = 10;
    config.batch.max_bytes = 1000;
    config.batch.linger = Duration::from_secs(1);
    config.retry.initial = Duration::from_millis(100);
    config.retry.jitter = 0.0;
    config.retry.give_up_after = Duration::from_secs(60);
    config
}

impl Bench {
    fn new(answers: Vec<Option<Result<(), ConnectorError>>>) -> Bench {
        let writer = Scripted {
            script: Arc::new(Mutex::new(answers)),
            ..Scripted::default()
        };
        Bench::with(Box::new(writer.clone()), writer)
    }

    fn with(boxed: Box<dyn ShardWriter>, writer: Scripted) -> Bench {
        let queue = Arc::new(ShardQueue::new(8));
        let failure = Arc::new(FailureSlot::default());
        let deadline = Arc::new(crate::engine::Deadline::default());
        let stats = Arc::new(SinkStats::default());
        let shared = WorkerShared {
            sink: "s",
            stats: Arc::clone(&stats),
            failure: Arc::clone(&failure),
            deadline: Arc::clone(&deadline),
            run: "r".into(),
        };
        let worker = SinkWorker::new(shared, 0, Arc::clone(&queue), boxed, config(), 1);
        Bench {
            worker,
            queue,
            writer,
            failure,
            deadline,
            stats,
        }
    }

    /// Pushes a chunk of `rows` one-byte rows and returns its batch's cell.
    fn push(&self, rows: usize) -> Arc<AckCell> {
        let (cell, ack): (Arc<AckCell>, Ack) = AckCell::new(Arc::default());
        let chunk = Chunk::new(vec![b'x'; rows], rows, vec![ack]);
        self.queue.push(chunk).expect("room");
        cell
    }

    fn step(&mut self, millis: u64) -> WorkerStep {
        let now = Time::ZERO.after(Duration::from_millis(millis));
        self.worker
            .step(now, &mut Context::from_waker(Waker::noop()))
    }

    fn written(&self) -> Vec<(String, Vec<u8>)> {
        self.writer.written.lock().unwrap().clone()
    }
}

fn at(millis: u64) -> Option<Time> {
    Some(Time::ZERO.after(Duration::from_millis(millis)))
}

#[test]
fn chunks_are_merged_until_the_block_is_full() {
    let mut b = Bench::new(vec![Some(Ok(()))]);
    let first = b.push(4);
    assert_eq!(b.step(0).wake_at, at(1000), "waits for company");
    assert!(b.written().is_empty());
    let second = b.push(6);
    b.step(10);
    assert_eq!(b.written(), [("r-s-0-0".to_owned(), vec![b'x'; 10])]);
    assert_eq!(first.state(), AckState::Delivered);
    assert_eq!(second.state(), AckState::Delivered);
}

#[test]
fn a_lonely_chunk_is_written_when_it_has_lingered() {
    let mut b = Bench::new(vec![Some(Ok(()))]);
    b.push(1);
    b.step(0);
    b.step(999);
    assert!(b.written().is_empty());
    b.step(1000);
    assert_eq!(b.written().len(), 1);
}

#[test]
fn bytes_close_a_block_as_rows_do() {
    let mut b = Bench::new(vec![Some(Ok(()))]);
    let (_cell, ack) = AckCell::new(Arc::default());
    b.queue
        .push(Chunk::new(vec![0; 1000], 1, vec![ack]))
        .unwrap();
    b.step(0);
    assert_eq!(b.written().len(), 1);
}

#[test]
fn a_flush_writes_what_is_there_once() {
    let mut b = Bench::new(vec![Some(Ok(())), Some(Ok(()))]);
    b.push(1);
    b.queue.request_flush();
    b.step(0);
    assert_eq!(b.written().len(), 1);
    b.push(1);
    b.step(1);
    assert_eq!(b.written().len(), 1, "the flush is over");
}

#[test]
fn a_flush_that_finds_a_write_in_flight_is_not_forgotten() {
    let mut b = Bench::new(vec![
        Some(Err(ConnectorError::retryable("busy"))),
        Some(Ok(())),
        Some(Ok(())),
    ]);
    b.push(10);
    b.step(0);
    b.push(1);
    b.queue.request_flush();
    b.step(1);
    assert_eq!(b.written().len(), 1);
    b.step(100);
    assert_eq!(b.written().len(), 3, "the retry, then the flushed block");
}

#[test]
fn a_retry_sends_the_same_bytes_under_the_same_token_after_the_backoff() {
    let again = || Some(Err(ConnectorError::retryable("busy")));
    let mut b = Bench::new(vec![again(), again(), Some(Ok(()))]);
    let cell = b.push(10);
    assert_eq!(b.step(0).wake_at, at(100));
    b.push(3);
    b.step(99);
    assert_eq!(b.written().len(), 1);
    assert_eq!(b.step(100).wake_at, at(300));
    assert_eq!(cell.state(), AckState::Pending);
    b.step(300);
    let written = b.written();
    assert_eq!(written.len(), 3);
    assert!(written.iter().all(|write| *write == written[0]));
    assert_eq!(cell.state(), AckState::Delivered);
    assert_eq!(b.stats.retries.load(Ordering::Relaxed), 2);
}

#[test]
fn tokens_are_never_used_twice() {
    let mut b = Bench::new(vec![Some(Ok(())); 3]);
    for i in 0..3 {
        b.push(10);
        b.step(i);
    }
    let mut tokens: Vec<_> = b.written().into_iter().map(|(token, _)| token).collect();
    tokens.dedup();
    assert_eq!(tokens, ["r-s-0-0", "r-s-0-1", "r-s-0-2"]);
}

#[test]
fn a_fatal_error_fails_the_batch_and_the_pipeline() {
    let mut b = Bench::new(vec![Some(Err(ConnectorError::fatal("no such table")))]);
    let cell = b.push(10);
    let queued = b.push(1);
    assert!(b.step(0).done);
    assert_eq!(cell.state(), AckState::Failed);
    assert_eq!(queued.state(), AckState::Failed);
    let failure = b.failure.get().expect("a failure");
    assert_eq!(failure.to_string(), "sink `s` shard 0: no such table");
    assert_eq!(b.stats.abandoned_rows.load(Ordering::Relaxed), 11);
}

#[test]
fn retries_end_at_give_up_after() {
    let mut b = Bench::new(vec![Some(Err(ConnectorError::retryable("down"))); 100]);
    let cell = b.push(10);
    let mut now = 0;
    while !b.step(now).done {
        assert!(now <= 70_000, "it never gave up");
        now += 100;
    }
    assert_eq!(cell.state(), AckState::Failed);
    let text = b.failure.get().expect("a failure").to_string();
    assert!(
        text.contains("gave up after") && text.ends_with("down"),
        "{text}"
    );
}

#[test]
fn a_hanging_write_ends_at_the_deadline() {
    let mut b = Bench::new(vec![None]);
    let cell = b.push(10);
    assert_eq!(b.step(0).wake_at, None);
    b.deadline.set(Time::ZERO, Duration::from_secs(5));
    assert_eq!(b.step(1).wake_at, at(5000));
    assert_eq!(cell.state(), AckState::Pending);
    assert!(b.step(5000).done);
    assert_eq!(cell.state(), AckState::Failed);
    let text = b.failure.get().expect("a reason").to_string();
    assert_eq!(
        text,
        "sink `s` shard 0: 10 rows were not written within checkpoint.drain_timeout; a write did not end"
    );
}

#[test]
fn what_a_drain_gives_up_is_reported_with_the_last_error() {
    let mut b = Bench::new(vec![
        Some(Err(ConnectorError::retryable("TOO_MANY_PARTS")));
        100
    ]);
    b.push(10);
    b.step(0);
    b.deadline.set(Time::ZERO, Duration::from_millis(500));
    assert!(b.step(500).done);
    let text = b.failure.get().expect("a reason").to_string();
    assert!(text.ends_with("the last attempt: TOO_MANY_PARTS"), "{text}");
}

#[test]
fn a_panicking_write_fails_its_batch_with_the_text() {
    let mut b = Bench::with(Box::new(Panics), Scripted::default());
    let cell = b.push(10);
    assert!(b.step(0).done);
    assert_eq!(cell.state(), AckState::Failed);
    assert!(b.failure.get().unwrap().message().contains("in the client"));
}

#[test]
fn a_closed_queue_is_written_to_its_last_chunk() {
    let mut b = Bench::new(vec![Some(Ok(())); 4]);
    let cells: Vec<_> = (0..4).map(|_| b.push(7)).collect();
    b.queue.close();
    assert!(b.step(0).done);
    assert!(cells.iter().all(|cell| cell.state() == AckState::Delivered));
    assert_eq!(
        b.written()
            .iter()
            .map(|(_, bytes)| bytes.len())
            .sum::<usize>(),
        28
    );
}

#[test]
fn a_push_wakes_the_worker() {
    struct Count(std::sync::atomic::AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let mut b = Bench::new(vec![]);
    let count = Arc::new(Count(Default::default()));
    let waker = Waker::from(Arc::clone(&count));
    let _ = b.worker.step(Time::ZERO, &mut Context::from_waker(&waker));
    b.push(1);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
}
