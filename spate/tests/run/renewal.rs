//! `let` states never remember a record that was not delivered: whenever records may be seen again by a thread, its state
//! is made anew.
//!
//! The ways in which a thread can see a record twice: its partition is revoked and comes back, its partition is lost and
//! comes back. Nothing else reads a record again in the same process: a batch that is held for a schema has not run yet
//! (`a_lane_that_waits_for_a_schema_holds_no_other`), a write is repeated from the block
//! (`a_state_is_made_once_per_thread_while_nothing_is_taken_away`), an assignment hands out each offset once
//! (`records_that_the_client_delivers_again_are_not_handed_out_again`, `a_batch_that_goes_back_is_refused_and_settles_nothing`), and after a failure
//! nothing is read any more.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use spate::MemorySource;
use spate_test::scripted::{Reply, Scripted, ScriptedSink};

use crate::support::{Run, texts};

/// A state per thread; how often one was made is counted.
fn set(made: &AtomicUsize) -> HashSet<Vec<u8>> {
    made.fetch_add(1, Ordering::SeqCst);
    HashSet::new()
}

spate::pipeline! {
    /// Lets each payload through once.
    dedup(made: Arc<AtomicUsize>) {
        let mut seen = set(&made);

        memory
        -> bytes
        -> fresh: filter(|line| seen.insert(line.to_vec()))
        -> store: Scripted
    }
}

const YAML: &str = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 100ms, drain_timeout: 5s }
sink: { batch: { linger: 10ms }, chunk: { linger: 10ms } }
";

struct Dedup {
    run: Run,
    source: MemorySource,
    sink: ScriptedSink,
    made: Arc<AtomicUsize>,
}

impl Dedup {
    fn start(yaml: &str, script: impl FnOnce(&ScriptedSink)) -> Dedup {
        let made = Arc::new(AtomicUsize::new(0));
        let pipeline = dedup(Arc::clone(&made));
        let source = pipeline.memory_source().expect("a memory source");
        let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
        script(&sink);
        let run = Run::start(pipeline, yaml);
        sink.use_alarms(&run.alarms);
        Dedup {
            run,
            source,
            sink,
            made,
        }
    }

    fn push(&self, partition: i32, range: std::ops::Range<i32>) {
        for i in range {
            self.source.push(partition, format!("{partition}-{i}"));
        }
    }

    fn read(&self, partition: i32, offset: i64) {
        self.run.until("the records are read", || {
            self.source.position(partition) == offset
        });
    }

    fn given_back(&self, partition: i32) {
        self.run.until("the partition is given back", || {
            !self.source.is_assigned(partition)
        });
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

/// How a partition goes away.
type Takes = fn(&MemorySource, &[i32]);

#[test]
fn what_a_taken_partition_had_in_flight_is_written_by_whoever_reads_it_again() {
    let ways: [(&str, Takes, Duration); 2] = [
        // The sink does not answer: the revocation ends at its deadline.
        ("revoked", MemorySource::revoke, Duration::from_secs(20)),
        ("lost", MemorySource::lose, Duration::ZERO),
    ];
    for (way, take, needs) in ways {
        let d = Dedup::start(YAML, |sink| {
            sink.next(Reply::stored().after(Duration::from_secs(40)));
        });
        d.push(0, 0..10);
        d.source.assign_lanes(1);
        d.read(0, 10);
        d.run
            .in_time("the write begins", || !d.sink.attempts().is_empty());

        take(&d.source, &[0]);
        d.run.until("the state is made anew", || d.made() == 2);
        d.run.alarms.advance(needs);
        d.given_back(0);
        assert_eq!(d.source.last_committed(0), None, "{way}");

        // The same process gets it again while the first write still hangs.
        d.source.assign_lanes(1);
        d.read(0, 10);
        d.run.pass(Duration::from_secs(1));
        assert_eq!(
            d.source.last_committed(0),
            None,
            "{way}: committed as duplicates of rows that nobody has"
        );
        d.run.alarms.advance(Duration::from_secs(40));
        d.run.in_time("all is committed", || {
            d.source.last_committed(0) == Some(10)
        });
        let rows: BTreeSet<String> = texts(d.sink.rows()).into_iter().collect();
        assert_eq!(rows.len(), 10, "{way}: {rows:?}");
        assert_eq!(d.made(), 2, "{way}");
        let report = d.run.stop();
        assert_eq!(
            report.stage("fresh").map(|stage| stage.dropped),
            Some(0),
            "{way}: {report}"
        );
    }
}

#[test]
fn a_partition_that_comes_back_with_nothing_in_flight_repeats_nothing() {
    let d = Dedup::start(YAML, |_| {});
    d.push(0, 0..10);
    d.source.assign_lanes(1);
    d.read(0, 10);
    d.source.revoke(&[0]);
    d.given_back(0);
    assert_eq!(d.source.last_committed(0), Some(10));
    d.source.assign_lanes(1);
    d.push(0, 10..20);
    d.read(0, 20);
    let sink = d.sink.clone();
    let report = d.run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(sink.rows().len(), 20);
}

#[test]
fn only_the_thread_that_had_the_partition_forgets() {
    let d = Dedup::start(&YAML.replace("threads: 1", "threads: 2"), |_| {});
    d.push(0, 0..10);
    d.push(1, 0..10);
    d.source.assign_lanes(2);
    d.read(0, 10);
    d.read(1, 10);
    assert_eq!(d.made(), 2, "one for each thread");
    d.source.revoke(&[1]);
    d.given_back(1);
    // Before it reads anything again, but not before the partition goes.
    d.run.until("the state is made anew", || d.made() == 3);
    // Partition 0 was not taken away: what it has seen is remembered.
    d.push(0, 0..10);
    d.read(0, 20);
    assert_eq!(d.made(), 3);
    let report = d.run.stop();
    assert_eq!(
        report.stage("fresh").map(|stage| stage.dropped),
        Some(10),
        "{report}"
    );
}

#[test]
fn a_thread_that_waits_for_room_renews_its_state_and_gives_the_partition_back() {
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 1 }
checkpoint: { interval: 100ms, drain_timeout: 5s }
sink: { batch: { max_rows: 1, linger: 10ms }, chunk: { target_bytes: 1KiB, linger: 1ms }, queue: { capacity: 1 } }
";
    let d = Dedup::start(yaml, |sink| {
        sink.next(Reply::stored().after(Duration::from_secs(3600)));
    });
    // A chunk for each record.
    for i in 0..50 {
        d.source.push(0, format!("{i:2000}"));
    }
    d.source.assign_lanes(1);
    // It needs no time, and the write could be given up meanwhile.
    d.run.until("the source is paused", || d.source.is_paused());
    let before = d.made();
    d.source.lose(&[0]);
    d.given_back(0);
    d.run
        .until("the state is made anew", || d.made() == before + 1);
    assert_eq!(d.source.last_committed(0), None);
}

#[test]
fn a_state_is_made_once_per_thread_while_nothing_is_taken_away() {
    let d = Dedup::start(YAML, |sink| {
        for _ in 0..5 {
            sink.next(Reply::retryable("not now"));
        }
    });
    d.push(0, 0..100);
    d.source.assign_lanes(1);
    d.run.in_time("all is committed", || {
        d.source.last_committed(0) == Some(100)
    });
    d.source.assign_lanes(3);
    d.push(2, 0..10);
    d.run.in_time("all is committed", || {
        d.source.last_committed(2) == Some(10)
    });
    assert_eq!(d.made(), 1);
    assert_eq!(d.run.stop().exit_code(), 0);
}
