//! How much is shown and documented, in one line that every run of the tests prints.

use std::fmt;

use crate::case::{Case, Outcome};

/// Fewer cases than these, and some were lost.
const LEAST_FAIL: usize = 170;
const LEAST_PASS: usize = 25;

/// The numbers of cases and of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    fail: usize,
    pass: usize,
    codes: usize,
    undocumented: Vec<String>,
}

impl Census {
    /// Counts the cases, the codes, and the codes that have no section in `page`, the text of `docs/errors.md`.
    pub fn take(cases: &[Case], codes: &[&str], page: &str) -> Self {
        let passes = |case: &&Case| case.outcome == Outcome::Pass;
        let pass = cases.iter().filter(passes).count();
        let is_documented = |code: &str| {
            let heading = format!("### {code}");
            page.lines().any(|line| line == heading)
        };
        let undocumented = codes.iter().filter(|code| !is_documented(code));
        Census {
            fail: cases.len() - pass,
            pass,
            codes: codes.len(),
            undocumented: undocumented.map(|&code| code.to_owned()).collect(),
        }
    }

    /// What is missing; nothing where all is well.
    pub fn complaint(&self) -> Option<String> {
        let missing = match self {
            Census { fail, .. } if *fail < LEAST_FAIL => {
                format!("{fail} cases that fail, of at least {LEAST_FAIL}")
            }
            Census { pass, .. } if *pass < LEAST_PASS => {
                format!("{pass} cases that pass, of at least {LEAST_PASS}")
            }
            Census { undocumented, .. } if undocumented.is_empty() => return None,
            Census { undocumented, .. } => {
                format!("no section in docs/errors.md: {}", undocumented.join(", "))
            }
        };
        Some(missing)
    }
}

/// `ui: fail=146 pass=16 codes=79 undocumented=0`
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Census {
            fail, pass, codes, ..
        } = self;
        let undocumented = self.undocumented.len();
        write!(
            f,
            "ui: fail={fail} pass={pass} codes={codes} undocumented={undocumented}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Package;

    fn cases(fail: usize, pass: usize) -> Vec<Case> {
        let case = |outcome| Case {
            path: String::new(),
            outcome,
            package: Package::Cases,
        };
        let wrong = case(Outcome::Fail { errors: 1 });
        let mut cases = vec![wrong; fail];
        cases.resize(fail + pass, case(Outcome::Pass));
        cases
    }

    #[test]
    fn too_few_cases_and_codes_without_a_section_are_complaints() {
        let page = "# Errors\n\n| SP002 |\n\n### SP001\n\n### SP003 and more\n";
        for (fail, pass, codes, line, complaint) in [
            (
                170,
                25,
                &["SP001"][..],
                "fail=170 pass=25 codes=1 undocumented=0",
                None,
            ),
            (
                169,
                25,
                &["SP001"],
                "fail=169 pass=25 codes=1 undocumented=0",
                Some("169 cases that fail"),
            ),
            (
                170,
                24,
                &["SP001"],
                "fail=170 pass=24 codes=1 undocumented=0",
                Some("24 cases that pass"),
            ),
            (
                170,
                25,
                &["SP001", "SP002", "SP003"],
                "fail=170 pass=25 codes=3 undocumented=2",
                Some("docs/errors.md: SP002, SP003"),
            ),
        ] {
            let census = Census::take(&cases(fail, pass), codes, page);
            assert_eq!(census.to_string(), format!("ui: {line}"));
            let found = census.complaint();
            assert_eq!(found.is_some(), complaint.is_some(), "{found:?}");
            assert!(
                found
                    .unwrap_or_default()
                    .contains(complaint.unwrap_or_default())
            );
        }
    }
}
