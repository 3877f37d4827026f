//! The cases. Each is a claim; a panic is its failure.

use std::panic::catch_unwind;
use std::process::{ExitCode, Stdio};

use crate::process::{End, Process, command, path};

/// Nothing is written before the drain.
const LATE: &str = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 60s, drain_timeout: 20s }
sink: { batch: { linger: 1h }, chunk: { linger: 1h } }
";

/// A drain that is soon given up.
const SHORT: &str = "
pipeline: { threads: 1, pin: false }
checkpoint: { interval: 60s, drain_timeout: 3s }
sink: { batch: { linger: 1h }, chunk: { linger: 1h } }
";

macro_rules! cases {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)*) => {
        $($(#[$meta])* fn $name() $body)*
        const CASES: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}

pub(crate) fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let chosen = CASES.iter().filter(|(name, _)| {
        wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()))
    });
    let (mut run, mut failed) = (0, 0);
    for (name, case) in chosen {
        let ok = catch_unwind(case).is_ok();
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        run += 1;
        failed += usize::from(!ok);
    }
    println!("\ntest result: {run} run, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn clean(end: &End) {
    assert_eq!(end.code, Some(0), "{}", end.err);
    let report = end.report();
    assert!(
        report.starts_with("pipeline `lines` completed: records=3 store.rows=3 store.blocks=1 abandoned_batches=0 drain="),
        "{report}"
    );
    assert!(report.ends_with("\n  committed memory/0: 3\n"), "{report}");
}

