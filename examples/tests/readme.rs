//! The README's program is the one in `src/bin/arrivals.rs`, and the guide shows what it prints.

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
        .split_once("```rust,no_run\nuse spate::prelude::*;")
        .expect("the program");
    let (program, _) = rest.split_once("```").expect("its end");
    let compiled = include_str!("../src/bin/arrivals.rs");
    let (_, compiled) = compiled
        .split_once("use spate::prelude::*;")
        .expect("the program");
    assert_eq!(code(program), code(compiled));
}

#[test]
fn what_the_guide_shows_of_the_program_is_what_it_prints() {
    // As the guide has it: the configuration, and one with a mistake, in the current folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let config = include_str!("../config/arrivals.yaml");
    let misspelt = config.replace("group_id", "grop_id");
    std::fs::write(folder.join("arrivals.yaml"), config).expect("a file");
    std::fs::write(folder.join("misspelt.yaml"), misspelt).expect("a file");
    let mut seen = 0;
    for page in ["getting-started.md", "running.md"] {
        let text = std::fs::read_to_string(root().join("docs").join(page)).expect(page);
        for part in text.split("<!-- output: ").skip(1) {
            let (arguments, rest) = part
                .split_once(" -->\n\n```text\n")
                .expect("a block of text");
            let (shown, _) = rest.split_once("\n```\n").expect("its end");
            let output = Command::new(env!("CARGO_BIN_EXE_arrivals"))
                .args(arguments.split(' '))
                .current_dir(folder)
                .output()
                .expect("the program runs");
            let printed = [output.stdout, output.stderr].concat();
            assert_eq!(
                String::from_utf8_lossy(&printed).trim_end(),
                shown,
                "{page}: {arguments}"
            );
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} outputs: are they found?");
}
