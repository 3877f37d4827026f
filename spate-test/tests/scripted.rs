//! The scripted doubles on the real engine: each answer of a script does what it says, and breaches are told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use spate::connector::error::ConnectorError;
use spate::{ExitReport, MemoryRecord, RuntimeOptions, ShutdownHandle};
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, SourceEvent};
use spate_runtime::time::Time;
use spate_test::scripted::{
    Attempt, Call, CommitReply, Fetch, Reply, ScriptedSink, ScriptedSource, Topic,
};

const WAIT: Duration = Duration::from_secs(120);

const FAST: &str = "
pipeline: { threads: 2, pin: false, batch_records: 4 }
checkpoint: { interval: 100ms, drain_timeout: 60s }
sink: { batch: { linger: 10ms }, chunk: { linger: 5ms }, retry: { initial: 5ms, max: 20ms } }
";

spate::pipeline! {
    lines {
        spate_test::scripted::Scripted -> bytes -> store: spate_test::scripted::Scripted
    }
}

struct Run {
    source: ScriptedSource,
    sink: ScriptedSink,
    topic: Topic,
    shutdown: ShutdownHandle,
    report: mpsc::Receiver<ExitReport>,
}

impl Run {
    fn start() -> Run {
        Run::start_with(FAST)
    }

    fn start_with(yaml: &str) -> Run {
        let pipeline = lines();
        let source: ScriptedSource = pipeline.source_handle().expect("a source");
        let sink: ScriptedSink = pipeline.sink_handle("store").expect("a sink");
        let config = spate::Config::from_yaml(yaml).expect("a configuration");
        let configured = pipeline.with_config(config).expect("it fits");
        let runtime = configured
            .into_runtime(RuntimeOptions::embedded())
            .expect("it opens");
        let shutdown = runtime.shutdown_handle();
        let (send, report) = mpsc::channel();
        std::thread::spawn(move || {
            // Nobody listens any more when the test has failed.
            let _ = send.send(runtime.run());
        });
        let topic = source.topic();
        Run {
            source,
            sink,
            topic,
            shutdown,
            report,
        }
    }

    fn push(&self, partition: i32, records: usize) {
        for n in 0..records {
            self.topic.push(partition, n.to_string());
        }
    }

    fn committed(&self, partition: i32, offset: i64) {
        assert!(self.topic.wait_committed(partition, offset, WAIT));
    }

    fn join(&self) -> ExitReport {
        self.report.recv_timeout(WAIT).expect("the run ends")
    }

