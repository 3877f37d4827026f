//! The README's program is the one in `src/bin/arrivals.rs`, which is compiled; its configuration is accepted.

use std::path::Path;
use std::process::Command;

/// The lines that count: no comments, no blank lines, no alignment.
fn code(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| {
            line.split("//")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
        .filter(|line| !line.is_empty())
        .collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_program_in_the_readme_is_the_one_that_is_compiled() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let (_, rest) = readme
        .split_once("```rust\nuse spate::prelude::*;")
        .expect("the program");
    let (program, _) = rest.split_once("```").expect("its end");
    let compiled = include_str!("../src/bin/arrivals.rs");
    let (_, compiled) = compiled
        .split_once("use spate::prelude::*;")
        .expect("the program");
    assert_eq!(code(program), code(compiled));
}

#[test]
fn the_documented_configuration_is_accepted() {
    let page = std::fs::read_to_string(root().join("docs/config.md")).expect("docs/config.md");
    let (_, rest) = page.split_once("```yaml\n").expect("the file");
    let (yaml, _) = rest.split_once("```").expect("its end");
    let folder = std::env::temp_dir().join(format!("spate-documented-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("config.yaml");
    std::fs::write(&file, yaml).expect("the file is written");
    let output = Command::new(env!("CARGO_BIN_EXE_arrivals"))
        .arg("--config")
        .arg(&file)
        .arg("--check")
        .output()
        .expect("the program runs");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
