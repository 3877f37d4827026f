//! The page: a table of all codes, then a section for each.

use std::fmt::Write as _;

use proc_macro2::LineColumn;
use spate_lang::diagnostic::{Code, RETIRED};

use crate::explanation::{Block, Entry, Explanations, Role};
use crate::run::{self, Said};

const INTRODUCTION: &str = "\
# Errors at build time

Every error of `pipeline!` and of the derives begins with a code. A code never changes its meaning; one that is not needed any
more is not given to anything else. What begins with `error[E0308]` and the like is said by rustc itself, at the closure or the
type in question.

One mistake gives one error, several mistakes give several, up to twenty of one call. A pipeline with a mistake still exists
for its callers, so that nothing else is reported because of it.
";

const PARTS: [(&str, &str, &str); 3] = [
    (
        "The pipeline",
        "SP001",
        "The types `Order` and `OrderRow` of these examples read the files above.",
    ),
    ("Avro schemas and their derives", "SP070", ""),
    ("Tables and `#[derive(Row)]`", "SP090", ""),
];

/// The whole page.
pub(crate) fn write(explanations: &Explanations) -> String {
    let mut out = format!(
        "<!-- generated: UPDATE_DOCS=1 cargo test -p spate-lang --test errors -->\n{INTRODUCTION}"
    );
    page(explanations, &mut out).expect("a String takes everything");
    out
}

fn page(explanations: &Explanations, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n| code | mistake |\n|---|---|")?;
    for code in Code::ALL {
        let (id, title) = (code.entry().id, code.entry().title.replace('|', "\\|"));
        writeln!(out, "| [{id}](#{}) | {title} |", id.to_lowercase())?;
    }
    if !RETIRED.is_empty() {
        writeln!(out, "\nNot used any more: {}.", RETIRED.join(", "))?;
    }
    writeln!(
        out,
        "\nThe examples of schemas and tables read these two files, where they bring none of their own:"
    )?;
    for file in &explanations.files {
        fence(file, out)?;
    }
    for entry in &explanations.entries {
        if let Some((title, _, text)) = PARTS.iter().find(|(_, first, _)| *first == entry.id) {
            writeln!(out, "\n## {title}")?;
            if !text.is_empty() {
                writeln!(out, "\n{text}")?;
            }
        }
        section(explanations, entry, out)?;
    }
    Ok(())
}

fn section(explanations: &Explanations, entry: &Entry, out: &mut String) -> std::fmt::Result {
    let mut codes = Code::ALL.iter().map(|code| code.entry());
    let title = codes
        .find(|code| code.id == entry.id)
        .map_or("", |code| code.title);
    writeln!(out, "\n### {}\n\n**{title}** {}", entry.id, entry.cause)?;
    for block in run::blocks(entry, Role::Mistake) {
        fence(block, out)?;
    }
    let source = rust(entry, Role::Mistake);
    writeln!(out, "\n```text")?;
    for said in run::example(explanations, entry, Role::Mistake) {
        write!(out, "{}", printed(&said, source))?;
    }
    writeln!(out, "```\n\nRight:")?;
    for block in entry.blocks.iter().filter(|block| block.role == Role::Fix) {
        fence(block, out)?;
    }
    Ok(())
}

fn rust(entry: &Entry, role: Role) -> &str {
    let mut blocks = run::blocks(entry, role).into_iter();
    let rust = blocks.find(|block| block.language == "rust");
    rust.map_or("", |block| &block.text)
}

fn fence(block: &Block, out: &mut String) -> std::fmt::Result {
    if !block.path.is_empty() {
        writeln!(out, "\n`{}`:", block.path)?;
    }
    // The blocks are run by this test; a test of the whole page leaves them alone.
    let language = match block.language.as_str() {
        "rust" => "rust,ignore",
        other => other,
    };
    writeln!(out, "\n```{language}\n{}```", block.text)
}

/// The error as rustc prints it.
fn printed(said: &Said, source: &str) -> String {
    let mut out = String::new();
    for (n, line) in said.text.lines().enumerate() {
        let margin = if n == 0 { "error: " } else { "       " };
        let _ = writeln!(out, "{}", format!("{margin}{line}").trim_end());
    }
    let (start, end) = said.place.unwrap_or_else(|| call(source));
    let line = source.lines().nth(start.line - 1).unwrap_or_default();
    // A mark over several lines would be drawn otherwise; no example has one.
    assert_eq!(start.line, end.line, "{}", said.text);
    let (number, margin) = (
        start.line.to_string(),
        " ".repeat(start.line.to_string().len()),
    );
    let mark = format!(
        "{}{}",
        " ".repeat(start.column),
        "^".repeat(end.column - start.column)
    );
    let _ = writeln!(out, "{margin}--> src/main.rs:{number}:{}", start.column + 1);
    let _ = writeln!(out, "{margin} |\n{number} | {line}\n{margin} | {mark}");
    out
}

/// The place of a macro call that is one line.
fn call(source: &str) -> (LineColumn, LineColumn) {
    let text = source.lines().next().unwrap_or_default();
    let at = |column| LineColumn { line: 1, column };
    (at(0), at(text.chars().count()))
}
