//! Where debuggers and profilers find a stage: its code is in the line tables at the line of its name.

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use spate::{CaptureRow, Config, RuntimeOptions, StageError};

/// By stage: the first backtrace out of user code in it.
static SEEN: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());

/// The stage's code is running.
fn in_stage<T>(stage: &'static str, value: T) -> T {
    let mut seen = SEEN.lock().expect("no test fails in it");
    seen.entry(stage)
        .or_insert_with(|| Backtrace::force_capture().to_string());
    value
}

fn by_path(line: &[u8]) -> &[u8] {
    in_stage("map_2", line)
}

fn own(line: &[u8]) -> Line {
    in_stage("own", Line(line.to_vec()))
}

/// A row whose clone and whose writing are user code.
struct Line(Vec<u8>);

impl Clone for Line {
    fn clone(&self) -> Self {
        in_stage("tee", Line(self.0.clone()))
    }
}

impl CaptureRow for Line {
    fn bytes(&self) -> &[u8] {
        in_stage("written", &self.0)
    }
}

spate::pipeline! {
    by_stage(of: &'static str) {
        let mut count = 0_u32;
        memory
        -> bytes
        -> filter(|line| in_stage("filter", line.len() > count as usize))
        -> map(|line| in_stage("map", line))
        -> map(by_path)
        -> inspect(|_| {
            count += 1;
            in_stage("inspect", ());
        })
        -> filter_map(|line, meta| {
            let line = in_stage("filter_map", line);
            (meta.offset() < 10).then_some(line)
        })
        -> flat_map(|line| {
            std::iter::from_fn(|| in_stage("flat_map", None)).chain([line])
        })
        -> try_map(|line| in_stage("try_map", Ok::<_, StageError>(line)))
        -> labelled: try_filter(|line|
            in_stage(of, Ok(!line.is_empty())))
        -> try_flat_map(|line| Ok([in_stage("try_flat_map", line)]))
        -> self::own
        -> route(|line| in_stage("route", line.0.len())) {
            0 => drop,
            _ => tee {
                first: discard,
                second: map(|line| line)
                    -> written: capture,
            },
        }
    }
}

#[test]
fn the_code_of_every_stage_is_at_its_line() {
    let pipeline = by_stage("labelled");
    let source = pipeline.memory_source().expect("the source is `memory`");
    let config = Config::from_yaml("checkpoint: { interval: 100ms }").expect("a configuration");
    let configured = pipeline.with_config(config).expect("it fits");
    let runtime = configured
        .into_runtime(RuntimeOptions::embedded())
        .expect("it opens");
    let shutdown = runtime.shutdown_handle();
    let run = std::thread::spawn(move || runtime.run());
    source.push(0, "one line");
    source.assign_lanes(1);
    assert!(source.wait_committed(0, 1, Duration::from_secs(60)));
    shutdown.shutdown();
    assert_eq!(run.join().expect("the run returns").exit_code(), 0);

    let seen = SEEN.lock().expect("no thread failed in it");
    let stages = [
        ("filter", "-> filter(|line|"),
        ("map", "-> map(|line| in_stage"),
        ("map_2", "-> map(by_path)"),
        ("inspect", "-> inspect("),
        ("filter_map", "-> filter_map("),
        ("flat_map", "-> flat_map("),
        ("try_map", "-> try_map("),
        ("labelled", "-> labelled: try_filter("),
        ("try_flat_map", "-> try_flat_map("),
        ("own", "-> self::own"),
        ("route", "-> route("),
        ("tee", "_ => tee {"),
        ("written", "-> written: capture"),
    ];
    assert_eq!(seen.len(), stages.len(), "{:?}", seen.keys());
    for (stage, text) in stages {
        let mut lines = include_str!("lines.rs").lines();
        let line = lines.position(|line| line.trim_start().starts_with(text));
        let line = line.expect("a line of this file") + 1;
        // `at ./tests/lines.rs:63:12`, or whichever directory the compiler was called in.
        let (backtrace, place) = (&seen[stage], format!("lines.rs:{line}:"));
        assert!(
            backtrace.contains(&place),
            "{stage} at {line}:\n{backtrace}"
        );
        // The pipeline's function is in the symbols.
        assert!(backtrace.contains("by_stage"), "{stage}:\n{backtrace}");
    }
}
