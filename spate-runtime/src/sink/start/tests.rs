//! The look before the run, stepped with a clock that stands still.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use super::*;
use crate::config::SinkPoolConfig;
use crate::sink::{Block, CheckFuture, ShardWriter, SinkFuture};

/// How the looks at one replica go, in order; the last one is repeated.
#[derive(Clone)]
enum Look {
    Passes,
    Warns(&'static str),
    Retryable(&'static str),
    Fatal(&'static str),
    Silent,
    Panics,
}
use Look::{Fatal, Panics, Passes, Retryable, Silent, Warns};

/// Shards of replicas, each with its script.
struct Scripted(Arc<Vec<Vec<Mutex<Vec<Look>>>>>, Arc<AtomicUsize>);

struct ShardOf(Arc<Vec<Vec<Mutex<Vec<Look>>>>>, Arc<AtomicUsize>, usize);

impl Sink for Scripted {
    fn shards(&self) -> usize {
        self.0.len()
    }

    fn writer(&self, shard: usize) -> Box<dyn ShardWriter> {
        Box::new(ShardOf(Arc::clone(&self.0), Arc::clone(&self.1), shard))
    }
}

impl ShardWriter for ShardOf {
    fn replicas(&self) -> usize {
        self.0[self.2].len()
    }

    fn place(&self, replica: usize) -> String {
        format!("http://ch-{}-{replica}", self.2)
    }

    fn check(&mut self, replica: usize) -> CheckFuture {
        self.1.fetch_add(1, Ordering::SeqCst);
        let mut script = self.0[self.2][replica].lock().unwrap();
        let look = if script.len() > 1 {
            script.remove(0)
        } else {
            script[0].clone()
        };
        drop(script);
        Box::pin(async move {
            match look {
                Passes => Ok(Checked::default()),
                Warns(text) => Ok(Checked {
                    warnings: vec![text.to_owned()],
                }),
                Retryable(text) => Err(ConnectorError::retryable(text)),
                Fatal(text) => Err(ConnectorError::fatal(text)),
                Silent => std::future::pending().await,
                Panics => panic!("in the check"),
            }
        })
    }

    fn write(&mut self, _: usize, _: &Block) -> SinkFuture {
        unreachable!("nothing is written before the run")
    }
}

/// Runs the look with 30 s to the end; its outcome, the time in milliseconds, the number of looks.
fn look(shards: Vec<Vec<Vec<Look>>>) -> (Result<(), String>, u64, usize) {
    let looks = Arc::new(AtomicUsize::new(0));
    let shards = shards
        .into_iter()
        .map(|replicas| replicas.into_iter().map(Mutex::new).collect())
        .collect();
    let sink = StartSink {
        name: "s",
        sink: Arc::new(Scripted(Arc::new(shards), Arc::clone(&looks))),
        retry: SinkPoolConfig::default().retry,
    };
    let mut now = Time::ZERO;
    let mut check = StartCheck::new(&[sink], Duration::from_secs(30), now);
    for _ in 0..10_000 {
        match check.step(now, &mut Context::from_waker(Waker::noop())) {
            StartStep::Wait(at) => now = at.max(now.after(Duration::from_nanos(1))),
            StartStep::Done(outcome) => {
                let outcome = outcome.map_err(|failure| failure.to_string());
                let millis = now.as_nanos() / 1_000_000;
                return (outcome, millis, looks.load(Ordering::SeqCst));
            }
        }
    }
    panic!("it never ended");
}

#[test]
fn the_run_begins_when_every_replica_of_every_shard_has_passed() {
    let (outcome, at, looks) = look(vec![
        vec![vec![Passes], vec![Warns("no tokens")]],
        vec![
            vec![Retryable("down"), Retryable("down"), Passes],
            vec![Passes],
        ],
    ]);
    assert_eq!(outcome, Ok(()));
    assert!(at < 1_000, "{at}");
    assert_eq!(looks, 6);
}

#[test]
fn a_fatal_error_of_any_replica_ends_the_start_at_once() {
    let (outcome, at, _) = look(vec![
        vec![vec![Silent]],
        vec![vec![Passes], vec![Fatal("column `id` differs")]],
    ]);
    let failure = outcome.unwrap_err();
    assert_eq!(
        failure,
        "sink `s` shard 1: http://ch-1-1: column `id` differs"
    );
    assert_eq!(at, 0);
}

#[test]
fn some_replicas_down_is_no_error_after_the_start_up_timeout() {
    let (outcome, at, _) = look(vec![
        vec![vec![Passes], vec![Retryable("down")], vec![Silent]],
        vec![vec![Passes]],
    ]);
    assert_eq!((outcome, at), (Ok(()), 30_000));
}

#[test]
fn a_shard_without_a_replica_is_an_error_that_names_each_of_them() {
    let (outcome, at, _) = look(vec![
        vec![vec![Passes]],
        vec![vec![Retryable("connection refused")], vec![Silent]],
    ]);
    assert_eq!(
        outcome.unwrap_err(),
        "sink `s` shard 1: not ready within pipeline.startup_timeout (30s): http://ch-1-0: connection refused; \
         http://ch-1-1: no answer within 10s; see that the server runs and answers"
    );
    assert_eq!(at, 30_000);
}

#[test]
fn a_silent_replica_is_named_also_when_there_is_no_time_to_ask_it_again() {
    let sink = StartSink {
        name: "s",
        sink: Arc::new(Scripted(
            Arc::new(vec![vec![Mutex::new(vec![Silent])]]),
            Arc::default(),
        )),
        retry: SinkPoolConfig::default().retry,
    };
    let mut check = StartCheck::new(&[sink], Duration::from_secs(2), Time::ZERO);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(
        check.step(Time::ZERO, &mut cx),
        StartStep::Wait(_)
    ));
    let end = Time::ZERO.after(Duration::from_secs(2));
    let StartStep::Done(Err(failure)) = check.step(end, &mut cx) else {
        panic!("it did not end");
    };
    assert!(
        failure.message().contains("http://ch-0-0: no answer"),
        "{failure}"
    );
}

#[test]
fn a_replica_that_is_silent_once_is_asked_again() {
    let (outcome, at, looks) = look(vec![vec![vec![Silent, Passes]]]);
    assert_eq!((outcome, looks), (Ok(()), 2));
    assert!((10_000..11_000).contains(&at), "{at}");
}

#[test]
fn a_panic_in_a_check_is_an_error_with_its_text() {
    let (outcome, _, _) = look(vec![vec![vec![Panics]]]);
    let failure = outcome.unwrap_err();
    assert!(failure.contains("in the check"), "{failure}");
}
