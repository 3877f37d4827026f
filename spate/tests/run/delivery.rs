//! What is committed, and when: every record's end, and all rows of a record.

use std::collections::BTreeSet;
use std::time::Duration;

use spate::connector::error::RowError;
use spate::connector::sink::{RowEncoder, RowInfo, Sink, SinkKind};
use spate::connector::source::{Attachment, OpenContext};
use spate::connector::{OpenError, Section};
use spate::{MemoryRecord, MemorySource, Pipeline};
use spate_test::scripted::{Attempt, Reply, Scripted, ScriptedSink};

use crate::support::{Run, texts};

const YAML: &str = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 100ms, drain_timeout: 5s }
";

/// A scripted sink whose encoder fails in the middle of a row that begins with `bad`.
struct Half;

impl SinkKind for Half {
    const KIND: &'static str = "half";
    const CONFIGURED: bool = false;

    fn attach() -> Option<Attachment> {
        <Scripted as SinkKind>::attach()
    }

    fn open(
        section: &Section,
        row: RowInfo,
        context: &OpenContext,
    ) -> Result<Box<dyn Sink>, OpenError> {
        <Scripted as SinkKind>::open(section, row, context)
    }
}

impl RowEncoder<&[u8]> for Half {
    fn row() -> RowInfo {
        <Scripted as RowEncoder<&[u8]>>::row()
    }

    fn encode(row: &&[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
        if row.starts_with(b"bad") {
            out.extend_from_slice(b"half of it");
            return Err(RowError::new("a bad row"));
        }
        <Scripted as RowEncoder<&[u8]>>::encode(row, out)
    }
}

fn number(line: &[u8]) -> Result<i64, spate::StageError> {
    Ok(std::str::from_utf8(line)?.parse()?)
}

spate::pipeline! {
    filtered() {
        memory -> bytes -> filter(|_| false) -> store: Scripted
    }

    emptied() {
        memory -> bytes -> flat_map(|_| Vec::<Vec<u8>>::new()) -> store: Scripted
    }

    skipped() {
        memory
        -> bytes
        -> try_map(number, on_error = skip)
        -> map(|n| n.to_string())
        -> store: Scripted
    }

    stored() {
        memory -> bytes -> store: Scripted
    }

    halves() {
        memory -> bytes -> store: Half(on_error = skip)
    }

    both() {
        memory -> bytes -> tee { one: Scripted, two: Scripted }
    }

    both_or_none() {
        memory -> bytes -> tee { one: Scripted, two: Half }
    }

    hot_and_cold() {
        memory
        -> bytes
        -> route(|line| line.len()) { 4 => cold: Scripted, _ => hot: Scripted }
    }
}

struct Setup {
    run: Run,
    source: MemorySource,
    sinks: Vec<ScriptedSink>,
}

fn start(pipeline: Pipeline, sinks: &[&str], yaml: &str) -> Setup {
    let source = pipeline.memory_source().expect("a memory source");
    let sinks: Vec<ScriptedSink> = sinks
        .iter()
        .map(|name| pipeline.sink_handle(name).expect("a scripted sink"))
        .collect();
    let run = Run::start(pipeline, yaml);
    sinks.iter().for_each(|sink| sink.use_alarms(&run.alarms));
    Setup { run, source, sinks }
}

impl Setup {
    fn committed(&self, partition: i32, offset: i64) {
        self.run.in_time("it is committed", || {
            self.source.last_committed(partition) == Some(offset)
        });
    }
}

#[test]
fn records_that_end_without_a_row_are_committed_and_nothing_is_written() {
    for (what, pipeline) in [
        ("filtered", filtered as fn() -> Pipeline),
        ("emptied", emptied),
        ("skipped", skipped),
    ] {
        let s = start(pipeline(), &["store"], YAML);
        for i in 0..1000 {
            s.source.push(0, format!("no number {i}"));
        }
        s.source.assign_lanes(1);
        s.committed(0, 1000);
        let report = s.run.stop();
        assert_eq!(report.exit_code(), 0, "{what}: {report}");
        assert!(s.sinks[0].attempts().is_empty(), "{what}");
        assert_eq!(report.totals().unaccounted(), 0, "{what}: {report}");
    }
}

#[test]
fn a_record_with_rows_for_two_sinks_is_committed_when_both_have_them() {
    let s = start(both(), &["one", "two"], YAML);
    s.sinks[1].next(Reply::stored().after(Duration::from_secs(30)));
    s.source.push(0, "a");
    s.source.assign_lanes(1);
    s.run
        .in_time("the one has it", || !s.sinks[0].rows().is_empty());
    s.run
        .in_time("the other is asked", || !s.sinks[1].attempts().is_empty());
    s.run.pass(Duration::from_secs(1));
    assert_eq!(s.source.last_committed(0), None);
    s.run.alarms.advance(Duration::from_secs(30));
    s.committed(0, 1);
    assert_eq!(s.run.stop().exit_code(), 0);
}

#[test]
fn a_record_of_which_one_sink_refuses_its_row_is_not_committed() {
    let s = start(both(), &["one", "two"], YAML);
    s.sinks[1].next(Reply::fatal("no"));
    s.source.push(0, "a");
    s.source.assign_lanes(1);
    let report = s.run.end_within(Duration::from_secs(60));
    assert_eq!(report.exit_code(), 1);
    assert_eq!(s.source.last_committed(0), None);
}

#[test]
fn a_sink_that_gets_a_row_now_and_then_does_not_hold_the_commits() {
    let s = start(hot_and_cold(), &["hot", "cold"], YAML);
    s.source.push(0, "cold");
    s.source.assign_lanes(1);
    // The other sink is never idle meanwhile.
    s.run.in_time("the cold row is committed", || {
        for _ in 0..10 {
            s.source.push(0, "a hot one");
        }
        s.source.last_committed(0).is_some()
    });
    assert_eq!(texts(s.sinks[1].rows()), ["cold"]);
}

#[test]
fn a_row_that_fails_half_way_leaves_nothing_of_itself() {
    let s = start(halves(), &["store"], YAML);
    for line in ["one", "bad", "two", "bad too", "three"] {
        s.source.push(0, line);
    }
    s.source.assign_lanes(1);
    s.committed(0, 5);
    let report = s.run.stop();
    assert_eq!(texts(s.sinks[0].rows()), ["one", "two", "three"]);
    assert_eq!(report.stage("store").map(|stage| stage.skipped), Some(2));
    assert_eq!(report.totals().unaccounted(), 0, "{report}");
}

#[test]
fn a_row_that_fails_in_one_branch_takes_the_batch_back_out_of_the_other() {
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 2 }
checkpoint: { interval: 100ms, drain_timeout: 5s }
sinks:
  one: { batch: { linger: 1h }, chunk: { linger: 1h } }
  two: { batch: { linger: 1h }, chunk: { linger: 1h } }
";
    let s = start(both_or_none(), &["one", "two"], yaml);
    for line in ["a", "b", "c", "bad"] {
        s.source.push(0, line);
    }
    s.source.assign_lanes(1);
    let report = s.run.end();
    assert_eq!(report.exit_code(), 1);
    for sink in &s.sinks {
        assert_eq!(texts(sink.rows()), ["a", "b"], "the batch before");
    }
    assert_eq!(s.source.last_committed(0), Some(2));
}

