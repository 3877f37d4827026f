//! The auditor finds what it is there to find: broken promises that were planted make a run fail, by the right number.

use std::process::{Command, Output};

use spate_test::services::{Service, require};

/// A short run without faults; its output, and the number after `name=` in the last line.
struct Run(Output);

impl Run {
    /// `None` when `SPATE_SKIP` turns a server off.
    fn of(arguments: &[&str]) -> Option<Run> {
        require(Service::ApacheKafka)?;
        require(Service::ClickHouse)?;
        let output = Command::new(env!("CARGO_BIN_EXE_chaos"))
            .args(["--seconds", "15", "--records", "15000", "--faults", "none"])
            .args(arguments)
            .output()
            .expect("chaos runs");
        Some(Run(output))
    }

    fn text(&self) -> String {
        let Output { stdout, stderr, .. } = &self.0;
        format!(
            "{}{}",
            String::from_utf8_lossy(stdout),
            String::from_utf8_lossy(stderr)
        )
    }

    /// The number after `name=` in the last line that has it.
    fn number(&self, name: &str) -> u64 {
        let text = self.text();
        let found = text.lines().rev().find_map(|line| {
            let value = line.split_once(&format!(" {name}="))?.1;
            value.split(' ').next()?.parse().ok()
        });
        found.unwrap_or_else(|| panic!("no `{name}=` in:\n{text}"))
    }

    fn assert(&self, code: i32, missing: u64, commits_past_durable: u64) {
        let found = (
            self.0.status.code(),
            self.number("missing"),
            self.number("commits_past_durable"),
        );
        let expected = (Some(code), missing, commits_past_durable);
        assert_eq!(found, expected, "{}", self.text());
    }
}

#[test]
fn a_run_in_which_every_promise_is_kept_is_good() {
    let Some(run) = Run::of(&["--seed", "1"]) else {
        return;
    };
    run.assert(0, 0, 0);
    // A tenth are heartbeats, and one in 997 has no payload.
    let (produced, distinct) = (run.number("produced"), run.number("distinct"));
    assert_eq!((produced, distinct), (15_000, 13_486), "{}", run.text());
}

#[test]
fn a_commit_ahead_of_the_table_is_found() {
    let Some(run) = Run::of(&["--seed", "1", "--plant", "early-commit"]) else {
        return;
    };
    let records = run.number("records");
    assert!(records > 0);
    run.assert(1, records, records);
}

#[test]
fn a_row_that_is_gone_is_found() {
    let Some(run) = Run::of(&["--seed", "2", "--plant", "missing-row"]) else {
        return;
    };
    run.assert(1, 1, 1);
}

#[test]
fn a_wrong_command_line_is_refused_and_the_kinds_of_faults_are_listed() {
    let chaos = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_chaos"))
            .args(arguments)
            .output()
            .expect("chaos runs")
    };
    let refused = chaos(&["--faults", "nonsense"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no fault `nonsense`"));
    let help = chaos(&["--faults", "help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&help.stdout).contains("broker-kill "));
}
