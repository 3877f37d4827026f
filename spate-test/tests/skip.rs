//! `SPATE_SKIP` turns tests off, says so, and counts them.

use spate_test::services::{Service, require};
use std::process::Command;

/// Not a claim of its own: run by the others in a process with its own environment.
#[test]
fn probe() {
    if std::env::var_os("SPATE_PROBE").is_some() {
        match require(Service::ClickHouse) {
            None => println!("the probe was skipped"),
            Some(()) => println!("the probe ran"),
        }
    }
}

fn run_probe(skip: &str, log: &std::path::Path) -> (bool, String) {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "probe", "--nocapture"])
        .envs([("SPATE_PROBE", "1"), ("SPATE_SKIP", skip)])
        .env("SPATE_SKIP_LOG", log)
        .env("SPATE_CLICKHOUSE_URL", "http://127.0.0.1:1")
        .output()
        .unwrap();
    (
        out.status.success(),
        format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ),
    )
}

#[test]
fn a_skipped_test_says_so_and_is_counted() {
    let log = std::env::temp_dir().join(format!("spate-skip-{}", std::process::id()));
    let (passed, said) = run_probe("kafka,clickhouse", &log);
    assert!(passed && said.contains("the probe was skipped"), "{said}");
    assert!(said.contains("skipped: probe needs clickhouse"), "{said}");
    assert_eq!(
        std::fs::read_to_string(&log).unwrap(),
        "clickhouse\tprobe\n"
    );
    std::fs::remove_file(&log).unwrap();
}

#[test]
fn without_skip_a_test_whose_server_is_missing_fails() {
    let log = std::env::temp_dir().join(format!("spate-skip-none-{}", std::process::id()));
    let (passed, said) = run_probe("", &log);
    assert!(
        !passed && said.contains("this test needs clickhouse"),
        "{said}"
    );
    assert!(!log.exists());
}

#[test]
fn a_typo_in_the_list_fails() {
    let log = std::env::temp_dir().join(format!("spate-skip-typo-{}", std::process::id()));
    let (passed, said) = run_probe("clikhouse", &log);
    assert!(
        !passed && said.contains("SPATE_SKIP names `clikhouse`"),
        "{said}"
    );
}
