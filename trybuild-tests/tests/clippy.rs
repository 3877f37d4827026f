//! Clippy over the cases that pass: what it says is said of the user's code, never of ours.

use std::path::Path;

use trybuild_tests::{Case, Outcome, Project, all, ui};

/// Beside clippy's own choice.
const LINTS: [&str; 5] = [
    "clippy::all",
    "clippy::pedantic",
    "clippy::nursery",
    "clippy::unwrap_used",
    "clippy::indexing_slicing",
];

#[test]
fn no_lint_of_clippy_points_into_generated_code() {
    let mut cases = all(ui()).expect("the cases can be read");
    cases.retain(|case| case.outcome == Outcome::Pass);
    let strict = cases
        .iter()
        .find(|case| case.path == "pass/every_stage_pedantic.rs");
    let strict = strict.map(Case::target).expect("the case of every stage");

    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let project = Project::write(ui(), scratch, "clippy", &cases).expect("a project");
    let lints = project.clippy(&LINTS).expect("clippy runs");
    assert!(
        !lints.is_empty(),
        "pedantic lints find something in the cases' own code"
    );
    let wrong: Vec<&str> = lints
        .iter()
        .filter(|(target, lint)| lint.is_generated || *target == strict)
        .map(|(_, lint)| lint.text.as_str())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