cases! {
    fn a_signal_drains_and_the_report_is_printed_once() {
        for signal in ["TERM", "INT"] {
            let mut process = Process::start("writes", LATE);
            process.wrote("ALL LINES FED");
            process.signal(signal);
            let end = process.finish();
            clean(&end);
            assert_eq!(end.err.matches("pipeline `lines` completed").count(), 1, "{}", end.err);
            assert_eq!(end.err.matches("committed memory/0").count(), 1, "{}", end.err);
            assert_eq!(end.out, "ALL LINES FED\n");
        }
    }

    fn a_signal_while_a_sink_does_not_answer_at_start_ends_the_process_cleanly() {
        let mut process = Process::start("unheard", "pipeline: { startup_timeout: 1h }");
        process.wrote("SINK CHECKED");
        process.signal("TERM");
        let end = process.finish();
        assert_eq!(end.code, Some(0), "{}", end.err);
        assert_eq!(end.report(), "pipeline `unheard` completed: records=0 Deaf.rows=0 Deaf.blocks=0 abandoned_batches=0\n");
    }

    fn a_second_signal_at_start_ends_the_process_as_well() {
        let mut process = Process::start("unheard", "pipeline: { startup_timeout: 1h }");
        process.wrote("SINK CHECKED");
        process.signal("INT");
        process.signal("INT");
        let end = process.finish();
        // The first one may have been enough.
        assert!(matches!(end.code, Some(0 | 130)) || end.signal == Some(2), "{:?} {}", end.code, end.err);
    }

    fn a_sink_that_hangs_does_not_keep_the_process() {
        let mut process = Process::start("hangs", SHORT);
        process.wrote("ALL LINES FED");
        process.signal("TERM");
        let end = process.finish();
        assert_eq!(end.code, Some(1), "{:?} {}", end.signal, end.err);
        let report = end.report();
        for part in [
            "pipeline `lines` failed: records=3 store.rows=0 ",
            " store.abandoned_rows=3 abandoned_batches=1 ",
            "\n  first failure: sink `store` shard 0: ",
        ] {
            assert!(report.contains(part), "{part}: {report}");
        }
        assert!(!report.contains("committed"), "{report}");
    }

    fn a_closure_that_does_not_return_does_not_keep_the_process() {
        let mut process = Process::start("loops", SHORT);
        process.wrote("CLOSURE LOOPS");
        process.signal("TERM");
        let end = process.finish();
        assert_eq!(end.code, Some(1), "{}", end.err);
        assert!(end.report().contains("first failure: thread 0 of the pipeline: "), "{}", end.err);
    }

    fn a_second_signal_ends_the_process_at_once_with_its_own_code() {
        for (first, second, code) in [("TERM", "TERM", 143), ("INT", "INT", 130), ("TERM", "INT", 130), ("INT", "TERM", 143)] {
            let mut process = Process::start("hangs", &LATE.replace("20s", "1h"));
            process.wrote("ALL LINES FED");
            process.signal(first);
            process.wrote("draining");
            process.signal(second);
            let end = process.finish();
            assert_eq!(end.code, Some(code), "{first} {second}: {}", end.err);
            assert!(!end.err.contains("completed"), "{}", end.err);
        }
    }

    fn a_second_signal_ends_a_process_whose_closure_does_not_return() {
        let mut process = Process::start("loops", &LATE.replace("20s", "1h"));
        process.wrote("CLOSURE LOOPS");
        process.signal("TERM");
        process.wrote("draining");
        process.signal("TERM");
        assert_eq!(process.finish().code, Some(143));
    }

    fn a_panic_ends_the_process_with_1_and_its_place() {
        let end = Process::start("panics", LATE).finish();
        assert_eq!(end.code, Some(1), "{}", end.err);
        let place = "first failure: stage `look`, topic `memory`, partition 0, offset 2: panicked: asked to";
        assert!(end.report().contains(place), "{}", end.err);
    }

    fn every_skipped_record_is_in_the_report_and_those_without_a_line_are_counted_in_the_log() {
        let mut process = Process::start("skips", LATE);
        process.wrote("ALL LINES FED");
        process.signal("TERM");
        let end = process.finish();
        assert_eq!(end.code, Some(0), "{}", end.err);
        assert!(end.report().contains(" parse.skipped=100 "), "{}", end.err);
        let lines = end.err.matches("record skipped: stage `parse`").count();
        assert!((1..100).contains(&lines), "{lines}: {}", end.err);
        let left = format!("\"unlogged\":{}", 100 - lines);
        assert!(end.err.contains(&left), "{left}: {}", end.err);
    }

    fn output_that_nobody_reads_ends_neither_the_work_nor_the_commit() {
        // Standard error alone, standard output alone, both.
        for (out, err) in [(true, false), (false, true), (false, false)] {
            let (result, read) = (path("result"), path("read"));
            let mut command = command("writes");
            command.env("SPATE_PROGRAM_OUT", &result).env("SPATE_PROGRAM_READ", &read).env("RUST_LOG", "debug");
            let closed = |open: bool| if open { Stdio::piped() } else { broken_pipe() };
            command.stdout(closed(out)).stderr(closed(err));
            let mut process = Process::with(command, &LATE.replace("interval: 60s", "interval: 100ms").replace("1h", "20ms"));
            process.until("all lines are read", || read.exists());
            process.signal("TERM");
            let ended = process.finish();
            assert_eq!(ended.code, Some(0), "{:?} {}", ended.signal, ended.err);
            let text = std::fs::read_to_string(&result).expect("written at the end");
            for file in [&result, &read] {
                std::fs::remove_file(file).expect("removed");
            }
            assert_eq!(text, "Some(3) 3", "stdout {out}, stderr {err}");
        }
    }

    fn runs_in_one_process_listen_one_after_the_other_and_let_go_of_the_signals() {
        let mut process = Process::start("twice", "{}");
        for text in ["first", "second"] {
            process.wrote(text);
            process.signal("TERM");
            process.wrote(&format!("{text} ended with 0"));
        }
        // No run listens any more.
        process.signal("TERM");
        assert_eq!(process.finish().signal, Some(15));
    }

    fn what_is_wrong_in_the_file_is_code_2_and_nothing_is_started() {
        let end = Process::start("writes", "pipeline: { thread: 1 }").finish();
        assert_eq!(end.code, Some(2));
        assert!(end.err.starts_with("error: ") && end.err.contains("pipeline.thread"), "{}", end.err);
        assert_eq!(end.out, "");
    }

    fn the_version_names_the_pipeline_and_the_engine() {
        let output = command("writes").arg("--version").output().expect("it runs");
        let expected = format!("lines (spate {})\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        assert_eq!(output.status.code(), Some(0));
    }

    fn help_has_the_exit_codes_of_the_page() {
        let output = command("writes").arg("--help").output().expect("it runs");
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        let page = include_str!("../../../docs/exit.md");
        let mut codes = 0;
        for row in page.lines().filter_map(|line| line.strip_prefix("| ")) {
            let code = row.split(' ').next().expect("a cell");
            if code.parse::<u8>().is_ok() {
                assert!(help.lines().any(|line| line.starts_with(&format!("  {code} "))), "{code}: {help}");
                codes += 1;
            }
        }
        assert_eq!(codes, 5);
    }
}

/// The writing end of a pipe whose reader is gone.
fn broken_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}
