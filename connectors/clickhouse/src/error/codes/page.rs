//! The table in `docs/errors-at-run-time.md` is this one: the test writes it anew and compares.
//! `UPDATE_DOCS=1 cargo test -p spate-clickhouse the_documented` takes over what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::*;

const BEGIN: &str = "<!-- generated from the codes of the ClickHouse sink -->\n";
const END: &str = "<!-- end -->\n";

fn table() -> Result<String, std::fmt::Error> {
    let mut rows: BTreeMap<(bool, &str), Vec<String>> = BTreeMap::new();
    for (code, name, cause) in CODES {
        let retryable = cause.class() == ErrorClass::Retryable;
        let row = rows.entry((retryable, cause.advice())).or_default();
        row.push(format!("{name} ({code})"));
    }
    let mut out = String::from("\n| class | what to do | codes |\n|---|---|---|\n");
    for ((retryable, advice), codes) in rows {
        let class = if retryable { "Retryable" } else { "Fatal" };
        writeln!(out, "| {class} | {advice} | {} |", codes.join(", "))?;
    }
    out.push('\n');
    Ok(out)
}

#[test]
fn the_documented_codes_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors-at-run-time.md");
    let page = std::fs::read_to_string(&path).expect("docs/errors-at-run-time.md");
    let (before, rest) = page.split_once(BEGIN).expect("a generated part");
    let (documented, after) = rest.split_once(END).expect("its end");
    let table = table().expect("a String takes everything");
    if documented == table {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/errors-at-run-time.md is not what the table of codes says; UPDATE_DOCS=1 writes it anew"
    );
    std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}"))
        .expect("the page can be written");
}
