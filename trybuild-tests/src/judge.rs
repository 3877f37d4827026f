//! Whether what became of a case is what has to become of it.

use crate::case::{Case, Outcome};
use crate::project::Answer;

/// How the two are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every word: the compiler is the one that the `.stderr` files were made on.
    Wording,
    /// Whether the case compiles, and the lines that are ours.
    Codes,
}

/// What is wrong with the answer; nothing for an answer that is right. A case that passes expects no text, and one that
/// cargo did not reach has no answer.
pub fn judge(case: &Case, mode: Mode, expected: &str, answer: Option<&Answer>) -> Option<String> {
    let Some(Answer { compiles, said }) = answer else {
        return Some("cargo did not reach it".to_owned());
    };
    match (case.outcome, mode) {
        (Outcome::Pass, _) if !compiles => Some(format!("it has to compile:\n{said}")),
        // Another compiler may have new lints.
        (Outcome::Pass, Mode::Codes) => None,
        (Outcome::Pass, Mode::Wording) => {
            (!said.is_empty()).then(|| format!("it has to compile without a word:\n{said}"))
        }
        (Outcome::Fail { .. }, _) if *compiles => Some("it has to fail, and compiles".to_owned()),
        (Outcome::Fail { .. }, Mode::Wording) => {
            (expected != said).then(|| format!("expected:\n{expected}\nfound:\n{said}"))
        }
        (Outcome::Fail { .. }, Mode::Codes) => {
            let (expected, found) = (ours(expected), ours(said));
            let list = |lines: &[&str]| match lines {
                [] => "  none".to_owned(),
                lines => format!("  {}", lines.join("\n  ")),
            };
            let (first, second) = (list(&expected), list(&found));
            (expected != found).then(|| format!("expected of ours:\n{first}\nfound:\n{second}"))
        }
    }
}

/// The lines that are ours, in order: `error: [SP017] unknown stage ..`.
pub fn ours(said: &str) -> Vec<&str> {
    said.lines()
        .filter(|line| line.starts_with("error: [SP"))
        .collect()
}

/// Whether a line begins an error.
pub(crate) fn is_error(line: &str) -> bool {
    line.starts_with("error: ") || line.starts_with("error[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Package;

    const OURS: &str = "error: [SP017] unknown stage `mpa`\n --> ui/fail/x.rs:1:1\n";
    const RUSTC: &str = "error[E0308]: mismatched types\n --> ui/fail/x.rs:1:1\n";

    fn case(outcome: Outcome) -> Case {
        Case {
            path: "x.rs".to_owned(),
            outcome,
            package: Package::Cases,
        }
    }

    fn is_right(
        outcome: Outcome,
        mode: Mode,
        expected: &str,
        (compiles, said): (bool, &str),
    ) -> bool {
        let said = said.to_owned();
        let answer = Answer { compiles, said };
        judge(&case(outcome), mode, expected, Some(&answer)).is_none()
    }

    #[test]
    fn on_another_toolchain_only_our_lines_and_the_failure_count() {
        let fail = Outcome::Fail { errors: 1 };
        let reworded_ours = OURS.replace(" --> ui/fail/x.rs:1:1", "  --> ui/fail/x.rs:1:2");
        let reworded_rustc = RUSTC.replace("mismatched", "incompatible");
        let misspelt = OURS.replace("unknown", "odd");
        for (expected, answer, wording, codes) in [
            (OURS, (false, OURS), true, true),
            (OURS, (false, reworded_ours.as_str()), false, true),
            (RUSTC, (false, reworded_rustc.as_str()), false, true),
            (OURS, (false, misspelt.as_str()), false, false),
            (OURS, (false, RUSTC), false, false),
            (RUSTC, (false, OURS), false, false),
            (RUSTC, (true, ""), false, false),
            (RUSTC, (true, "warning: unused\n"), false, false),
        ] {
            for (mode, right) in [(Mode::Wording, wording), (Mode::Codes, codes)] {
                assert_eq!(
                    is_right(fail, mode, expected, answer),
                    right,
                    "{mode:?} {answer:?}"
                );
            }
        }
    }

    #[test]
    fn what_has_to_compile_compiles_without_a_word() {
        for (answer, wording, codes) in [
            ((true, ""), true, true),
            ((true, "warning: unused\n"), false, true),
            ((false, RUSTC), false, false),
        ] {
            assert_eq!(is_right(Outcome::Pass, Mode::Wording, "", answer), wording);
            assert_eq!(is_right(Outcome::Pass, Mode::Codes, "", answer), codes);
        }
    }

    #[test]
    fn a_case_that_was_not_reached_is_wrong() {
        for outcome in [Outcome::Pass, Outcome::Fail { errors: 1 }] {
            for mode in [Mode::Wording, Mode::Codes] {
                assert!(judge(&case(outcome), mode, "", None).is_some());
            }
        }
    }
}
