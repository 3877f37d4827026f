//! The table in `docs/errors-at-run-time.md` is this one: the test writes it anew and compares.
//! `UPDATE_DOCS=1 cargo test -p spate-clickhouse the_documented` takes over what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::*;

const BEGIN: &str = "<!-- generated from the codes of the ClickHouse sink -->\n";

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
    let table = table().expect("a String takes everything");
    spate_test::page::is_generated("errors-at-run-time.md", BEGIN, &table);
}
