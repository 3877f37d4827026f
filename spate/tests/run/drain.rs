//! A drain ends within its budget, whatever hangs, and says what it gave up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use spate_test::scripted::{Attempt, CommitReply, Reply, Scripted, ScriptedSink, ScriptedSource};

use crate::support::Run;

const DRAIN: Duration = Duration::from_secs(5);

/// What may come on top: a second for late threads and the last commit ..
const ABORT_GRACE: Duration = Duration::from_secs(1);

/// .. and three for everything, threads that are stuck among it.
const EXIT_GRACE: Duration = Duration::from_secs(3);

const YAML: &str = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 60s, drain_timeout: 5s }
sink: { batch: { linger: 60s }, chunk: { linger: 60s } }
";

/// What a closure waits for.
struct Door {
    reached: AtomicBool,
    open: Mutex<mpsc::Receiver<()>>,
}

fn through(door: &Door, line: &[u8]) -> Vec<u8> {
    if line == b"wait" {
        door.reached.store(true, Ordering::SeqCst);
        // It ends when the sender is dropped.
        let _ = door.open.lock().expect("not poisoned").recv();
    }
    line.to_vec()
}

spate::pipeline! {
    doors(door: Arc<Door>) {
        Scripted -> bytes -> map(|line| through(&door, line)) -> store: Scripted
    }
}

struct Setup {
    run: Run,
    source: ScriptedSource,
    sink: ScriptedSink,
    door: Arc<Door>,
    open: mpsc::Sender<()>,
}

fn start(records: &[&str], threads: usize) -> Setup {
    let (open, waits) = mpsc::channel();
    let door = Arc::new(Door {
        reached: AtomicBool::new(false),
        open: Mutex::new(waits),
    });
    let pipeline = doors(Arc::clone(&door));
    let source: ScriptedSource = pipeline.source_handle().expect("a scripted source");
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    for (partition, record) in records.iter().enumerate() {
        source.topic().push(partition as i32, *record);
    }
    let run = Run::start(
        pipeline,
        &YAML.replace("threads: 1", &format!("threads: {threads}")),
    );
    sink.use_alarms(&run.alarms);
    let partitions: Vec<i32> = (0..records.len() as i32).collect();
    source.assign(&partitions);
    Setup {
        run,
        source,
        sink,
        door,
        open,
    }
}

impl Setup {
    fn read(&self, partition: i32) {
        self.run.until("the record is read", || {
            self.source
                .topic()
                .owner(partition)
                .and_then(|lane| self.source.progress(lane))
                .is_some_and(|(start, position)| start + position == 1)
        });
    }
}

impl Setup {
    /// Shuts it down and waits until the drain writes.
    fn begin(&self) {
        self.run.shutdown.shutdown();
        self.run
            .until("the drain writes", || !self.sink.attempts().is_empty());
    }
}

#[test]
fn what_waits_for_company_is_written_and_committed_at_once() {
    let s = start(&["a", "b"], 1);
    s.read(0);
    s.read(1);
    assert!(s.sink.attempts().is_empty(), "it waits for company");
    let report = s.run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.drain_time(), Some(Duration::ZERO));
    assert_eq!(s.source.topic().committed(0), Some(1));
    assert_eq!(s.source.topic().committed(1), Some(1));
    assert!(s.source.is_closed());
}

#[test]
fn a_sink_that_answers_within_the_budget_is_waited_for() {
    let s = start(&["a"], 1);
    let slow = DRAIN - Duration::from_millis(500);
    s.sink.next(Reply::stored().after(slow));
    s.read(0);
    s.begin();
    let report = s.run.end_within(slow);
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(s.source.topic().committed(0), Some(1));
}

#[test]
fn a_sink_that_hangs_holds_the_end_no_longer_than_the_budget_and_commits_nothing() {
    let s = start(&["a", "b"], 1);
    s.sink.next(Reply::hang());
    s.read(0);
    s.read(1);
    s.begin();
    let report = s.run.end_within(DRAIN);
    assert_eq!(report.drain_time(), Some(DRAIN));
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "sink `store` shard 0");
    assert!(
        failure.message().contains("checkpoint.drain_timeout"),
        "{failure}"
    );
    assert_eq!(report.abandoned_batches(), 2);
    assert_eq!(report.totals().sinks[0].abandoned_rows, 2);
    assert_eq!(s.source.topic().committed(0), None);
    assert!(s.source.breaches().is_empty(), "{:?}", s.source.breaches());
}

