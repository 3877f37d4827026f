//! What every message has to be, whatever it says: one for each mistake, short, inside the block, in the user's words.

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
    if let Outcome::Fail { errors: mistakes } = case.outcome
        && errors != mistakes
    {
        broken.push(format!("{mistakes} mistakes, and {errors} errors"));
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
        if names_a_directory(line) {
            rule("names a directory of one machine");
        }
        if line.starts_with("warning") {
            rule("a warning beside the error");
        }
        if is_error(line) && INTERNAL.iter().any(|word| line.contains(word)) {
            rule("an error begins with what no user wrote");
        }
        if is_error(line) && !in_the_case(case, &lines[n + 1..]) {
            rule("an error at a place that is not in the case");
        }
        if whole_block(line, lines.get(n + 1).copied().unwrap_or_default()) {
            rule("the whole block is underlined");
        }
    }
    broken
}

/// Whether the first place below an error's first line is in the file of the case.
fn in_the_case(case: &Case, below: &[&str]) -> bool {
    let place = format!("--> ui/{}:", case.path);
    let mut arrows = below
        .iter()
        .take_while(|line| !is_error(line))
        .map(|line| line.trim_start())
        .filter(|line| line.starts_with("-->"));
    arrows.next().is_some_and(|arrow| arrow.starts_with(&place))
}

/// Whether a word of the line is an absolute path.
fn names_a_directory(line: &str) -> bool {
    let is_path = |word: &str| {
        let word = word.trim_start_matches(['`', '(', '"', '\'']);
        let below = word.strip_prefix('/').unwrap_or_default();
        below.contains('/') && below.starts_with(|ch: char| ch.is_alphanumeric())
    };
    line.split_whitespace().any(is_path)
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

    /// The rules that a file of these lines breaks. A line `@` stands for a place in the case.
    fn judged(lines: &[&str]) -> Vec<String> {
        let case = Case {
            path: "fail/x.rs".to_owned(),
            outcome: Outcome::Fail { errors: 1 },
            package: Package::Cases,
        };
        let text: String = lines
            .iter()
            .map(|line| match *line {
                "@" => " --> ui/fail/x.rs:3:24\n".to_owned(),
                line => format!("{line}\n"),
            })
            .collect();
        broken(&case, &text)
    }

    fn breaks(rule: &str, lines: &[&str]) {
        let broken = judged(lines);
        assert!(
            broken.len() == 1 && broken[0].contains(rule),
            "{lines:?}\n{broken:?}"
        );
    }

    fn is_fine(lines: &[&str]) {
        assert_eq!(judged(lines), Vec::<String>::new(), "{lines:?}");
    }

    #[test]
    fn each_mistake_has_one_error() {
        breaks(
            "1 mistakes, and 2 errors",
            &["error: a", "@", "", "error[E0277]: b", "@"],
        );
        breaks("1 mistakes, and 0 errors", &[]);
        is_fine(&["error[E0277]: b", "@", "help: errors are fine"]);
    }

    #[test]
    fn a_line_has_at_most_200_characters() {
        let of = |length: usize| format!("error: {}", "ä".repeat(length - "error: ".len()));
        is_fine(&[&of(200), "@"]);
        breaks("longer than 200", &[&of(201), "@"]);
        let note = format!("  = note: {}", "x".repeat(200));
        breaks("longer than 200", &["error: a", "@", &note]);
        let origin = format!(
            "  = note: this error originates in the macro {}",
            "x".repeat(200)
        );
        is_fine(&["error: a", "@", &origin]);
    }

    #[test]
    fn the_standard_library_is_not_quoted() {
        breaks(
            "not installed",
            &["error: a", "@", " --> $RUST/library/core/src/ops/arith.rs"],
        );
    }

    #[test]
    fn no_directory_of_one_machine_is_named() {
        for line in [
            "note: see /home/me/x.rs",
            "help: `/srv/x/y`",
            " ::: (/a/b:1:1)",
        ] {
            breaks("directory of one machine", &["error: a", "@", line]);
        }
        for line in [
            "3 | a / b / c",
            "3 | /// a/b",
            "3 | // a",
            "note: a/b/c and `/a`",
            "3 | / a",
        ] {
            is_fine(&["error: a", "@", line]);
        }
    }

    #[test]
    fn no_warning_stands_beside_the_error() {
        breaks("a warning", &["error: a", "@", "warning: unused"]);
        breaks("a warning", &["error: a", "@", "warning[E1]: unused"]);
    }

    #[test]
    fn an_error_begins_with_the_users_words() {
        for word in [
            "`spate::__private::X`",
            "`impl Fn(i64)`",
            "{closure@ui/fail/x.rs:1:1}",
            "`__spate`",
        ] {
            let line = format!("error[E0308]: expected {word}");
            breaks("what no user wrote", &[&line, "@"]);
            let note = format!("note: expected {word}");
            is_fine(&["error: a", "@", &note]);
        }
    }

    #[test]
    fn an_error_is_in_the_file_of_the_case() {
        let rule = "not in the case";
        breaks(rule, &["error: a"]);
        breaks(
            rule,
            &[
                "error: a",
                " --> $WORKSPACE/spate/src/lib.rs",
                "note: b",
                "@",
            ],
        );
        breaks(rule, &["error: a", " --> ui/fail/y.rs:3:24"]);
    }

    #[test]
    fn the_whole_block_is_not_underlined() {
        let rule = "whole block";
        breaks(
            rule,
            &[
                "error: a",
                "@",
                "3 | / spate::pipeline! {",
                "4 | |     a",
                "  | |_^",
            ],
        );
        breaks(
            rule,
            &["error: a", "@", "3 |   spate::pipeline! {", "  |  _^"],
        );
        let call = "3 |     etl::pipeline! { kafka }";
        breaks(
            rule,
            &["error: a", "@", call, "  |     ^^^^^^^^^^^^^^^^^^^^^^^^"],
        );
        is_fine(&["error: a", "@", call, "  |                      ^^^^^"]);
        is_fine(&[
            "error: a",
            "@",
            "3 | spate::pipeline! {}",
            "  | ^^^^^^^^^^^^^^^^^^^",
        ]);
    }
}
