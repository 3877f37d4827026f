//! The engine end to end in one process: what goes in is written, committed and counted, or the run says why not.

mod common;

use common::{Run, WAIT, numbers, wait_for};
use spate_runtime::config::Config;
use spate_runtime::error::ConnectorError;
use spate_runtime::memory::MemoryRecord;
use spate_runtime::runtime::RuntimeOptions;

const FAST: &str = "
pipeline: { threads: 2, pin: false, batch_records: 16 }
checkpoint: { interval: 100ms, drain_timeout: 60s }
sink: { batch: { linger: 20ms }, chunk: { linger: 5ms }, retry: { initial: 5ms, max: 20ms } }
";

#[test]
fn every_record_is_written_and_committed_and_counted() {
    let run = Run::start(FAST);
    for i in 0..1000 {
        let text = match i % 10 {
            0 => format!("# {i}"),
            1 => "no number".to_owned(),
            _ => i.to_string(),
        };
        run.source.push(i % 4, text);
    }
    run.source.push_record(3, MemoryRecord::default());
    run.source.assign_lanes(4);
    for partition in 0..3 {
        assert!(run.source.wait_committed(partition, 250, WAIT));
    }
    assert!(
        run.source.wait_committed(3, 251, WAIT),
        "a tombstone moves the watermark too"
    );
    let sink = run.sink.clone();
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    let mut lines = sink.lines();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 800);
    assert_eq!(report.totals().records, 1001);
    assert_eq!(report.stage("keep").unwrap().dropped, 100);
    assert_eq!(report.stage("parse").unwrap().skipped, 100);
    assert_eq!(report.stage("bytes").unwrap().tombstones, 1);
    assert_eq!(report.totals().unaccounted(), 0);
    assert_eq!(report.totals().sinks[0].rows, 800);
}

#[test]
fn records_that_are_all_dropped_move_the_watermark() {
    let run = Run::start(FAST);
    for _ in 0..50 {
        run.source.push(0, "# nothing");
    }
    run.source.assign_lanes(1);
    assert!(run.source.wait_committed(0, 50, WAIT));
    assert_eq!(run.stop().exit_code(), 0);
}

#[test]
fn a_retryable_write_is_repeated_with_the_same_token() {
    let run = Run::start(FAST);
    run.sink.fail_next(ConnectorError::retryable("try again"));
    run.sink.fail_next(ConnectorError::retryable("and again"));
    run.source.push(0, "7");
    run.source.assign_lanes(1);
    assert!(run.source.wait_committed(0, 1, WAIT));
    let attempts = run.sink.attempts();
    assert_eq!(attempts.len(), 3);
    assert!(attempts.iter().all(|token| *token == attempts[0]));
    assert_eq!(run.stop().totals().sinks[0].retries, 2);
}

#[test]
fn a_fatal_write_stops_the_run_and_commits_nothing_past_it() {
    let run = Run::start(FAST);
    run.source.push(0, "1");
    run.source.assign_lanes(1);
    assert!(run.source.wait_committed(0, 1, WAIT));
    run.sink
        .fail_next(ConnectorError::fatal("Code: 60. UNKNOWN_TABLE"));
    run.source.push(0, "2");
    let source = run.source.clone();
    let report = run.join();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "sink `capture` shard 0");
    assert!(failure.message().contains("UNKNOWN_TABLE"));
    assert_eq!(source.last_committed(0), Some(1));
    assert_eq!(report.abandoned_batches(), 1);
}

#[test]
fn a_failing_stage_names_itself_and_the_record_and_nothing_of_it_is_committed() {
    for (payload, message) in [("fail", "asked to"), ("panic", "panicked: asked to")] {
        let run = Run::start(FAST);
        run.source.push(0, "1");
        run.source.push(0, payload);
        run.source.assign_lanes(1);
        let (source, sink) = (run.source.clone(), run.sink.clone());
        let report = run.join();
        let failure = report.failure().expect("a failure");
        assert_eq!(
            failure.place(),
            "stage `parse`, topic `memory`, partition 0, offset 1"
        );
        assert_eq!(failure.message(), message);
        assert_eq!(report.exit_code(), 1);
        assert_eq!(source.last_committed(0), None);
        assert!(sink.writes().is_empty(), "the batch was rolled back");
    }
}

