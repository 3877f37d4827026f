//! Writes each page anew with the preludes of its blocks, and a module for each page.

#[path = "src/markdown.rs"]
#[allow(dead_code, unreachable_pub)]
mod markdown;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use markdown::{Part, parts};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let docs = here.join("../docs");
    let mut pages = vec![here.join("../README.md")];
    for folder in [docs.clone(), docs.join("decisions")] {
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    println!("cargo::rerun-if-changed=preludes");
    let mut modules = String::new();
    let mut names = Vec::new();
    for page in pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let name = page.file_stem().ok_or("a page has a name")?;
        let name = name.to_string_lossy().to_lowercase().replace('-', "_");
        let written = out.join(format!("{name}.md"));
        let text = fs::read_to_string(&page)?;
        // Of nothing but examples that are run elsewhere nothing is compiled here.
        let mut blocks = markdown::fences(&text).into_iter();
        if !blocks.any(|block| block.language() == "rust" && !block.has("ignore")) {
            continue;
        }
        fs::write(&written, with_preludes(&text, &here)?)?;
        // A decision's name begins with a digit.
        writeln!(
            modules,
            "#[doc = include_str!({written:?})]\npub mod page_{name} {{}}"
        )?;
        names.push(fs::canonicalize(&page)?.display().to_string());
    }
    fs::write(out.join("pages.rs"), modules)?;
    fs::write(out.join("names.rs"), format!("&{names:?}"))?;
    Ok(())
}

/// The page's blocks, those of Rust with hidden lines before them.
fn with_preludes(page: &str, here: &Path) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    for part in parts(page) {
        let fence = match part {
            Part::Text(line) => {
                writeln!(out, "{line}")?;
                continue;
            }
            Part::Code(fence) => fence,
        };
        writeln!(out, "```{}", fence.info)?;
        for name in fence.words("prelude") {
            let path = here.join("preludes").join(format!("{name}.rs"));
            let prelude = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            for line in prelude.lines() {
                writeln!(out, "# {line}")?;
            }
        }
        out += &fence.text();
        writeln!(out, "```")?;
    }
    Ok(out)
}
