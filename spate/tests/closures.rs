//! A closure of a pipeline does what it does in plain Rust, and what stands in the loop without one keeps to its record.

use std::collections::HashMap;
use std::time::Duration;

use spate::{Config, ExitReport, Pipeline, RuntimeOptions, StageError};

/// The lines that each sink got, and the report of the run.
fn run(pipeline: Pipeline, sinks: [&str; 2], lines: &[&str]) -> ([Vec<String>; 2], ExitReport) {
    let source = pipeline.memory_source().expect("the source is `memory`");
    let sinks = sinks.map(|sink| pipeline.capture_sink(sink).expect("a capture"));
    let config = Config::from_yaml("checkpoint: { interval: 100ms }").expect("a configuration");
    let configured = pipeline.with_config(config).expect("it fits");
    let runtime = configured.into_runtime(RuntimeOptions::embedded());
    let runtime = runtime.expect("it opens");
    let shutdown = runtime.shutdown_handle();
    let run = std::thread::spawn(move || runtime.run());
    for line in lines {
        source.push(0, *line);
    }
    source.assign_lanes(1);
    let end = i64::try_from(lines.len()).expect("a few");
    assert!(source.wait_committed(0, end, Duration::from_secs(60)));
    shutdown.shutdown();
    let report = run.join().expect("the run returns");
    assert_eq!(report.exit_code(), 0);
    (sinks.map(|sink| sink.lines()), report)
}

fn dropped(report: &ExitReport, stage: &str) -> u64 {
    report.stage(stage).expect("a stage").dropped
}

/// `line` without the mark; the count is of the caller's.
fn without<'a>(line: &'a [u8], mark: Option<u8>, count: &mut usize) -> &'a [u8] {
    *count += 1;
    line.strip_prefix(mark.as_slice()).unwrap_or(line)
}

macro_rules! first_of {
    ($bytes:expr) => {
        $bytes.first().copied()
    };
}

spate::pipeline! {
    closures(mark: Vec<u8>) {
        let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut count = 0_usize;
        memory
        -> bytes
        // `return` ends the closure alone.
        -> returns: filter(|line| {
            if line.is_empty() { return false; }
            true
        })
        // Loops and labels are the closure's.
        -> loops: filter(|line| {
            let mut letters = 0;
            'all: for part in line.split(|byte| *byte == b' ') {
                for byte in part {
                    if *byte == b'!' { break 'all; }
                    if *byte == b'?' { continue 'all; }
                    letters += 1;
                }
            }
            letters > 0
        })
        // Arguments are made anew for each record, also by a macro, and states are lent to one stage after the other.
        -> self::without(first_of!(mark), &mut count)
        -> inspect(|line| *seen.entry(line.to_vec()).or_default() += 1)
        -> once: filter(|line| { let seen = &mut seen; seen.get(*line) == Some(&1) })
        // `?` makes the record fail, and nothing else.
        -> parse: try_map(|line| {
            let text = std::str::from_utf8(line)?;
            let Some((name, n)) = text.split_once('=') else { return Err(StageError::new("no `=`")); };
            Ok((name, n.parse::<u32>()?, count))
        }, on_error = skip)
        -> route(|(name, n, _)| (*name, *n)) {
            (_, n) if { let mut k = 0; loop { k += 1; if k > 3 { break k == n; } } } => four: drop,
            ("big", n) if let Some(rest) = n.checked_sub(100) && matches!(rest, 1..) => map(|(name, n, _)| format!("{name} {n}")) -> big: capture,
            _ => map(|(name, n, count)| format!("{name} {n} of {count}")) -> rest: capture,
        }
    }
}

#[test]
fn closures_guards_and_arguments_keep_to_their_record() {
    let lines = [
        "a=1", "", "!", "? !a", "#a=1", "#b=2", "b=2", "c", "d=x", "e=4", "big=100", "big=101",
        "f=5",
    ];
    let ([big, rest], report) = run(closures(b"#".to_vec()), ["big", "rest"], &lines);
    assert_eq!(big, ["big 101"]);
    assert_eq!(rest, ["a 1 of 1", "b 2 of 3", "big 100 of 8", "f 5 of 10"]);
    assert_eq!(dropped(&report, "returns"), 1);
    assert_eq!(dropped(&report, "loops"), 2);
    assert_eq!(dropped(&report, "once"), 2);
    assert_eq!(report.stage("parse").map(|stage| stage.skipped), Some(2));
    assert_eq!(dropped(&report, "four"), 1);
}
