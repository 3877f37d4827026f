//! The server's settings that a user may send with every insert, and those that would break what the sink promises.

use std::collections::BTreeMap;

use spate_runtime::config::{ConfigError, Section};

/// Settings that the sink sends itself or that would break what it promises, and why.
const RESERVED: &[(&str, &str)] = &[
    ("insert_deduplication_token", "each block has its own token"),
    (
        "insert_deduplicate",
        "a repeated block must be recognised by its token",
    ),
    (
        "deduplicate_insert",
        "a repeated block must be recognised by its token",
    ),
    (
        "wait_end_of_query",
        "a block counts as written when the whole insert has ended, and not before",
    ),
    (
        "http_wait_end_of_query",
        "a block counts as written when the whole insert has ended, and not before",
    ),
    (
        "async_insert",
        "a block counts as written when it is stored, not when it is queued",
    ),
    (
        "wait_for_async_insert",
        "a block counts as written when it is stored, not when it is queued",
    ),
    (
        "input_format_with_names_use_header",
        "it makes the server compare the row's column names with the table",
    ),
    (
        "input_format_with_types_use_header",
        "it makes the server compare the row's column types with the table",
    ),
    (
        "input_format_skip_unknown_fields",
        "a column that the table lacks must be an error, not left out",
    ),
    (
        "input_format_binary_decode_types_in_binary_format",
        "the row's types are sent as text",
    ),
    (
        "input_format_allow_errors_num",
        "a row that the server cannot read must be an error, not left out",
    ),
    (
        "input_format_allow_errors_ratio",
        "a row that the server cannot read must be an error, not left out",
    ),
    (
        "http_write_exception_in_output_format",
        "errors are read as text",
    ),
    ("enable_http_compression", "answers are read uncompressed"),
    ("compress", "answers are read uncompressed"),
    ("decompress", "blocks are sent uncompressed"),
    ("query", "the sink writes the statement itself"),
    (
        "query_id",
        "statements that run at the same time cannot share one id",
    ),
    ("session_id", "shards and retries cannot share one session"),
    (
        "session_check",
        "shards and retries cannot share one session",
    ),
    (
        "session_timeout",
        "shards and retries cannot share one session",
    ),
    ("default_format", "the statement names the format"),
    ("database", "set `database` in the section itself"),
    ("user", "set `user` in the section itself"),
    ("password", "set `password` in the section itself"),
];

/// Refuses what may not be set.
pub(super) fn check(
    section: &Section,
    settings: &BTreeMap<String, String>,
) -> Result<(), ConfigError> {
    let reserved: BTreeMap<&str, &str> = RESERVED.iter().copied().collect();
    for name in settings.keys() {
        let key = format!("settings.{name}");
        if let Some(why) = reserved.get(name.to_ascii_lowercase().as_str()) {
            return Err(section.error(&key, format!("cannot be set: {why}")));
        }
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(section.error("settings", "names of settings are letters, digits and `_`"));
        }
        if name.starts_with("param_") {
            return Err(section.error(&key, "cannot be set: the statement has no parameters"));
        }
    }
    Ok(())
}
