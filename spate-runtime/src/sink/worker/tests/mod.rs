//! The worker, stepped on one thread with a clock that stands still.

mod deadline;
mod failures;
mod replicas;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;
use crate::ack::{Ack, AckCell, AckState};
use crate::error::ConnectorError;
use crate::sink::{Chunk, ShardWriter, SinkFuture};

/// How an attempt goes.
#[derive(Clone)]
enum Answer {
    Ok,
    Retryable(&'static str),
    Fatal(&'static str),
    /// Replica 0 is down, the others work.
    FirstIsDown,
    /// Never.
    Hangs,
    /// In the call of `write`.
    PanicsInCall,
    /// In the future's poll.
    PanicsInPoll,
    /// Answers, then panics in the future's drop.
    PanicsInDrop(Box<Answer>),
}
use Answer::{Fatal, FirstIsDown, Hangs, PanicsInCall, PanicsInDrop, PanicsInPoll, Retryable};

/// What an attempt was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    replica: usize,
    token: String,
    rows: usize,
    bytes: usize,
    hash: u64,
    /// Which writer of the shard it was, from 1.
    writer: usize,
}

/// Answers from a script, in order; its end never answers.
#[derive(Clone)]
struct Scripted {
    replicas: usize,
    script: Arc<Mutex<Vec<Answer>>>,
    written: Arc<Mutex<Vec<Written>>>,
    made: Arc<AtomicUsize>,
    /// Futures that live.
    alive: Arc<AtomicUsize>,
    number: usize,
}

impl Scripted {
    fn new(replicas: usize, script: Vec<Answer>) -> Scripted {
        Scripted {
            replicas,
            script: Arc::new(Mutex::new(script)),
            written: Arc::default(),
            made: Arc::default(),
            alive: Arc::default(),
            number: 0,
        }
    }

    fn factory(&self) -> MakeWriter {
        let scripted = self.clone();
        Box::new(move || {
            let number = scripted.made.fetch_add(1, Ordering::SeqCst) + 1;
            Box::new(Scripted {
                number,
                ..scripted.clone()
            })
        })
    }
}

/// A future of the script.
struct Attempt {
    answer: Answer,
    alive: Arc<AtomicUsize>,
}

impl Future for Attempt {
    type Output = Result<(), ConnectorError>;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &self.answer {
            PanicsInDrop(answer) => answer,
            answer => answer,
        };
        match answer {
            Answer::Ok => Poll::Ready(Ok(())),
            Retryable(text) => Poll::Ready(Err(ConnectorError::retryable(*text))),
            Fatal(text) => Poll::Ready(Err(ConnectorError::fatal(*text))),
            PanicsInPoll => panic!("in the poll"),
            _ => Poll::Pending,
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
        if matches!(self.answer, PanicsInDrop(_)) {
            panic!("in the drop");
        }
    }
}

impl ShardWriter for Scripted {
    fn replicas(&self) -> usize {
        self.replicas
    }

    fn place(&self, replica: usize) -> String {
        format!("http://ch-{replica}")
    }

    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture {
        let mut hasher = DefaultHasher::new();
        block.chunks().concat().hash(&mut hasher);
        self.written.lock().unwrap().push(Written {
            replica,
            token: block.token().to_owned(),
            rows: block.rows(),
            bytes: block.bytes(),
            hash: hasher.finish(),
            writer: self.number,
        });
        let mut script = self.script.lock().unwrap();
        let answer = if script.is_empty() {
            Hangs
        } else {
            script.remove(0)
        };
        drop(script);
        let answer = match answer {
            FirstIsDown if replica == 0 => Retryable("down"),
            FirstIsDown => Answer::Ok,
            answer => answer,
        };
        if matches!(answer, PanicsInCall) {
            panic!("in the call");
        }
        self.alive.fetch_add(1, Ordering::SeqCst);
        Box::pin(Attempt {
            answer,
            alive: Arc::clone(&self.alive),
        })
    }
}

struct Bench {
    worker: SinkWorker,
    queue: Arc<ShardQueue>,
    writer: Scripted,
    failure: Arc<FailureSlot>,
    deadline: Arc<crate::engine::Deadline>,
    stats: Arc<SinkStats>,
    pushed: AtomicUsize,
}

fn config() -> SinkPoolConfig {
    let mut config = SinkPoolConfig::default();
    config.batch.max_rows = 10;
    config.batch.max_bytes = 1000;
    config.batch.linger = Duration::from_secs(1);
    config.retry.initial = Duration::from_millis(100);
    config.retry.jitter = 0.0;
    config.retry.attempt_timeout = Some(Duration::from_secs(30));
    config.retry.give_up_after = Duration::from_secs(60);
    config.breaker.failures = 2;
    config.breaker.open_for = Duration::from_secs(5);
    config
}

impl Bench {
    fn new(answers: Vec<Answer>) -> Bench {
        Bench::with(Scripted::new(1, answers), config())
    }

