//! What every message has to be, whatever it says: short lines, a place inside the block, the user's words.

use crate::case::{Case, Outcome};
use crate::judge::is_error;

/// Longer lines wrap in every terminal.
const WIDTH: usize = 200;

/// Where rustc speaks of macros on its own account.
const ORIGIN: &str = "= note: this error originates in";

/// Words of ours that no user wrote.
const INTERNAL: [&str; 4] = ["__private", "impl ", "{closure@", "__spate"];

/// The rules that a `.stderr` file breaks, each with its line.
pub fn broken(case: &Case, stderr: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let errors = stderr.lines().filter(|line| is_error(line)).count();
    match case.outcome {
        Outcome::Fail {
            errors: mistakes,
            repeated,
        } if errors != mistakes + repeated => broken.push(format!(
            "{mistakes} mistakes, {repeated} known to be repeated, and {errors} errors"
        )),
        _ => {}
    }
    let lines: Vec<&str> = stderr.lines().collect();
    for (n, line) in lines.iter().enumerate() {
        let mut rule = |text: &str| broken.push(format!("line {}: {text}: {line}", n + 1));
        if line.chars().count() > WIDTH && !line.contains(ORIGIN) {
            rule("longer than 200 characters");
        }
        if line.contains("$RUST") {
            rule("quotes the standard library, whose source is not installed everywhere");
        }
        if line.starts_with("warning") {
            rule("a warning beside the error");
        }
        if is_error(line) && INTERNAL.iter().any(|word| line.contains(word)) {
            rule("an error begins with what no user wrote");
        }
        if whole_block(line, lines.get(n + 1).copied().unwrap_or_default()) {
            rule("the whole block is underlined");
        }
    }
    broken
}

/// Whether a quoted line with the line below it marks the macro call from its start: `/ spate::pipeline! {` begins a mark
/// over several lines, `^^^` below the path one on a single line.
fn whole_block(line: &str, below: &str) -> bool {
    let Some(bar) = line.find('|').filter(|_| is_numbered(line)) else {
        return false;
    };
    let Some(call) = line.find("pipeline!") else {
        return false;
    };
    let start = line[..call]
        .rfind(|ch: char| !(ch.is_alphanumeric() || ch == ':' || ch == '_' || ch == '$'))
        .map_or(call, |before| before + 1);
    let before = line[bar + 1..start].trim_start();
    // Marks over several lines stand between the bar and the code.
    if before.starts_with(['/', '|']) {
        return true;
    }
    let marked = below.find('^');
    // An empty block has no other token to point at.
    !line.ends_with("pipeline! {}")
        && is_numberless(below)
        && marked.is_some_and(|at| at >= start && at < call + "pipeline!".len())
}

fn is_numbered(line: &str) -> bool {
    line.trim_start()
        .starts_with(|ch: char| ch.is_ascii_digit())
}

fn is_numberless(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Package;

    fn case(errors: usize) -> Case {
        Case {
            path: "fail/x.rs".to_owned(),
            outcome: Outcome::Fail {
                errors,
                repeated: 0,
            },
            package: Package::Cases,
        }
    }

    #[test]
    fn each_rule_is_found_when_it_is_broken() {
        let long = format!("error: {}\n", "x".repeat(200));
        for (stderr, rule) in [
            (
                "error: a\n\nerror[E0277]: b\n",
                "1 mistakes, 0 known to be repeated, and 2 errors",
            ),
            ("error: a\nwarning: unused\n", "a warning beside the error"),
            (&long, "longer than 200 characters"),
            (
                "error: cannot find `spate::__private::X`\n",
                "what no user wrote",
            ),
            (
                "error: a\n3 | / spate::pipeline! {\n4 | |     a\n  | |_^\n",
                "whole block",
            ),
            (
                "error: a\n --> $RUST/library/core/src/ops/arith.rs\n",
                "not installed everywhere",
            ),
            (
                "error: a\n3 |   spate::pipeline! {\n  |  _^\n",
                "whole block",
            ),
            (
                "error: a\n3 |     etl::pipeline! { kafka }\n  |     ^^^^^^^^^^^^^^^^^^\n",
                "whole block",
            ),
        ] {
            let broken = broken(&case(1), stderr);
            assert!(
                broken.len() == 1 && broken[0].contains(rule),
                "{stderr}\n{broken:?}"
            );
        }
    }

    #[test]
    fn a_mark_inside_the_block_is_fine() {
        let stderr = "error: [SP027] a\n --> ui/fail/x.rs:3:24\n  |\n3 | spate::pipeline! { a { memory } }\n  |                        ^^^^^^\n";
        assert_eq!(broken(&case(1), stderr), Vec::<String>::new());
    }
}