#[test]
fn what_stood_open_before_a_failing_batch_is_written_and_nothing_of_the_batch() {
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 2 }
checkpoint: { interval: 60s }
sink: { batch: { linger: 60s }, chunk: { linger: 60s } }
";
    let run = Run::start(yaml);
    for payload in ["1", "2", "3", "fail"] {
        run.source.push(0, payload);
    }
    run.source.assign_lanes(1);
    let (source, sink) = (run.source.clone(), run.sink.clone());
    let report = run.join();
    assert_eq!(report.exit_code(), 1);
    assert_eq!(sink.lines(), ["0/0:1", "0/1:2"]);
    assert_eq!(source.last_committed(0), Some(2));
    assert_eq!(
        report.totals().unaccounted(),
        0,
        "the batch that failed is not counted"
    );
}

#[test]
fn a_slow_sink_pauses_the_source_and_loses_nothing() {
    let yaml = "
pipeline: { threads: 1, pin: false, batch_records: 4 }
checkpoint: { interval: 100ms }
backpressure: { min_pause: 1ms }
sink: { batch: { max_rows: 4, linger: 1ms }, chunk: { target_bytes: 1KiB, linger: 1ms }, queue: { capacity: 2 } }
";
    let run = Run::start(yaml);
    run.sink.hold(true);
    for i in 0..500 {
        run.source.push(0, i.to_string());
    }
    run.source.assign_lanes(1);
    wait_for("the source is paused", || run.source.is_paused());
    run.source.assign_lanes(2);
    run.source.push(1, "1");
    assert_eq!(run.source.last_committed(0), None);
    run.sink.hold(false);
    assert!(run.source.wait_committed(0, 500, WAIT));
    assert!(run.source.wait_committed(1, 1, WAIT));
    wait_for("the source is resumed", || !run.source.is_paused());
    let sink = run.sink.clone();
    let report = run.stop();
    assert_eq!(sink.lines().len(), 501);
    assert_eq!(report.exit_code(), 0, "{report}");
}

