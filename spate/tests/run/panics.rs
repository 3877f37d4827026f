//! No panic in user code takes the process down: it ends the run, names its place, and what was read before is kept.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use spate::connector::error::ConnectorError;
use spate::connector::record::Partition;
use spate_test::scripted::{
    Call, Fetch, Reply, Scripted, ScriptedSink, ScriptedSource, SourceScript,
};

use crate::support::{Run, texts};

const YAML: &str = "
pipeline: { threads: 2, pin: false, batch_records: 4 }
checkpoint: { interval: 60s, drain_timeout: 5s }
sink: { batch: { linger: 60s }, chunk: { linger: 60s } }
";

/// A state whose making and whose end can be told to panic.
struct Touchy {
    drop_panics: Arc<AtomicBool>,
}

impl Touchy {
    fn make(made: &AtomicUsize, panics_at: usize, drop_panics: &Arc<AtomicBool>) -> Touchy {
        let number = made.fetch_add(1, Ordering::SeqCst);
        assert!(number != panics_at, "state number {number}");
        Touchy {
            drop_panics: Arc::clone(drop_panics),
        }
    }

    fn look(&mut self, line: &[u8]) -> String {
        assert!(line != b"panic", "asked to");
        String::from_utf8_lossy(line).into_owned()
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        assert!(!self.drop_panics.load(Ordering::SeqCst), "a bad end");
    }
}

spate::pipeline! {
    touchy(made: Arc<AtomicUsize>, panics_at: usize, drop_panics: Arc<AtomicBool>) {
        let mut state = Touchy::make(&made, panics_at, &drop_panics);

        memory -> bytes -> look: map(|line| state.look(line)) -> store: Scripted
    }

    scripted {
        Scripted -> bytes -> store: Scripted
    }
}

const NEVER: usize = usize::MAX;

/// Two threads with a partition each: a panic in the one loses nothing of the other.
#[test]
fn a_panic_in_a_closure_names_the_record_and_keeps_what_was_read_before() {
    let pipeline = touchy(Arc::default(), NEVER, Arc::default());
    let source = pipeline.memory_source().expect("a memory source");
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    for partition in 0..2 {
        for i in 0..8 {
            source.push(partition, format!("{partition}-{i}"));
        }
    }
    // Its third batch.
    source.push(1, "1-8");
    source.push(1, "panic");
    let run = Run::start(pipeline, YAML);
    source.assign_lanes(1);
    run.until("the one is read", || source.position(0) == 8);
    source.assign_lanes(2);
    let report = run.end();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(
        failure.to_string(),
        "stage `look`, topic `memory`, partition 1, offset 9: panicked: asked to"
    );
    assert!(
        report
            .to_string()
            .contains(&format!("first failure: {failure}"))
    );
    assert_eq!(source.last_committed(0), Some(8));
    // The batch of the panic is taken out again as a whole.
    assert_eq!(source.last_committed(1), Some(8));
    assert_eq!(sink.rows().len(), 16);
    assert_eq!(report.totals().unaccounted(), 0);
}

#[test]
fn a_panic_while_a_state_is_made_ends_the_run_also_when_it_is_made_anew() {
    // The first of two threads, and the third state: the one after a revocation.
    for panics_at in [0, 2] {
        let pipeline = touchy(Arc::default(), panics_at, Arc::default());
        let source = pipeline.memory_source().expect("a memory source");
        for partition in 0..2 {
            source.push(partition, "x");
        }
        let run = Run::start(pipeline, YAML);
        if panics_at == 2 {
            source.assign_lanes(2);
            run.until("both are read", || {
                source.position(0) == 1 && source.position(1) == 1
            });
            source.revoke(&[0]);
        }
        let report = run.end();
        assert_eq!(report.exit_code(), 1);
        let failure = report.failure().expect("a failure");
        assert!(failure.place().starts_with("thread "), "{failure}");
        assert_eq!(
            failure.message(),
            format!(
                "panicked while its state was made (the `let`s of the pipeline): state number {panics_at}"
            ),
            "{}",
            failure.place()
        );
        if panics_at == 2 {
            assert_eq!(source.last_committed(0), Some(1), "{report}");
            assert_eq!(source.last_committed(1), Some(1), "{report}");
        }
    }
}

#[test]
fn a_panic_in_a_drop_of_a_state_ends_the_run_with_everything_committed() {
    for renewed in [false, true] {
        let drop_panics = Arc::new(AtomicBool::new(true));
        let pipeline = touchy(Arc::default(), NEVER, Arc::clone(&drop_panics));
        let source = pipeline.memory_source().expect("a memory source");
        for partition in 0..2 {
            source.push(partition, "x");
        }
        let run = Run::start(pipeline, YAML);
        source.assign_lanes(2);
        run.until("both are read", || {
            source.position(0) == 1 && source.position(1) == 1
        });
        if renewed {
            source.revoke(&[0]);
        } else {
            run.shutdown.shutdown();
        }
        let report = run.end();
        assert_eq!(report.exit_code(), 1);
        let failure = report.failure().expect("a failure");
        assert_eq!(
            failure.message(),
            "panicked while its state was dropped (a `Drop` of the `let`s of the pipeline): a bad end"
        );
        assert_eq!(report.further_failures(), 1, "the other thread's state");
        for partition in 0..2 {
            assert_eq!(source.last_committed(partition), Some(1), "{report}");
        }
    }
}

