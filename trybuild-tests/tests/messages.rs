//! Rules over all messages, and whether there is one for each mistake that the language knows.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use spate_lang::diagnostic::Code;
use trybuild_tests::{Case, Census, Outcome, all, broken, ui};

fn cases() -> Vec<Case> {
    all(ui()).expect("the cases can be read")
}

fn messages() -> Vec<(Case, String)> {
    let fails = cases()
        .into_iter()
        .filter(|case| case.outcome != Outcome::Pass);
    let text = |case: Case| {
        let file = case.stderr(ui());
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (case, text)
    };
    fails.map(text).collect()
}

#[test]
fn every_message_is_short_points_inside_the_block_and_is_told_once() {
    let mut found = Vec::new();
    for (case, text) in messages() {
        found.extend(
            broken(&case, &text)
                .iter()
                .map(|rule| format!("{}: {rule}", case.path)),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_code_of_the_catalogue_is_shown_by_a_case() {
    let all: String = messages().into_iter().map(|(_, text)| text).collect();
    let unseen: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.entry().id)
        .filter(|id| !all.contains(&format!("error: [{id}] ")))
        .collect();
    assert_eq!(unseen, Vec::<&str>::new());
}

#[test]
fn there_are_enough_cases_and_every_code_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = fs::read_to_string(page).expect("docs/errors.md");
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.entry().id).collect();
    let census = Census::take(&cases(), &codes, &page);
    // Past the harness, which would swallow it, and on a line of its own whatever the harness prints.
    writeln!(std::io::stdout(), "\n{census}").expect("standard output");
    assert_eq!(census.complaint(), None);
}

#[test]
fn the_names_of_the_cases_differ() {
    let cases = cases();
    let targets: BTreeSet<String> = cases.iter().map(Case::target).collect();
    assert_eq!(targets.len(), cases.len());
}

#[test]
fn every_message_and_every_file_belongs_to_a_case() {
    fn files(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    files(ui(), &mut found);
    let sources: String = cases()
        .iter()
        .map(|case| fs::read_to_string(case.source(ui())).expect("a source"))
        .collect();
    for file in found {
        let is_used = match file.extension().and_then(|extension| extension.to_str()) {
            Some("stderr") => file.with_extension("rs").exists(),
            Some("avsc" | "sql") => {
                let written = file.strip_prefix(ui()).expect("a file of the cases");
                sources.contains(&format!("\"{}\"", written.display()))
            }
            _ => true,
        };
        assert!(is_used, "{} belongs to no case", file.display());
    }
}