#[test]
fn no_two_runs_use_the_same_token() {
    let mut tokens = BTreeSet::new();
    for _ in 0..3 {
        let s = start(stored(), &["store"], YAML);
        s.source.push(0, "a");
        s.source.assign_lanes(1);
        s.committed(0, 1);
        assert_eq!(s.run.stop().exit_code(), 0);
        tokens.extend(s.sinks[0].attempts().into_iter().map(|a| a.token));
    }
    assert_eq!(tokens.len(), 3, "{tokens:?}");
}

#[test]
fn a_partition_with_all_that_may_be_in_flight_holds_no_other() {
    /// The sink's router for two shards, which is fixed for good.
    fn shard(key: &str) -> usize {
        let fnv = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        (fnv % 2) as usize
    }
    let key = |wanted: usize| {
        let mut keys = (0..).map(|i: i32| i.to_string());
        keys.find(|key| shard(key) == wanted)
    };
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 1 }
checkpoint: { interval: 100ms, drain_timeout: 5s, max_pending_batches: 4 }
sink: { batch: { linger: 10ms }, chunk: { linger: 10ms } }
";
    let pipeline = stored();
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    sink.shards(2);
    sink.script(|attempt: &Attempt| match attempt.shard {
        0 => Reply::hang(),
        _ => Reply::stored(),
    });
    let s = start(pipeline, &["store"], yaml);
    for partition in 0..2 {
        for i in 0..50 {
            let record = MemoryRecord {
                payload: Some(i.to_string().into_bytes()),
                key: key(partition as usize).map(String::into_bytes),
                ..MemoryRecord::default()
            };
            s.source.push_record(partition, record);
        }
    }
    s.source.assign_lanes(2);
    s.committed(1, 50);
    assert_eq!(s.source.position(0), 4);
    assert_eq!(s.source.last_committed(0), None);
}

#[test]
fn a_failure_ends_the_run_without_waiting_for_the_drains_deadline_also_when_drivers_wait_for_room()
{
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 1 }
checkpoint: { interval: 100ms, drain_timeout: 1h }
sink: { batch: { max_rows: 1, linger: 10ms }, chunk: { target_bytes: 1KiB, linger: 1ms }, queue: { capacity: 1 } }
";
    let s = start(stored(), &["store"], yaml);
    s.sinks[0].next(Reply::fatal("no").after(Duration::from_secs(5)));
    for i in 0..50 {
        s.source.push(0, format!("{i:2000}"));
    }
    s.source.assign_lanes(1);
    // It needs no time, and the write would fail meanwhile.
    s.run.until("the source is paused", || s.source.is_paused());
    let report = s.run.end_within(Duration::from_secs(60));
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "sink `store` shard 0");
    assert!(failure.message().ends_with(": no"), "{failure}");
    assert_eq!(s.source.last_committed(0), None);
}