    fn stop(&self) -> ExitReport {
        self.shutdown.shutdown();
        let report = self.join();
        assert_eq!(self.source.breaches(), Vec::<String>::new());
        report
    }
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + WAIT;
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn gaps_and_tombstones_are_read_over() {
    let run = Run::start();
    run.topic.push(0, "a");
    run.topic.gap(0, 5);
    run.topic.push_record(0, MemoryRecord::default());
    run.topic.push(0, "b");
    run.topic.gap(0, 2);
    run.source.assign(&[0]);
    assert_eq!(run.topic.end(0), 10);
    run.committed(0, 10);
    assert_eq!(run.sink.rows(), [b"a", b"b"]);
    assert_eq!(run.stop().totals().stages[1].tombstones, 1);
}

#[test]
fn a_fetch_that_fails_for_a_while_loses_nothing_and_a_fatal_one_stops_the_run() {
    let run = Run::start();
    run.push(0, 3);
    run.source
        .next_fetch(0, Fetch::Fails(ConnectorError::retryable("no leader")));
    run.source.next_fetch(0, Fetch::Nothing);
    run.source.next_fetch(0, Fetch::Records(1));
    run.source.assign(&[0]);
    run.committed(0, 3);
    assert_eq!(run.sink.rows().len(), 3);
    run.source
        .next_fetch(0, Fetch::Fails(ConnectorError::fatal("not authorised")));
    let report = run.join();
    let failure = report.failure().expect("a failure");
    assert!(failure.to_string().contains("scripted/0"), "{failure}");
    assert!(failure.to_string().contains("not authorised"), "{failure}");
}

#[test]
fn every_reply_to_a_commit_ends_in_a_commit_of_everything() {
    let replies = [
        CommitReply::TakenTwice,
        CommitReply::Late(Duration::from_millis(50)),
        CommitReply::Refused,
        CommitReply::RefusedWith(ConnectorError::retryable("coordinator moves")),
        CommitReply::TakenButRefused,
        CommitReply::NotBegun(ConnectorError::retryable("queue full")),
    ];
    for reply in replies {
        let run = Run::start();
        run.source.next_commit(reply.clone());
        run.push(0, 3);
        run.source.assign(&[0]);
        run.committed(0, 3);
        run.push(0, 2);
        run.committed(0, 5);
        let report = run.stop();
        assert_eq!(report.exit_code(), 0, "{reply:?}: {report}");
    }
}

#[test]
fn a_commit_of_an_assignment_that_is_over_is_refused() {
    let run = Run::start();
    let open = Arc::new(AtomicBool::new(false));
    let reply = Arc::clone(&open);
    run.sink
        .script(move |_: &Attempt| match reply.load(Ordering::SeqCst) {
            true => Reply::stored(),
            false => Reply::retryable("not yet"),
        });
    run.push(0, 3);
    run.source.assign(&[0]);
    until("the write began", || !run.sink.attempts().is_empty());
    // As a broker does with a member that it no longer hears of: the member does not know.
    run.topic.expel(0);
    open.store(true, Ordering::SeqCst);
    until("a commit was tried", || !run.source.commits().is_empty());
    assert_eq!(run.topic.committed(0), None);
    run.source.lose(&[0]);
    until("given back", || run.source.assigned().is_empty());
    run.source.assign(&[0]);
    run.committed(0, 3);
    assert_eq!(run.sink.rows().len(), 6, "read again");
    run.stop();
}

#[test]
fn revoked_and_lost_partitions_are_given_back_and_come_again_as_others() {
    let run = Run::start();
    run.push(0, 3);
    run.push(1, 3);
    let lanes = run.source.assign(&[0, 1]);
    run.source.revoke(&[0]);
    until("given back", || run.source.is_released(lanes[0]));
    assert_eq!(run.topic.committed(0).unwrap_or(3), 3);
    run.source.lose(&[1]);
    until("given back", || run.source.is_released(lanes[1]));
    let again = run.source.assign(&[0, 1]);
    assert!(again.iter().all(|lane| !lanes.contains(lane)));
    run.committed(0, 3);
    run.committed(1, 3);
    assert_eq!(run.stop().exit_code(), 0);
}

#[test]
fn a_bounded_topic_ends_the_run() {
    let run = Run::start();
    run.push(0, 10);
    run.topic.close();
    run.source.assign(&[0, 1]);
    assert_eq!(run.join().exit_code(), 0);
    assert_eq!(run.topic.committed(0), Some(10));
    assert!(run.source.is_closed());
}

#[test]
fn calls_of_the_control_plane_fail_as_scripted() {
    let run = Run::start();
    run.source
        .next_call(Call::Poll, ConnectorError::retryable("broker down"));
    run.source.trouble("all brokers are down");
    run.push(0, 3);
    run.source.assign(&[0]);
    run.committed(0, 3);
    run.source
        .next_call(Call::Poll, ConnectorError::fatal("fenced"));
    let report = run.join();
    assert_eq!(report.failure().expect("a failure").message(), "fenced");
}

#[test]
fn a_pause_and_a_resume_that_fail_are_made_again() {
    // A queue of one chunk, a chunk of three records, a block of one chunk.
    let run = Run::start_with(
        "
pipeline: { threads: 1, pin: false, batch_records: 1 }
checkpoint: { interval: 100ms }
sink:
  batch: { max_rows: 1, linger: 10ms }
  chunk: { target_bytes: 1KiB }
  queue: { capacity: 1 }
  retry: { initial: 5ms, max: 20ms }
",
    );
    let open = Arc::new(AtomicBool::new(false));
    let reply = Arc::clone(&open);
    run.sink
        .script(move |_: &Attempt| match reply.load(Ordering::SeqCst) {
            true => Reply::stored(),
            false => Reply::retryable("not yet"),
        });
    let refused = || ConnectorError::retryable("the client is busy");
    run.source.next_call(Call::Pause, refused());
    run.source.next_call(Call::Resume, refused());
    for n in 0..200 {
        run.topic.push(0, [n; 400]);
    }
    let lane = run.source.assign(&[0])[0];
    until("paused", || run.source.is_paused(lane));
    open.store(true, Ordering::SeqCst);
    run.committed(0, 200);
    until("resumed", || !run.source.is_paused(lane));
    assert_eq!(run.stop().exit_code(), 0);
}

#[test]
fn a_release_that_fails_is_made_again() {
    let run = Run::start();
    run.source.next_call(
        Call::Release,
        ConnectorError::retryable("the client is busy"),
    );
    let lane = run.source.assign(&[0])[0];
    run.source.revoke(&[0]);
    until("given back", || run.source.is_released(lane));
    assert_eq!(run.stop().exit_code(), 0);
}

#[test]
fn every_reply_of_a_sink_does_what_it_says() {
    // The reply, and how often each row is stored in the end.
    let replies = [
        (Reply::stored().after(Duration::from_millis(30)), 1),
        (Reply::retryable("try again"), 1),
        (Reply::lost(), 2),
        (Reply::partly(1), 2),
    ];
    for (reply, times) in replies {
        let run = Run::start();
        run.sink.next(reply.clone());
        run.push(0, 1);
        run.source.assign(&[0]);
        run.committed(0, 1);
        assert_eq!(run.sink.rows().len(), times, "{reply:?}");
        assert_eq!(run.stop().exit_code(), 0, "{reply:?}");
    }
}

#[test]
fn fatal_replies_panics_and_hangs_end_the_run_with_a_failure_and_no_commit() {
    for (reply, text) in [
        (Reply::fatal("unknown table"), "unknown table"),
        (Reply::panic_in_poll(), "scripted, in poll"),
    ] {
        let run = Run::start();
        run.sink.next(reply);
        run.push(0, 1);
        run.source.assign(&[0]);
        let report = run.join();
        let failure = report.failure().expect("a failure").to_string();
        assert!(failure.contains(text), "{failure}");
        assert_eq!(run.topic.committed(0), None);
    }
    let run = Run::start_with(&FAST.replace("drain_timeout: 60s", "drain_timeout: 500ms"));
    run.sink.script(|_: &Attempt| Reply::hang());
    run.push(0, 1);
    run.source.assign(&[0]);
    until("the write began", || !run.sink.attempts().is_empty());
    let report = run.stop();
    assert_eq!(report.exit_code(), 1);
    assert_eq!(run.topic.committed(0), None);
}

#[test]
fn rows_of_several_shards_are_written_by_the_shards_writer() {
    let pipeline = lines();
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a sink");
    let source: ScriptedSource = pipeline.source_handle().expect("a source");
    sink.shards(3);
    let topic = source.topic();
    for n in 0..30 {
        let record = MemoryRecord {
            payload: Some(vec![n]),
            key: Some(vec![n]),
            ..MemoryRecord::default()
        };
        topic.push_record(0, record);
    }
    topic.close();
    source.assign(&[0]);
    let config = spate::Config::from_yaml(FAST).expect("a configuration");
    let configured = pipeline.with_config(config).expect("it fits");
    let runtime = configured.into_runtime(RuntimeOptions::embedded());
    assert_eq!(runtime.expect("it opens").run().exit_code(), 0);
    let mut shards: Vec<usize> = sink.stored().iter().map(|s| s.attempt.shard).collect();
    shards.sort_unstable();
    shards.dedup();
    assert_eq!(shards, [0, 1, 2]);
    assert_eq!(sink.rows().len(), 30);
}

/// A driver of a source that keeps to nothing.
#[test]
fn every_breach_of_the_contract_is_told() {
    let topic = Topic::new("t");
    for n in 0..10 {
        topic.push(0, vec![n]);
    }
    let handle = ScriptedSource::new(&topic);
    let mut source = handle.source();
    source.start(Time::ZERO).expect("it starts");
    handle.assign(&[0]);
    let Ok(Some(SourceEvent::Assigned(mut lanes))) = source.poll(Time::ZERO) else {
        panic!("no assignment");
    };
    let mut lane = lanes.remove(0);
    let told = |text: &str| {
        let breaches = handle.breaches();
        let last = breaches.last().map_or("nothing", String::as_str);
        assert!(last.contains(text), "{text} was not told: {last}");
    };
    let commit = |id: LaneId, offset| Commit {
        lane: id,
        partition: Partition::new("t", 0),
        offset,
        metadata: None,
    };
    lane.finish();
    told("finished without a batch");
    lane.fetch(4).expect("it reads");
    lane.fetch(4).expect("it reads");
    told("fetched while a batch was current");
    lane.finish();
    assert_eq!(handle.breaches().len(), 2);
    let id = lane.id();
    source.commit(0, &[commit(id, 3)]).expect("begun");
    assert_eq!(handle.breaches().len(), 2);
    source.commit(1, &[commit(id, 3)]).expect("begun");
    told("was taken already");
    source.commit(2, &[commit(id, 2)]).expect("begun");
    told("goes back");
    source.commit(3, &[commit(id, 9)]).expect("begun");
    told("behind what was read");
    source.commit(4, &[commit(LaneId(7), 9)]).expect("begun");
    told("unknown lane");
    source.release(&[id]).expect("given back");
    told("while it stood with a driver");
    lane.fetch(4).expect("nothing");
    told("after it was given back");
    source.commit(5, &[commit(id, 20)]).expect("begun");
    assert!(
        handle
            .breaches()
            .iter()
            .any(|b| b.contains("a lane that was given back"))
    );
    drop(lane);
    source.close();
    source.poll(Time::ZERO).expect("nothing");
    told("after close");
}
