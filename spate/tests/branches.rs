//! Branches of a pipeline, run from the memory source to the capture sinks: who gets what, what is counted, and that a record is
//! done only when all of its rows are stored.

use std::time::Duration;

use spate::prelude::*;
use spate::{CaptureSink, ExitReport, MemorySource, ShutdownHandle};

const WAIT: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Number(u64),
    Comment,
}

fn kind(line: &[u8]) -> Kind {
    match std::str::from_utf8(line).ok().map(str::parse) {
        Some(Ok(number)) => Kind::Number(number),
        _ if line.starts_with(b"#") => Kind::Comment,
        _ => Kind::Word,
    }
}

fn text(line: &[u8]) -> Result<&str, StageError> {
    Ok(std::str::from_utf8(line)?)
}

spate::pipeline! {
    routed(least: u64) {
        memory
        -> bytes
        -> route(|line| kind(line)) {
            Kind::Comment => comments: drop,
            Kind::Number(n) if n < least => drop,
            Kind::Number(_) => numbers: capture,
            Kind::Word => filter(|line| line.len() > 1) -> words: capture,
        }
    }

    teed {
        let mut seen = std::collections::HashSet::new();
        memory
        -> bytes
        -> try_map(|line| text(line).map(str::to_owned), on_error = skip)
        -> tee {
            all: capture,
            words: try_flat_map(|line| Ok(line.split(' ').map(str::to_owned).collect::<Vec<_>>()))
                -> filter(|word| seen.insert(word.clone()))
                -> capture,
            long: try_filter(|line| if line == "bad" { Err(StageError::new("bad")) } else { Ok(line.len() > 4) }, on_error = skip)
                -> route(|line| line.as_str()) {
                    "pass on" => drop,
                    _ => capture,
                },
        }
    }
}

struct Run {
    source: MemorySource,
    sinks: Vec<CaptureSink>,
    shutdown: ShutdownHandle,
    thread: std::thread::JoinHandle<ExitReport>,
}

impl Run {
    fn start(pipeline: spate::Pipeline, sinks: &[&str]) -> Run {
        let source = pipeline.memory_source().expect("the source is `memory`");
        let sinks = sinks
            .iter()
            .map(|name| pipeline.capture_sink(name).expect("a sink of that name"))
            .collect();
        let yaml = "{pipeline: {threads: 1, pin: false}, checkpoint: {interval: 100ms}}";
        let config = spate::Config::from_yaml(yaml).expect("it is YAML");
        let configured = pipeline.with_config(config).expect("it fits");
        let runtime = configured
            .into_runtime(spate::RuntimeOptions::embedded())
            .expect("it starts");
        let shutdown = runtime.shutdown_handle();
        Run {
            source,
            sinks,
            shutdown,
            thread: std::thread::spawn(move || runtime.run()),
        }
    }

    fn push(&self, lines: &[&str]) {
        for line in lines {
            self.source.push(0, *line);
        }
        self.source.assign_lanes(1);
    }

    fn lines(&self) -> Vec<Vec<String>> {
        self.sinks.iter().map(CaptureSink::lines).collect()
    }

    fn stop(self) -> ExitReport {
        self.shutdown.shutdown();
        self.thread.join().expect("the run returns")
    }
}

fn dropped(report: &ExitReport, stage: &str) -> u64 {
    report
        .stage(stage)
        .unwrap_or_else(|| panic!("no node `{stage}`"))
        .dropped
}

#[test]
fn a_record_goes_down_the_arm_whose_pattern_matches_and_drops_are_counted_by_name() {
    let run = Run::start(routed(10), &["numbers", "words"]);
    run.push(&["7", "12", "# no", "a", "word", "10", "# nor this"]);
    assert!(run.source.wait_committed(0, 7, WAIT));
    assert_eq!(run.lines(), [vec!["12", "10"], vec!["word"]]);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(dropped(&report, "comments"), 2);
    assert_eq!(dropped(&report, "route.2"), 1);
    assert_eq!(dropped(&report, "filter"), 1);
    assert_eq!(report.totals().unaccounted(), 0);
}

#[test]
fn every_arm_of_a_tee_gets_every_record_whatever_the_others_do_with_it() {
    let run = Run::start(teed(), &["all", "words", "capture"]);
    run.source.push(0, vec![0xff]);
    run.push(&["one two", "bad", "two three", "pass on"]);
    assert!(run.source.wait_committed(0, 5, WAIT));
    assert_eq!(
        run.lines(),
        [
            vec!["one two", "bad", "two three", "pass on"],
            vec!["one", "two", "bad", "three", "pass", "on"],
            vec!["one two", "two three"],
        ]
    );
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.stage("try_map").map(|stage| stage.skipped), Some(1));
    assert_eq!(
        report.stage("try_filter").map(|stage| stage.skipped),
        Some(1)
    );
    assert_eq!(dropped(&report, "filter"), 1);
    assert_eq!(dropped(&report, "route.1"), 1);
    assert_eq!(report.totals().unaccounted(), 0);
}

#[test]
fn a_record_is_committed_when_the_rows_of_all_arms_are_stored_and_not_before() {
    let run = Run::start(teed(), &["all", "words", "capture"]);
    run.sinks[2].hold(true);
    run.push(&["a longer line"]);
    // Its rows in two of three sinks are stored; several commit intervals pass before the third one is let go.
    let end = std::time::Instant::now() + WAIT;
    while run.sinks[0].lines().is_empty() || run.sinks[1].lines().len() < 3 {
        assert!(std::time::Instant::now() < end, "two sinks never wrote");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!run.source.wait_committed(0, 1, Duration::from_millis(500)));
    run.sinks[2].hold(false);
    assert!(run.source.wait_committed(0, 1, WAIT));
    assert_eq!(run.stop().exit_code(), 0);
}

#[test]
fn the_graph_tells_the_arms() {
    let text = teed().graph().to_text();
    let wanted = "\
teed
    memory
    -> bytes
    -> try_map (on_error = skip)
    -> tee
        -> [all] all: capture
        -> [words] try_flat_map
        -> filter
        -> words: capture
        -> [long] try_filter (on_error = skip)
        -> route
            -> [\"pass on\"] route.1
            -> [_] capture
";
    assert_eq!(text, wanted);
}
