//! What the shell does when a machine breaks.

use std::time::Duration;

use super::*;
use crate::ack::{AckCell, AckState};
use crate::config::SinkPoolConfig;
use crate::engine::Deadline;
use crate::error::ConnectorError;
use crate::sink::{Block, Chunk, ShardQueue, ShardWriter, SinkFuture, WorkerShared};
use crate::stats::SinkStats;
use crate::time::MonotonicClock;

const WAIT: Duration = Duration::from_secs(120);

/// Never takes a block.
struct Refuses;

impl ShardWriter for Refuses {
    fn write(&mut self, _: usize, _: &Block) -> SinkFuture {
        Box::pin(async { Err(ConnectorError::retryable("not now")) })
    }
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let end = std::time::Instant::now() + WAIT;
    while !condition() {
        assert!(std::time::Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_worker_that_panics_fails_the_run_by_name_and_its_queue_is_given_up() {
    let failure = Arc::new(FailureSlot::default());
    let stats = Arc::new(SinkStats::default());
    let queue = Arc::new(ShardQueue::new(2));
    let ended = Arc::new(AtomicUsize::new(0));
    let mut config = SinkPoolConfig::default();
    config.batch.max_rows = 1;
    // No configuration can hold this: it stands for a fault of the engine, and breaks the worker at its first retry.
    config.retry.jitter = f64::NAN;
    let worker = SinkWorker::new(
        WorkerShared {
            sink: "s",
            stats: Arc::clone(&stats),
            failure: Arc::clone(&failure),
            deadline: Arc::new(Deadline::default()),
            run: "r".into(),
        },
        3,
        Arc::clone(&queue),
        Box::new(|| Box::new(Refuses)),
        config,
        1,
    );
    let handle = spawn_worker(
        worker,
        Arc::new(MonotonicClock::default()),
        Arc::clone(&ended),
    )
    .expect("a thread");
    let push = |rows: usize| {
        let (cell, ack) = AckCell::new(Arc::default());
        let mut chunk = Chunk::new(vec![0; rows], rows, vec![ack]);
        let end = std::time::Instant::now() + WAIT;
        // A driver tries until there is room.
        while let Err(back) = queue.push(chunk) {
            assert!(std::time::Instant::now() < end, "no room");
            std::thread::sleep(Duration::from_millis(1));
            chunk = back;
        }
        cell
    };
    let first = push(5);
    wait_for("the run fails", || failure.is_set());
    let text = failure.get().expect("a failure").to_string();
    assert!(
        text.starts_with("sink `s` shard 3: the worker panicked")
            && text.contains("a fault of Spate")
            && text.contains("5 rows"),
        "{text}"
    );
    assert_eq!(first.state(), AckState::Failed);
    // Drivers that push what they have while they stop find room.
    let rest: Vec<_> = (0..20).map(|_| push(1)).collect();
    assert_eq!(
        ended.load(Ordering::SeqCst),
        0,
        "not before its queue is closed"
    );
    queue.close();
    wait_for("it ends", || ended.load(Ordering::SeqCst) == 1);
    assert!(rest.iter().all(|cell| cell.state() == AckState::Failed));
    assert_eq!(stats.abandoned_rows.load(Ordering::SeqCst), 25);
    handle.thread.join().expect("its panic went no further");
}
