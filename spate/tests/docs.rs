//! The pages keep what they say: tests that they name exist, links lead to a file and to a heading of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
    let skipped = ["target", ".git", "node_modules"];
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !skipped.contains(&&*name) {
            files(&path, suffix, found);
        } else if name.ends_with(suffix) {
            found.push(path);
        }
    }
}

/// The names of all functions in the workspace that are tests: under `#[test]`, in a `proptest!` or a table of cases.
fn tests() -> BTreeSet<String> {
    let mut sources = Vec::new();
    files(&root(), ".rs", &mut sources);
    let mut names = BTreeSet::new();
    for source in sources {
        let text =
            fs::read_to_string(&source).unwrap_or_else(|error| panic!("{source:?}: {error}"));
        // Every case of such a table is a test.
        let mut is_test = false;
        let mut in_table = false;
        for line in text.lines().map(str::trim_start) {
            in_table |= line.starts_with("cases! {");
            is_test |= line.starts_with("#[test]");
            let function = line
                .strip_prefix("fn ")
                .or_else(|| line.strip_prefix("async fn "));
            if let Some(function) = function {
                if is_test || in_table {
                    let end = function.find('(').unwrap_or(function.len());
                    names.insert(function[..end].to_owned());
                }
                is_test = false;
            }
        }
    }
    names
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The last cells of the rows of the tables whose last column is headed `tests`.
fn cells(page: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut in_table = false;
    for line in page.lines() {
        let Some(row) = line
            .trim()
            .strip_prefix('|')
            .and_then(|l| l.strip_suffix('|'))
        else {
            in_table = false;
            continue;
        };
        let last = row.rsplit('|').next().unwrap_or_default().trim();
        if last == "tests" {
            in_table = true;
        } else if in_table && !last.starts_with("---") {
            cells.push(last);
        }
    }
    cells
}

/// Whether a path, with at most one `*`, names a file.
fn exists(path: &str) -> bool {
    match path.split_once('*') {
        None => root().join(path).exists(),
        Some((folder, suffix)) => {
            let folder = root().join(folder);
            folder.is_dir() && {
                let mut found = Vec::new();
                files(&folder, suffix, &mut found);
                !found.is_empty()
            }
        }
    }
}

#[test]
fn every_test_that_a_page_names_exists() {
    let tests = tests();
    let mut wrong = Vec::new();
    for (page, least) in [
        ("docs/guarantees.md", 100),
        ("docs/invariants.md", 15),
        ("docs/avro-deviations.md", 18),
    ] {
        let text = fs::read_to_string(root().join(page)).expect("a page");
        let mut named = 0;
        for cell in cells(&text) {
            let mut any = false;
            for name in quoted(cell) {
                // `module::test`, `file.rs: test`, or a file.
                let last = name.rsplit([':', ' ']).next().unwrap_or_default();
                let known = if name.contains('/') && !name.contains(": ") {
                    exists(name)
                } else {
                    tests.contains(last)
                };
                any = true;
                named += 1;
                if !known {
                    wrong.push(format!("{page}: `{name}`"));
                }
            }
            if !any {
                wrong.push(format!("{page}: a promise without a test: {cell}"));
            }
        }
        assert!(
            named >= least,
            "{page} names {named} tests: is it read rightly?"
        );
    }
    assert!(
        wrong.is_empty(),
        "there is no such test:\n{}",
        wrong.join("\n")
    );
}

/// The lines of a page outside of its fenced blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    })
}

/// The anchors of a page's headings, as GitHub and mdBook make them: lower case, dashes for spaces, no punctuation; the second
/// of one name gets a number.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut counts = BTreeMap::new();
    for line in prose(page) {
        let heading = line.trim_start_matches('#');
        if !line.starts_with('#') || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter_map(|ch| match ch {
            ' ' => Some('-'),
            ch => (ch.is_alphanumeric() || ch == '-' || ch == '_').then_some(ch),
        });
        let anchor: String = kept.flat_map(char::to_lowercase).collect();
        let count: &mut usize = counts.entry(anchor.clone()).or_default();
        anchors.push(match *count {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
        *count += 1;
    }
    anchors
}

/// The targets of a page's links. What stands in backticks is no link, but may be the text of one.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(page) {
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        let outside = outside.concat();
        let targets = outside.split("](").skip(1);
        links.extend(targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    links
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    files(&root().join("docs"), ".md", &mut pages);
    let mut wrong = Vec::new();
    let mut followed = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        for target in links(&text) {
            if target.contains("://") {
                continue;
            }
            followed += 1;
            let (file, anchor) = match target.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (&*target, None),
            };
            let file = match file {
                "" => page.clone(),
                file => folder.join(file),
            };
            if !file.exists() {
                wrong.push(format!("{}: {target}: no such file", page.display()));
            } else if let Some(anchor) = anchor {
                let text = fs::read_to_string(&file).unwrap_or_default();
                if !anchors(&text).iter().any(|known| known == anchor) {
                    wrong.push(format!("{}: {target}: no such heading", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        followed > 120,
        "{followed} links: are the pages read rightly?"
    );
}

#[test]
fn the_parts_of_this_test_read_what_they_shall() {
    let page = "| # | promise | tests |\n|---|---|---|\n| 1 | a `b` | `x.rs: c`, `d` |\n\n| a | b |\n|---|---|\n| 1 | `e` |\n";
    assert_eq!(cells(page), ["`x.rs: c`, `d`"]);
    assert_eq!(
        quoted("`x.rs: c`, `d`").collect::<Vec<_>>(),
        ["x.rs: c", "d"]
    );
    assert!(exists("it/tests/embedded/*.rs") && !exists("it/tests/nothing/*.rs"));
    let tests = tests();
    for name in [
        "the_parts_of_this_test_read_what_they_shall",
        "help_has_the_exit_codes_of_the_page",
    ] {
        assert!(tests.contains(name), "{name}");
    }
    assert!(!tests.contains("quoted"));
    let page = "# One `two`!\n[a](b.md#c) `[x](y)` [`d`](e)\n```text\n# no\n[no](link)\n```\n## Again\n## Again\n";
    assert_eq!(anchors(page), ["one-two", "again", "again-1"]);
    assert_eq!(links(page), ["b.md#c", "e"]);
}