#[test]
fn a_last_commit_that_is_never_answered_ends_with_the_budget_and_is_a_failure() {
    let s = start(&["a"], 1);
    s.source.next_commit(CommitReply::Lost);
    s.read(0);
    s.begin();
    let report = s.run.end_within(DRAIN + ABORT_GRACE);
    assert_eq!(report.exit_code(), 1, "{report}");
    assert!(
        report.failure().is_some_and(|f| f.place() == "checkpoint"),
        "{report}"
    );
}

#[test]
fn the_end_of_a_bounded_source_is_clean_only_if_the_last_commit_is_taken() {
    for (reply, code, needs) in [
        (CommitReply::Taken, 0, Duration::ZERO),
        (CommitReply::Lost, 1, DRAIN + ABORT_GRACE),
    ] {
        let s = start(&["a"], 1);
        s.source.next_commit(reply);
        s.read(0);
        s.source.topic().close();
        s.run
            .until("the drain writes", || !s.sink.attempts().is_empty());
        let report = s.run.end_within(needs);
        assert_eq!(report.exit_code(), code, "{report}");
        assert_eq!(s.source.topic().committed(0), (code == 0).then_some(1));
    }
}

#[test]
fn a_closure_that_does_not_return_holds_neither_the_end_nor_the_others() {
    let s = start(&["wait", "b"], 2);
    s.run.until("the closure waits", || {
        s.door.reached.load(Ordering::SeqCst)
    });
    s.read(1);
    s.begin();
    s.run.pass(DRAIN);
    // Only the thread that is stuck is waited for now: what is stored is committed meanwhile.
    s.run.until("the other thread's is committed", || {
        s.source.topic().committed(1) == Some(1)
    });
    let report = s.run.end_within(EXIT_GRACE);
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert!(
        failure.place().starts_with("thread ") && failure.message().contains("does not return"),
        "{failure}"
    );
    assert_eq!(s.source.topic().committed(0), None);
    assert_eq!(s.source.topic().committed(1), Some(1));
    // What it does when it comes back harms nobody.
    drop(s.open);
}

#[test]
fn a_write_that_blocks_its_thread_does_not_hold_the_end() {
    let s = start(&["a"], 1);
    let (open, door) = mpsc::channel::<()>();
    let (enter, entered) = mpsc::channel();
    let door = Mutex::new(door);
    s.sink.script(move |_: &Attempt| {
        enter.send(()).expect("the test waits");
        // It ends when the sender is dropped.
        let _ = door.lock().expect("not poisoned").recv();
        Reply::stored()
    });
    s.read(0);
    s.run.shutdown.shutdown();
    entered.recv().expect("the drain writes");
    let report = s.run.end_within(DRAIN + EXIT_GRACE);
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "sink `store` shard 0");
    assert!(failure.message().contains("blocks its thread"), "{failure}");
    assert_eq!(report.abandoned_batches(), 1);
    assert_eq!(s.source.topic().committed(0), None);
    drop(open);
}

#[test]
fn a_failure_drains_like_a_signal() {
    let s = start(&["a", "b"], 1);
    s.sink.next(Reply::fatal("the table is gone"));
    s.read(0);
    s.read(1);
    // Only the drain writes it.
    let report = s.run.stop();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "sink `store` shard 0");
    assert!(failure.message().ends_with("the table is gone"), "{report}");
    assert_eq!(s.source.topic().committed(0), None);
}

#[test]
fn a_shutdown_before_anything_was_read_is_a_clean_end() {
    let s = start(&[], 1);
    let report = s.run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert!(
        report
            .to_string()
            .starts_with("pipeline `doors` completed: records=0 "),
        "{report}"
    );
}