#[test]
fn a_panic_and_then_one_in_the_drop_of_the_state_do_not_abort_the_process() {
    let drop_panics = Arc::new(AtomicBool::new(true));
    let pipeline = touchy(Arc::default(), NEVER, drop_panics);
    let source = pipeline.memory_source().expect("a memory source");
    source.push(0, "panic");
    let run = Run::start(pipeline, YAML);
    source.assign_lanes(1);
    let report = run.end();
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.message(), "panicked: asked to", "the first one");
    assert_eq!(report.further_failures(), 2, "one state for each thread");
    assert_eq!(source.last_committed(0), None);
}

/// Panics where it is told to.
struct Panics {
    fetch: bool,
    call: Option<Call>,
}

impl SourceScript for Panics {
    fn fetch(&mut self, _: &Partition, max: usize) -> Fetch {
        assert!(!self.fetch, "a bad lane");
        Fetch::Records(max)
    }

    fn call(&mut self, call: Call) -> Result<(), ConnectorError> {
        assert!(self.call != Some(call), "a bad source");
        Ok(())
    }
}

#[test]
fn a_source_that_panics_ends_the_run_and_says_where() {
    let of = |fetch, call| Panics { fetch, call };
    for (panics, place, message) in [
        (
            of(true, None),
            "source, partition scripted/0",
            "reading panicked: a bad lane",
        ),
        (
            of(false, Some(Call::Start)),
            "engine",
            "the thread that runs the pipeline panicked: a bad source",
        ),
        (
            of(false, Some(Call::Poll)),
            "engine",
            "the thread that runs the pipeline panicked: a bad source",
        ),
    ] {
        let pipeline = scripted();
        let source: ScriptedSource = pipeline.source_handle().expect("a scripted source");
        source.script(panics);
        source.topic().push(0, "x");
        source.assign(&[0]);
        let report = Run::start(pipeline, YAML).end();
        assert_eq!(report.exit_code(), 1);
        let failure = report.failure().expect("a failure");
        assert_eq!((failure.place(), failure.message()), (place, message));
        assert_eq!(source.topic().committed(0), None);
    }
}

#[test]
fn a_source_that_panics_in_the_middle_of_a_run_commits_nothing_that_is_not_stored() {
    struct Later(Arc<AtomicBool>);
    impl SourceScript for Later {
        fn call(&mut self, call: Call) -> Result<(), ConnectorError> {
            let panics = call == Call::Poll && self.0.load(Ordering::SeqCst);
            assert!(!panics, "a bad source");
            Ok(())
        }
    }
    let pipeline = scripted();
    let source: ScriptedSource = pipeline.source_handle().expect("a scripted source");
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    let panics = Arc::new(AtomicBool::new(false));
    source.script(Later(Arc::clone(&panics)));
    for i in 0..100 {
        source.topic().push(0, i.to_string());
    }
    let lane = source.assign(&[0])[0];
    sink.next(Reply::hang());
    let run = Run::start(pipeline, YAML);
    run.until("all is read", || {
        source
            .progress(lane)
            .is_some_and(|(start, read)| start + read == 100)
    });
    panics.store(true, Ordering::SeqCst);
    let report = run.end();
    assert_eq!(report.exit_code(), 1);
    assert!(report.abandoned_batches() > 0, "{report}");
    assert_eq!(report.totals().sinks[0].abandoned_rows, 100, "{report}");
    assert_eq!(source.topic().committed(0), None);
}

#[test]
fn a_sink_that_panics_ends_the_run_and_says_where() {
    for (reply, said) in [
        (Reply::panic_in_call(), "scripted, in write"),
        (Reply::panic_in_poll(), "scripted, in poll"),
        (Reply::stored().panic_on_drop(), "scripted, on drop"),
    ] {
        let pipeline = scripted();
        let source: ScriptedSource = pipeline.source_handle().expect("a scripted source");
        let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
        source.topic().push(0, "x");
        source.assign(&[0]);
        sink.next(reply);
        let yaml = YAML.replace("linger: 60s", "linger: 10ms");
        // It takes milliseconds; threads that are kept waiting begin late, and the clock goes on meanwhile.
        let report = Run::start(pipeline, &yaml).end_within(Duration::from_secs(60));
        assert_eq!(report.exit_code(), 1);
        let failure = report.failure().expect("a failure");
        assert_eq!(failure.place(), "sink `store` shard 0");
        assert!(failure.message().contains(said), "{failure}");
        assert_eq!(source.topic().committed(0), None);
        assert_eq!(report.abandoned_batches(), 1);
    }
}

#[test]
fn a_thread_that_panics_while_it_feeds_a_memory_source_stops_nobody() {
    let pipeline = touchy(Arc::default(), NEVER, Arc::default());
    let source = pipeline.memory_source().expect("a memory source");
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    let run = Run::start(pipeline, YAML);
    source.assign_lanes(1);
    let feeder = source.clone();
    let (hold, held) = mpsc::channel::<()>();
    let feeds = std::thread::spawn(move || {
        feeder.push(0, "one");
        drop(hold);
        let number: Result<i64, _> = "none".parse();
        feeder.push(0, number.expect("a number").to_string());
    });
    assert!(held.recv().is_err());
    assert!(feeds.join().is_err());
    source.push(0, "two");
    run.until("both are read", || source.position(0) == 2);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(texts(sink.rows()), ["one", "two"]);
}
