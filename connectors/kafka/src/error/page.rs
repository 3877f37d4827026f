//! The table in `docs/errors-at-run-time.md` is the one of the codes: the test writes it anew and compares.
//! `UPDATE_DOCS=1 cargo test -p spate-kafka the_documented` takes over what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::*;

const BEGIN: &str = "<!-- generated from the codes of the Kafka source -->\n";
const STAGES: [Stage; 3] = [Stage::Client, Stage::Partition, Stage::Request];

fn error(code: Code) -> ClientError {
    ClientError {
        code,
        name: "NAME".to_owned(),
        reason: "words".to_owned(),
        fatal: false,
    }
}

/// What becomes of an error, for the page.
fn outcome(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::None | Class::Passing => return None,
        Class::Fatal => "Fatal",
        Class::Topic => {
            "Retryable for `source.startup_timeout`, or `source.assignment_timeout` where the topic was read before; then Fatal"
        }
        Class::Batch => {
            "Fatal where a partition is read, because the client would skip the batch; else Retryable"
        }
        Class::Tls => "Fatal where the handshake was refused; Retryable where it was cut off",
        Class::Sasl => "Fatal where the login was refused; Retryable where it was cut off",
    })
}

fn table() -> Result<String, std::fmt::Error> {
    let mut rows: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (code, name) in crate::native::all_codes() {
        let Some(outcome) = outcome(codes::class(code)) else {
            continue;
        };
        let advice = error(code).hint(Stage::Partition).unwrap_or(ADVICE);
        let codes = rows.entry((outcome, advice)).or_default();
        codes.push(format!("{name} ({})", code.0));
    }
    let mut out = String::from("\n| what becomes of it | what to do | codes |\n|---|---|---|\n");
    for ((outcome, advice), codes) in rows {
        writeln!(out, "| {outcome} | {advice} | {} |", codes.join(", "))?;
    }
    out.push('\n');
    Ok(out)
}

#[test]
fn the_documented_codes_are_those_of_the_table() {
    let table = table().expect("a String takes everything");
    spate_test::page::is_generated("errors-at-run-time.md", BEGIN, &table);
}

#[test]
fn every_fatal_error_says_what_to_do() {
    let mut fatal = 0;
    for (code, name) in crate::native::all_codes() {
        for stage in STAGES {
            let error = error(code);
            let Some(judged) = error.judge(stage, "doing").filter(|e| !e.is_retryable()) else {
                continue;
            };
            let (_, advice) = judged.message.split_once("; ").unwrap_or_default();
            assert!(advice.len() > 10, "{name}: {}", judged.message);
            fatal += 1;
        }
    }
    assert!(fatal > 50, "{fatal}");
}
