//! Whole pipelines against an embedded Kafka broker, a registry and ClickHouse: what they promise while all goes well, and
//! what they promise when it does not.

mod bad_input;
mod broker;
mod clickhouse;
mod command_line;
mod group;
mod happy;
mod membership;
mod process;
mod registry;
mod table;

use spate::ExitReport;

/// The failure of a run that had to fail, with its place.
fn failure(report: &ExitReport) -> String {
    assert_eq!(report.exit_code(), 1, "{report}");
    report
        .failure()
        .unwrap_or_else(|| panic!("no failure: {report}"))
        .to_string()
}

/// `text` has every one of these parts.
fn assert_names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}
