//! `checkpoint.stalled_fail_after` end to end: what is refused at load, and how a run ends whose sink never answers.

mod common;

use common::{Run, numbers};
use spate_runtime::config::Config;

fn refused(yaml: &str) -> String {
    let config = Config::from_yaml(yaml).expect("it parses");
    numbers().with_config(config).unwrap_err().to_string()
}

#[test]
fn a_limit_below_the_patience_of_a_sink_is_refused_with_both_paths() {
    assert_eq!(
        refused("checkpoint: { stalled_fail_after: 119s }"),
        "configuration:1:15: checkpoint.stalled_fail_after: must be at least `sink.retry.give_up_after`; raise it, or let the sink \
         give up earlier"
    );
    let text = refused("sinks: { capture: { retry: { give_up_after: 601s } } }");
    assert!(
        text.contains("checkpoint.stalled_fail_after")
            && text.contains("`sinks.capture.retry.give_up_after`"),
        "the default is checked as well: {text}"
    );
    let same = "checkpoint: { stalled_fail_after: 2m }\nsink: { retry: { give_up_after: 2m } }";
    let config = Config::from_yaml(same).expect("it parses");
    assert!(numbers().with_config(config).is_ok());
}

#[test]
fn a_write_that_never_ends_stops_the_run_and_the_report_says_what_was_waited_for() {
    let run = Run::start(
        "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 100ms, drain_timeout: 200ms, stalled_fail_after: 300ms }
sink: { batch: { linger: 1ms }, chunk: { linger: 1ms }, retry: { initial: 5ms, give_up_after: 100ms } }
",
    );
    run.sink.hold(true);
    run.source.push(0, "1");
    run.source.assign_lanes(1);
    let report = run.join();
    assert_eq!(report.exit_code(), 1);
    let failure = report.failure().expect("a failure");
    assert_eq!(failure.place(), "partition memory/0");
    let text = failure.message();
    let start = "stalled (checkpoint.stalled_fail_after): the batch from offset 0 is neither stored nor given up after";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("batches in flight: 1;"), "{text}");
    assert!(report.committed().is_empty());
}
