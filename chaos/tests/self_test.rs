//! The auditor finds what it is there to find: broken promises that were planted make a run fail, by the right number.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use spate_test::services::{Service, require};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A short run without faults; its output, and the number after `name=` in the last line.
struct Run(Output);

impl Run {
    /// `None` when `SPATE_SKIP` turns a server off.
    fn of(arguments: &[&str]) -> Option<Run> {
        Run::lasting(9, arguments)
    }

    /// The same, with another time for its records.
    fn lasting(seconds: u32, arguments: &[&str]) -> Option<Run> {
        require(Service::ApacheKafka)?;
        require(Service::ClickHouse)?;
        let output = Command::new(env!("CARGO_BIN_EXE_chaos"))
            .args(["--seconds", &seconds.to_string()])
            .args(["--records", "9000", "--faults", "none"])
            .args(arguments)
            .output()
            .expect("chaos runs");
        Some(Run(output))
    }

    /// Removes the folder that a run that is not good keeps.
    fn forget(self) {
        let text = self.text();
        let folder = text.lines().find_map(|line| line.split_once(" logs: "));
        fs::remove_dir_all(folder.expect("the folder is told").1).expect("a folder");
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
    let mut said = String::new();
    // On a busy machine the time may be over before there was much: then once more, with more of it.
    for seconds in [9, 60, 240] {
        let Some(run) = Run::lasting(seconds, &["--seed", "1"]) else {
            return;
        };
        run.assert(0, 0, 0);
        // A tenth are heartbeats, and one in 997 has no payload.
        let produced = run.number("produced");
        let kept = (0..produced)
            .filter(|n| n % 10 != 3 && n % 997 != 5)
            .count();
        said = run.text();
        assert_eq!(run.number("distinct"), kept as u64, "{said}");
        if produced >= 1_000 {
            return;
        }
    }
    panic!("next to nothing was produced: {said}");
}

#[test]
fn a_commit_ahead_of_the_table_is_found() {
    let Some(run) = Run::of(&["--seed", "1", "--plant", "early-commit"]) else {
        return;
    };
    let records = run.number("records");
    assert!(records > 0);
    run.assert(1, records, records);
    run.forget();
}

#[test]
fn a_row_that_is_gone_is_found() {
    let Some(run) = Run::of(&["--seed", "2", "--plant", "missing-row"]) else {
        return;
    };
    run.assert(1, 1, 1);
    run.forget();
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

/// The processes of the group, which have the run's folder in their command line, and their supervisors.
fn processes_with(folder: &str) -> usize {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    all.filter(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(folder))
    })
    .count()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", name, &child.id().to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Ends a run by a signal in the middle of a fault that keeps a process frozen: nothing may be left.
fn ends_everything(name: &str, code: Option<i32>) {
    if require(Service::ApacheKafka).is_none() || require(Service::ClickHouse).is_none() {
        return;
    }
    let mut chaos = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .args(["--seconds", "120", "--records", "5000", "--faults", "pause"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("chaos runs");
    let stdout = chaos.stdout.take().expect("standard output");
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let folder = lines
        .by_ref()
        .find_map(|line| Some(line.split_once("logs in ")?.1.to_owned()))
        .expect("the folder is told");
    let paused = lines.by_ref().any(|line| line.contains("fault 1: pause"));
    assert!(paused, "it ended before the first fault");
    // Processes and their supervisors; one that is started last may not be there yet.
    let end = Instant::now() + PATIENCE;
    while processes_with(&folder) < 6 {
        assert!(Instant::now() < end, "the group is not there");
        thread::sleep(Duration::from_millis(50));
    }
    signal(&chaos, name);
    // Otherwise a full pipe would stop it.
    let rest = thread::spawn(move || lines.count());
    assert_eq!(chaos.wait().expect("its end").code(), code);
    rest.join().expect("its output");
    let end = Instant::now() + PATIENCE;
    while processes_with(&folder) > 0 {
        assert!(
            Instant::now() < end,
            "{} processes are left",
            processes_with(&folder)
        );
        thread::sleep(Duration::from_millis(50));
    }
    fs::remove_dir_all(folder).expect("the folder of a run that was not good is kept");
}

#[test]
fn an_interrupted_run_leaves_no_process() {
    ends_everything("TERM", Some(130));
}

#[test]
fn a_killed_run_leaves_no_process() {
    ends_everything("KILL", None);
}
