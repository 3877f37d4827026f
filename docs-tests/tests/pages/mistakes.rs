//! Blocks that have to fail, and the errors that the pages show for them: what rustc prints, checked with the project of the UI tests.
//!
//! A block `rust,compile_fail` is compiled as `src/main.rs`, its preludes in a file of their own; the block of text right behind it is the
//! error.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use docs_tests::markdown::Fence;
use trybuild_tests::{Case, Outcome, Package, Project, ours};

use crate::{Page, pages};

/// A block that has to fail, and what the page shows of the error, if it does.
struct Mistake {
    at: String,
    block: String,
    preludes: String,
    shown: Option<String>,
}

impl Mistake {
    fn new(page: &Page, fence: &Fence<'_>, next: Option<&Fence<'_>>) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let prelude = |name| {
            let path = here.join("preludes").join(name).with_extension("rs");
            fs::read_to_string(path).expect("a prelude")
        };
        let shown = next.filter(|next| next.info == "text" && next.text().starts_with("error"));
        Mistake {
            at: page.at(fence),
            block: fence.text(),
            preludes: fence.words("prelude").into_iter().map(prelude).collect(),
            shown: shown.map(Fence::text),
        }
    }
}

fn mistakes() -> Vec<Mistake> {
    let mut found = Vec::new();
    for page in pages() {
        let fences = page.fences();
        for (n, fence) in fences.iter().enumerate() {
            if fence.has("compile_fail") {
                found.push(Mistake::new(&page, fence, fences.get(n + 1)));
            }
        }
    }
    found
}

/// What the compiler says to each.
fn answers(mistakes: &[Mistake]) -> BTreeMap<String, String> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ui = scratch.join("docs-blocks/ui");
    fs::create_dir_all(ui.join("files")).expect("a folder");
    let mut cases = Vec::new();
    for (n, mistake) in mistakes.iter().enumerate() {
        let name = format!("docs_{n}");
        fs::write(ui.join(format!("{name}_block.rs")), &mistake.block).expect("a file");
        // The block stands alone, so that its lines are numbered as a reader counts them.
        let case = format!(
            "#![allow(unused)]\ninclude!(\"{name}_block.rs\");\n{}",
            mistake.preludes
        );
        fs::write(ui.join(format!("{name}.rs")), case).expect("a file");
        cases.push(Case {
            path: format!("{name}.rs"),
            outcome: Outcome::Fail { errors: 1 },
            package: Package::Cases,
        });
    }
    let project = Project::write(&ui, scratch, "docs", &cases).expect("the project");
    for folder in ["schemas", "sql"] {
        let (from, to) = (
            Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            scratch.join("docs/cases").join(folder),
        );
        fs::create_dir_all(&to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a file");
        }
    }
    let answers = project.check().expect("cargo checks them");
    let answer = |(n, mistake): (usize, &Mistake)| {
        let answer = answers.get(&format!("docs_{n}"));
        let answer = answer.unwrap_or_else(|| panic!("{}: cargo did not reach it", mistake.at));
        assert!(!answer.compiles, "{}: it has to fail", mistake.at);
        let said = answer
            .said
            .replace(&format!("ui/docs_{n}_block.rs"), "src/main.rs");
        (mistake.at.clone(), said)
    };
    mistakes.iter().enumerate().map(answer).collect()
}

#[test]
fn the_errors_that_pages_show_are_those_of_the_compiler() {
    let mistakes = mistakes();
    assert!(!mistakes.is_empty(), "no page has a mistake");
    let answers = answers(&mistakes);
    let toolchain = fs::read_to_string(trybuild_tests::ui().join("TOOLCHAIN")).expect("a version");
    let rustc = std::process::Command::new("rustc")
        .arg("-V")
        .output()
        .expect("rustc");
    let wording = String::from_utf8_lossy(&rustc.stdout) == toolchain;
    let mut wrong = Vec::new();
    for mistake in &mistakes {
        let (said, Some(shown)) = (&answers[&mistake.at], &mistake.shown) else {
            continue;
        };
        // As in the UI tests, another compiler may word its own part otherwise.
        let same = match wording {
            true => said == shown,
            false => ours(said) == ours(shown),
        };
        if !same {
            wrong.push(format!("{}: the compiler says\n{said}", mistake.at));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
