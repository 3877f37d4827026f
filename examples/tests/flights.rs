//! The demo as a user runs it: a process with arguments, an exit code, and lines.

use std::path::PathBuf;
use std::process::{Command, Output};

use spate_test::services::{ClickHouse, ClickHouseOptions, Service, skipped};

fn flights(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flights"));
    command.args(arguments).env_remove("RUST_LOG");
    command
}

fn run(arguments: &[&str]) -> Output {
    flights(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_demo_ends_with_the_line_that_the_truth_matches() {
    if skipped(Service::ClickHouse) || skipped(Service::Kafka) {
        return;
    }
    let output = run(&[]);
    let (out, err) = (out(&output), err(&output));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(
        out.lines().last(),
        Some("flights: read=27004 rows=26398 truth=match"),
        "{out}\n{err}"
    );
    assert!(
        out.contains("left out: 606 flights, 521 cancelled, 85 diverted or unreported"),
        "{out}"
    );
    let united: Vec<&str> = out
        .lines()
        .find(|l| l.starts_with("UA"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(united, ["UA", "4590", "14576", "3.2", "976"]);
    assert!(
        err.contains("27004 flights as Avro into the topic"),
        "{err}"
    );
    // Nothing that only a terminal understands, and no log line as long as all goes well.
    assert!(!(out + &err).contains(['\r', '\u{1b}']));
    assert!(!err.contains("WARN") && !err.contains("ERROR"), "{err}");
}

#[test]
fn another_truth_is_a_mismatch_and_the_users_clickhouse_is_left_as_it_was() {
    let options = ClickHouseOptions {
        users: vec![("etl".to_owned(), "s3cret".to_owned())],
        ..ClickHouseOptions::default()
    };
    let Some(server) = ClickHouse::required_own(options) else {
        return;
    };
    if skipped(Service::Kafka) {
        return;
    }
    let databases = || {
        server
            .query("SELECT name FROM system.databases ORDER BY name")
            .unwrap()
    };
    let before = databases();
    let known = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/data/flights-truth.json"
    ))
    .unwrap();
    let doctored = known.replacen("\"sum_arr_delay\": 15107", "\"sum_arr_delay\": 15108", 1);
    assert_ne!(known, doctored);
    let path: PathBuf =
        std::env::temp_dir().join(format!("spate-doctored-{}.json", std::process::id()));
    std::fs::write(&path, doctored).unwrap();
    let truth = path.to_str().unwrap();
    let url = server.url().replace("http://", "http://etl:s3cret@");
    let output = run(&[
        "--truth",
        truth,
        "--clickhouse",
        &url,
        "--partitions",
        "1",
        "--threads",
        "2",
        "--topic",
        "one",
    ]);
    std::fs::remove_file(&path).unwrap();
    let (out, err) = (out(&output), err(&output));
    assert_eq!(output.status.code(), Some(1), "{out}\n{err}");
    let end: Vec<&str> = out.lines().rev().take(2).collect();
    assert_eq!(
        end[0], "flights: read=27004 rows=26398 truth=MISMATCH",
        "{out}\n{err}"
    );
    assert_eq!(
        end[1],
        "differs: 9E sum of delays: 15107, but 15108 is known"
    );
    assert!(err.contains("topic one, 1 partition"), "{err}");
    assert!(!(out + &err).contains("s3cret"));
    assert_eq!(databases(), before);
}

#[test]
fn help_names_every_option_and_the_exit_codes() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    let help = out(&output);
    for word in [
        "--brokers",
        "--clickhouse",
        "--topic",
        "--partitions",
        "--threads",
        "--truth",
        "--keep",
        "--print-graph",
        "--help",
        "Exit codes:",
        "RUST_LOG",
    ] {
        assert!(help.contains(word), "{word} is missing in:\n{help}");
    }
}

#[test]
fn an_option_that_cannot_be_meant_is_refused_with_exit_code_2() {
    for (arguments, says) in [
        (&["--brokers", "localhost"][..], "host:port"),
        (&["--clickhouse", "localhost"], "expected http://host:8123"),
        (&["--topic", "a b"], "letters, digits"),
        (&["--partitions", "0"], "1..=256"),
        (&["--threads", "1000"], "1..=256"),
        (&["--kep"], "'--keep'"),
        (&["--truth", "/does/not/exist"], "/does/not/exist"),
    ] {
        let output = run(arguments);
        let err = err(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
        assert!(!err.contains("panicked"), "{err}");
    }
}

#[test]
fn the_graph_is_printed_without_any_server() {
    let output = run(&["--print-graph"]);
    assert!(output.status.success());
    let graph = out(&output);
    for stage in [
        "flowchart",
        "kafka",
        "avro",
        "departed",
        "arrived",
        "clickhouse",
    ] {
        assert!(graph.contains(stage), "{stage} is missing in:\n{graph}");
    }
}

#[test]
fn a_missing_python_is_named_with_the_command_that_installs_it() {
    let output = flights(&[])
        .env("PATH", "/does/not/exist")
        .output()
        .unwrap();
    let err = err(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(
        err.contains("error: python3") && err.contains("install it with `"),
        "{err}"
    );
    assert!(err.contains("--clickhouse"), "{err}");
}

#[test]
fn a_clickhouse_that_is_not_there_is_named() {
    let output = run(&["--clickhouse", "http://127.0.0.1:1"]);
    let err = err(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(
        err.contains("error: ClickHouse at http://127.0.0.1:1 gave no answer"),
        "{err}"
    );
}