    fn with(writer: Scripted, config: SinkPoolConfig) -> Bench {
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
        let make = writer.factory();
        let worker = SinkWorker::new(shared, 0, Arc::clone(&queue), make, config, 1);
        Bench {
            worker,
            queue,
            writer,
            failure,
            deadline,
            stats,
            pushed: AtomicUsize::new(0),
        }
    }

    /// Pushes a chunk of `rows` one-byte rows, no two chunks of the same bytes, and returns its batch's cell.
    fn push(&self, rows: usize) -> Arc<AckCell> {
        let byte = self.pushed.fetch_add(1, Ordering::SeqCst) as u8;
        let (cell, ack): (Arc<AckCell>, Ack) = AckCell::new(Arc::default());
        let chunk = Chunk::new(vec![byte; rows], rows, vec![ack]);
        self.queue.push(chunk).expect("room");
        cell
    }

    fn step(&mut self, millis: u64) -> WorkerStep {
        let now = Time::ZERO.after(Duration::from_millis(millis));
        self.worker
            .step(now, &mut Context::from_waker(Waker::noop()))
    }

    /// Steps from `from` on, at the times that the worker asks for, until `until` holds; the time then.
    fn run(&mut self, from: u64, until: impl Fn(&Bench) -> bool) -> u64 {
        let mut now = Time::ZERO.after(Duration::from_millis(from));
        for _ in 0..10_000 {
            let step = self
                .worker
                .step(now, &mut Context::from_waker(Waker::noop()));
            if until(self) {
                return now.as_nanos() / 1_000_000;
            }
            now = step.wake_at.expect("something to wait for").max(now);
        }
        panic!("it never came to that");
    }

    fn written(&self) -> Vec<Written> {
        self.writer.written.lock().unwrap().clone()
    }

    fn replicas(&self) -> Vec<usize> {
        self.written()
            .iter()
            .map(|written| written.replica)
            .collect()
    }

    fn abandoned(&self) -> u64 {
        self.stats.abandoned_rows.load(Ordering::Relaxed)
    }

    fn failure(&self) -> String {
        self.failure.get().expect("a failure").to_string()
    }
}

fn at(millis: u64) -> Option<Time> {
    Some(Time::ZERO.after(Duration::from_millis(millis)))
}

#[test]
fn chunks_are_merged_until_the_block_is_full() {
    let mut b = Bench::new(vec![Answer::Ok]);
    let first = b.push(4);
    assert_eq!(b.step(0).wake_at, at(1000), "waits for company");
    assert!(b.written().is_empty());
    let second = b.push(6);
    b.step(10);
    let written = b.written();
    assert_eq!(written.len(), 1);
    assert_eq!((written[0].rows, written[0].bytes), (10, 10));
    assert_eq!(written[0].token, "r-s-0-0");
    assert_eq!(first.state(), AckState::Delivered);
    assert_eq!(second.state(), AckState::Delivered);
}

#[test]
fn a_lonely_chunk_is_written_when_it_has_lingered() {
    let mut b = Bench::new(vec![Answer::Ok]);
    b.push(1);
    b.step(0);
    b.step(999);
    assert!(b.written().is_empty());
    b.step(1000);
    assert_eq!(b.written().len(), 1);
}

#[test]
fn bytes_close_a_block_as_rows_do() {
    let mut b = Bench::new(vec![Answer::Ok]);
    let (_cell, ack) = AckCell::new(Arc::default());
    b.queue
        .push(Chunk::new(vec![0; 1000], 1, vec![ack]))
        .unwrap();
    b.step(0);
    assert_eq!(b.written().len(), 1);
}

#[test]
fn a_flush_writes_what_is_there_once() {
    let mut b = Bench::new(vec![Answer::Ok, Answer::Ok]);
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
    let mut b = Bench::new(vec![Retryable("busy"), Answer::Ok, Answer::Ok]);
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
    let again = || Retryable("busy");
    let mut b = Bench::new(vec![again(), again(), Answer::Ok]);
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
    let mut b = Bench::new(vec![Answer::Ok; 3]);
    for i in 0..3 {
        b.push(10);
        b.step(i);
    }
    let mut tokens: Vec<_> = b.written().into_iter().map(|w| w.token).collect();
    tokens.dedup();
    assert_eq!(tokens, ["r-s-0-0", "r-s-0-1", "r-s-0-2"]);
}

#[test]
fn a_closed_queue_is_written_to_its_last_chunk() {
    let mut b = Bench::new(vec![Answer::Ok; 4]);
    let cells: Vec<_> = (0..4).map(|_| b.push(7)).collect();
    b.queue.close();
    assert!(b.step(0).done);
    assert!(cells.iter().all(|cell| cell.state() == AckState::Delivered));
    assert_eq!(b.written().iter().map(|w| w.bytes).sum::<usize>(), 28);
    assert_eq!(b.worker.watch().held_rows(), 0);
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