#[test]
fn a_budget_that_cannot_work_is_refused_at_load_with_the_smallest_that_does() {
    let open = |budget: &str| {
        let yaml = format!(
            "pipeline: {{ threads: 3, pin: false }}
backpressure: {{ {budget} low_ratio: 0.4 }}
sink: {{ batch: {{ max_bytes: 1MiB }}, chunk: {{ target_bytes: 16KiB }}, queue: {{ capacity: 4 }} }}"
        );
        let config = Config::from_yaml(&yaml).expect("a configuration");
        numbers().with_config(config).expect("it fits")
    };
    let runtime = |budget: &str| open(budget).into_runtime(RuntimeOptions::embedded());
    let needed: usize = (1 << 20) + 3 * (16 << 10);
    let smallest = (needed * 10).div_ceil(4);
    assert_eq!(smallest, 2680 << 10);
    let set = |bytes: usize| format!("max_in_flight_bytes: {bytes},");

    let accepted = runtime(&set(smallest)).expect("it can work");
    assert_eq!(accepted.max_in_flight_bytes(), smallest);
    for error in [
        open(&set(smallest - 1)).check().expect_err("too small"),
        runtime(&set(smallest - 1)).expect_err("too small"),
        open("max_in_flight_bytes: 1KiB,")
            .check()
            .expect_err("too small"),
    ] {
        let text = error.to_string();
        for part in [
            "2:17: backpressure.max_in_flight_bytes: ",
            "is too small",
            "`backpressure.low_ratio` 0.4",
            "sink `capture`: 1 shard x (batch.max_bytes 1MiB + 3 threads x chunk.target_bytes 16KiB)",
            "set at least 2680KiB,",
        ] {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
    }
    open(&set(smallest)).check().expect("it can work");

    // Not set: two blocks, the queue, and two chunks of every thread are 0.8 of it.
    let declared = (2 << 20) + (4 + 6) * (16 << 10);
    let default = runtime("").expect("a default fits").max_in_flight_bytes();
    assert_eq!(default, (declared * 10usize).div_ceil(8).max(smallest));
}

#[test]
fn the_budget_alone_pauses_the_source_and_everything_is_written_afterwards() {
    // 4 KiB of records fit below the pause; the queue and the blocks would take far more.
    let yaml = "
pipeline: { threads: 2, pin: false, batch_records: 4 }
checkpoint: { interval: 100ms }
backpressure: { max_in_flight_bytes: 6KiB, min_pause: 1ms }
sink: { batch: { max_bytes: 1KiB, linger: 1h }, chunk: { target_bytes: 1KiB, linger: 1ms }, queue: { capacity: 65536 } }
";
    let run = Run::start(yaml);
    run.sink.hold(true);
    for i in 0..5_000 {
        run.source.push(i % 2, i.to_string());
    }
    run.source.assign_lanes(2);
    wait_for("the source is paused", || run.source.is_paused());
    wait_for("the drivers stop", || {
        let read = || run.source.position(0) + run.source.position(1);
        let before = read();
        std::thread::sleep(std::time::Duration::from_millis(100));
        read() == before
    });
    assert!(run.source.position(0) + run.source.position(1) < 1_500);
    run.sink.hold(false);
    // A drain reads no more: what the source still holds by then would stay there.
    wait_for("everything is read", || {
        run.source.position(0) + run.source.position(1) == 5_000
    });
    let (source, sink) = (run.source.clone(), run.sink.clone());
    // The last block is not full and never gets old: the drain writes it.
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(sink.lines().len(), 5_000);
    assert_eq!(source.last_committed(0), Some(2_500));
    assert_eq!(source.last_committed(1), Some(2_500));
}

#[test]
fn a_revocation_flushes_and_commits_before_the_lane_goes() {
    // Limits that never trigger by themselves: only the revocation can flush.
    let yaml = "
pipeline: { threads: 2, pin: false }
checkpoint: { interval: 60s }
sink: { batch: { max_rows: 10000, linger: 60s }, chunk: { linger: 60s } }
";
    let run = Run::start(yaml);
    for i in 0..50 {
        run.source.push(0, i.to_string());
        run.source.push(1, i.to_string());
    }
    run.source.assign_lanes(2);
    wait_for("both partitions are read", || {
        run.source.position(0) == 50 && run.source.position(1) == 50
    });
    assert_eq!(run.source.last_committed(0), None);
    run.source.revoke(&[0]);
    wait_for("the lane is given back", || !run.source.is_assigned(0));
    assert_eq!(
        run.source.last_committed(0),
        Some(50),
        "committed before the lane went"
    );
    assert!(run.source.is_assigned(1), "the other lane was left alone");
    run.source.assign_lanes(1);
    for i in 50..60 {
        run.source.push(0, i.to_string());
    }
    run.source.close();
    let (source, sink) = (run.source.clone(), run.sink.clone());
    let report = run.join();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(source.last_committed(0), Some(60));
    assert_eq!(source.last_committed(1), Some(50));
    let lines = sink.lines();
    for partition in 0..2 {
        for offset in 0..50 {
            assert!(
                lines.contains(&format!("{partition}/{offset}:{offset}")),
                "{partition}/{offset}"
            );
        }
    }
}

#[test]
fn lost_lanes_are_released_without_a_commit() {
    let yaml = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 60s }
sink: { batch: { linger: 60s }, chunk: { linger: 60s } }
";
    let run = Run::start(yaml);
    run.source.push(0, "1");
    run.source.assign_lanes(1);
    wait_for("the record is read", || run.source.position(0) == 1);
    run.source.lose(&[0]);
    wait_for("the lane is given back", || !run.source.is_assigned(0));
    assert_eq!(
        run.source.last_committed(0),
        None,
        "a lost lane is never committed"
    );
    run.source.assign_lanes(1);
    wait_for("the record is read again", || run.source.position(0) == 1);
    let source = run.source.clone();
    let report = run.stop();
    assert_eq!(source.last_committed(0), Some(1));
    assert_eq!(report.totals().records, 2);
}

#[test]
fn a_drain_that_cannot_finish_says_so_and_exits_with_1() {
    let run = Run::start(
        "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 100ms, drain_timeout: 200ms }
sink: { batch: { linger: 1ms }, chunk: { linger: 1ms } }
",
    );
    run.sink.hold(true);
    run.source.push(0, "1");
    run.source.assign_lanes(1);
    wait_for("the write began", || !run.sink.attempts().is_empty());
    let source = run.source.clone();
    let report = run.stop();
    assert_eq!(report.exit_code(), 1);
    assert_eq!(report.abandoned_batches(), 1);
    assert_eq!(report.totals().sinks[0].abandoned_rows, 1);
    assert_eq!(source.last_committed(0), None);
}

#[test]
fn a_bounded_source_ends_the_run() {
    let run = Run::start(FAST);
    for i in 0..100 {
        run.source.push(i % 3, i.to_string());
    }
    run.source.close();
    run.source.assign_lanes(3);
    let (source, sink) = (run.source.clone(), run.sink.clone());
    let report = run.join();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(sink.lines().len(), 100);
    assert_eq!(
        (0..3).filter_map(|p| source.last_committed(p)).sum::<i64>(),
        100
    );
}
