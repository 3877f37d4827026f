//! The pages and the code say the same: blocks are compiled, configurations are accepted, schemas and tables are the ones that the blocks
//! are compiled against, errors are printed as shown.

mod config;
mod files;
mod mistakes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use docs_tests::PAGES;
use docs_tests::markdown::{Fence, fences};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::canonicalize(root).expect("the repository")
}

/// A page: its path below the repository, and its text.
struct Page {
    path: String,
    text: String,
}

impl Page {
    fn fences(&self) -> Vec<Fence<'_>> {
        fences(&self.text)
    }

    /// Where a block is, for messages.
    fn at(&self, fence: &Fence<'_>) -> String {
        format!("{}:{}", self.path, fence.line)
    }
}

/// All pages, those in the root first.
fn pages() -> Vec<Page> {
    let root = root();
    let mut found = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let pages = found.into_iter().map(|path| Page {
        text: fs::read_to_string(&path).expect("a page"),
        path: path
            .strip_prefix(&root)
            .expect("below")
            .display()
            .to_string(),
    });
    let pages: Vec<Page> = pages.collect();
    assert!(pages.len() >= 20, "are the pages found?");
    pages
}

/// The blocks of one language, with their pages.
fn blocks(language: &str, mut check: impl FnMut(&Page, &Fence<'_>)) {
    let mut seen = 0;
    for page in pages() {
        for fence in page.fences().iter().filter(|f| f.language() == language) {
            check(&page, fence);
            seen += 1;
        }
    }
    assert!(seen > 0, "no block of {language} was found");
}

#[test]
fn every_block_has_a_language() {
    let known = [
        "rust", "yaml", "json", "sql", "toml", "sh", "text", "mermaid",
    ];
    let mut wrong = Vec::new();
    for page in pages() {
        for fence in page.fences() {
            if !known.contains(&fence.language()) {
                wrong.push(format!("{}: `{}`", page.at(&fence), fence.info));
            }
            // What looks like a fence inside of one, or is indented, would be read otherwise by a renderer.
            if fence.lines.iter().any(|line| line.contains("```")) {
                wrong.push(format!("{}: is it closed?", page.at(&fence)));
            }
        }
        for (n, line) in page.text.lines().enumerate() {
            if line.starts_with(' ') && line.trim_start().starts_with("```")
                || line.starts_with("~~~")
            {
                wrong.push(format!("{}:{}: not at the left margin", page.path, n + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_block_of_rust_is_compiled() {
    let compiled: BTreeSet<&str> = PAGES.iter().copied().collect();
    let mut wrong = Vec::new();
    blocks("rust", |page, fence| {
        // Its examples are run by the test that writes the page.
        if page.path == "docs/errors.md" && fence.info == "rust,ignore" {
            return;
        }
        let path = root().join(&page.path);
        if !compiled.contains(&*path.to_string_lossy()) {
            wrong.push(format!("{}: the page is not compiled", page.at(fence)));
        }
        let known = ["rust", "rust,no_run", "rust,compile_fail"];
        if !known.contains(&fence.info) {
            wrong.push(format!("{}: `{}`", page.at(fence), fence.info));
        }
        // The reader sees what is compiled, and not less.
        if fence
            .lines
            .iter()
            .any(|line| *line == "#" || line.starts_with("# "))
        {
            wrong.push(format!(
                "{}: hidden lines belong in a prelude",
                page.at(fence)
            ));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    let mut missing = Vec::new();
    for page in pages() {
        if let Some(name) = page.path.strip_prefix("docs/")
            && name != "SUMMARY.md"
            && !summary.contains(&format!("]({name})"))
        {
            missing.push(name.to_owned());
        }
    }
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

#[test]
fn a_dependency_is_written_as_it_is() {
    let manifest = fs::read_to_string(root().join("spate/Cargo.toml")).expect("a manifest");
    let (_, features) = manifest.split_once("[features]").expect("features");
    blocks("toml", |page, fence| {
        let at = page.at(fence);
        for line in fence
            .lines
            .iter()
            .filter(|line| line.starts_with("spate = "))
        {
            let version = format!(
                "version = \"{}\"",
                env!("CARGO_PKG_VERSION").trim_end_matches(".0")
            );
            assert!(
                line.contains(&version) || line.contains("path = "),
                "{at}: {version}"
            );
            let (_, list) = line
                .split_once("features = [")
                .expect("nothing is on by default");
            let list = list.split(']').next().unwrap_or_default();
            for feature in list.split(", ").map(|name| name.trim_matches('"')) {
                assert!(
                    features.contains(&format!("\n{feature} = [")),
                    "{at}: `{feature}`"
                );
            }
        }
    });
}
