//! The section `sink`: what is refused, with the path of the setting and never with its value.

mod support;

use spate_runtime::sink::Column;
use support::{COLUMNS, try_open};

const URL: &str = "url: http://127.0.0.1:1";

fn error_of(section: &str) -> String {
    match try_open(&format!("sink: {{ {section} }}"), COLUMNS) {
        Ok(_) => panic!("accepted: {section}"),
        Err(error) => error.to_string(),
    }
}

fn refused(section: &str, path: &str, why: &str) {
    let error = error_of(section);
    assert!(
        error.contains(&format!(" {path}: ")) && error.contains(why),
        "{section}: {error}"
    );
}

#[test]
fn the_smallest_section_is_a_url_and_a_table() {
    assert!(try_open(&format!("sink: {{ {URL}, table: orders }}"), COLUMNS).is_ok());
}

#[test]
fn one_of_url_and_shards_is_set_and_names_each_server_once() {
    refused("table: t", "sink.url", "missing");
    refused(
        &format!("{URL}, shards: [{{ {URL} }}], table: t"),
        "sink.shards",
        "both set",
    );
    refused("shards: [], table: t", "sink.shards", "no shard");
    refused(
        &format!("shards: [{{ {URL} }}, {{ {URL} }}], table: t"),
        "sink.shards[1].url",
        "shard 0",
    );
    refused(
        &format!("shards: [{{ {URL}, weight: 2 }}], table: t"),
        "sink.shards[0].weight",
        "unknown key",
    );
}

#[test]
fn a_url_is_plain_http_without_credentials_query_or_fragment() {
    for (url, why) in [
        ("https://ch:8443", "TLS is not available yet"),
        ("http://etl:s3cret@ch:8123", "`user` and `password`"),
        ("http://ch:8123/?database=shop", "`settings`"),
        ("http://ch:8123/#x", "`settings`"),
        ("ch:8123", "http://host:8123"),
        ("tcp://ch:9000", "http://host:8123"),
        ("'http://'", "http://host:8123"),
        ("'http://a b'", "http://host:8123"),
        ("''", "http://host:8123"),
    ] {
        refused(&format!("url: {url}, table: t"), "sink.url", why);
    }
    for url in [
        "http://ch",
        "http://ch:8123/",
        "'http://[::1]:8123'",
        "http://proxy/clickhouse",
        "'http://ch:8123 '",
    ] {
        assert!(
            try_open(&format!("sink: {{ url: {url}, table: t }}"), COLUMNS).is_ok(),
            "{url}"
        );
    }
}

#[test]
fn no_error_shows_a_value() {
    for section in [
        "url: http://etl:hidden@ch:8123, table: t".to_owned(),
        "url: 'hidden', table: t".to_owned(),
        format!("{URL}, table: 'hidden`'"),
        format!("{URL}, table: hidden.t"),
        format!("{URL}, table: t, database: \"hidden'\""),
        format!("{URL}, table: t, password: \"hidden\\n\""),
        format!("{URL}, table: t, settings: {{ async_insert: hidden }}"),
        format!("{URL}, table: t, timeouts: {{ end: hidden }}"),
    ] {
        let error = error_of(&section);
        assert!(!error.contains("hidden"), "{error}");
    }
}

#[test]
fn names_are_given_without_quotes_and_apart() {
    refused(URL, "sink.table", "table = ");
    refused(&format!("{URL}, table: ''"), "sink.table", "empty");
    refused(
        &format!("{URL}, table: shop.orders"),
        "sink.table",
        "`database`",
    );
    for name in ["'`t`'", "\"'t'\"", "'t\\'", "\"t\\n\"", "'\"t\"'"] {
        refused(&format!("{URL}, table: {name}"), "sink.table", "quotes");
        refused(
            &format!("{URL}, table: t, database: {name}"),
            "sink.database",
            "quotes",
        );
    }
    assert!(
        try_open(
            &format!("sink: {{ {URL}, table: 'orders-2026 é', database: 1shop }}"),
            COLUMNS
        )
        .is_ok()
    );
}

#[test]
fn settings_that_would_break_delivery_are_refused_with_the_reason() {
    for (name, why) in [
        ("insert_deduplication_token", "token"),
        ("insert_deduplicate", "token"),
        ("deduplicate_insert", "token"),
        ("wait_end_of_query", "ended"),
        ("async_insert", "stored"),
        ("wait_for_async_insert", "stored"),
        ("ASYNC_INSERT", "stored"),
        ("input_format_with_names_use_header", "names"),
        ("input_format_with_types_use_header", "types"),
        ("input_format_skip_unknown_fields", "left out"),
        ("input_format_allow_errors_num", "left out"),
        ("input_format_allow_errors_ratio", "left out"),
        ("database", "`database`"),
        ("password", "`password`"),
        ("query_id", "id"),
        ("session_id", "session"),
        ("compress", "uncompressed"),
        ("param_x", "parameters"),
    ] {
        refused(
            &format!("{URL}, table: t, settings: {{ {name}: 1 }}"),
            &format!("sink.settings.{name}"),
            why,
        );
    }
    refused(
        &format!("{URL}, table: t, settings: {{ 'a&b': 1 }}"),
        "sink.settings",
        "letters",
    );
    assert!(
        try_open(
            &format!(
                "sink: {{ {URL}, table: t, settings: {{ insert_quorum: 2, log_comment: a&b }} }}"
            ),
            COLUMNS
        )
        .is_ok()
    );
}

#[test]
fn timeouts_have_units_and_are_not_zero() {
    refused(
        &format!("{URL}, table: t, timeouts: {{ send: 0s }}"),
        "sink.timeouts.send",
        "at least 1ms",
    );
    refused(
        &format!("{URL}, table: t, timeouts: {{ end: 5 }}"),
        "sink.timeouts.end",
        "unit",
    );
    refused(
        &format!("{URL}, table: t, timeouts: {{ read: 5s }}"),
        "sink.timeouts.read",
        "unknown key",
    );
    refused(
        &format!("{URL}, table: t, timeout: {{ }}"),
        "sink.timeout",
        "timeouts",
    );
}

#[test]
fn a_row_without_columns_or_with_one_twice_is_refused() {
    const TWICE: &[Column] = &[
        Column {
            name: "a",
            ty: "UInt8",
        },
        Column {
            name: "a",
            ty: "String",
        },
    ];
    let yaml = format!("sink: {{ {URL}, table: t }}");
    for (columns, why) in [(&[][..], "no columns"), (TWICE, "`a` twice")] {
        let Err(error) = try_open(&yaml, columns) else {
            panic!("accepted")
        };
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn a_statement_that_no_url_can_hold_is_refused_at_start() {
    let name: &'static str = "c".repeat(70_000).leak();
    let columns: &'static [Column] = vec![Column { name, ty: "UInt8" }].leak();
    let Err(error) = try_open(&format!("sink: {{ {URL}, table: t }}"), columns) else {
        panic!("accepted")
    };
    assert!(error.to_string().contains("does not fit a URL"), "{error}");
}
