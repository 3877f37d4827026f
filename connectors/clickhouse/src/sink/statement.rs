//! What is sent: the URL parameters of an insert and of the start-up check, quoted names, the header of a block.

use std::collections::BTreeMap;

use form_urlencoded::Serializer;
use spate_runtime::sink::Column;

use crate::config::Config;

/// Sent with every statement, before the user's settings, which cannot contain them.
const FIXED: &[(&str, &str)] = &[
    ("wait_end_of_query", "1"),
    ("async_insert", "0"),
    ("input_format_with_names_use_header", "1"),
    ("input_format_with_types_use_header", "1"),
    ("input_format_skip_unknown_fields", "0"),
];

/// The format of a block.
const FORMAT: &str = "RowBinaryWithNamesAndTypes";

/// The longest query string: the client library's URLs end at 65,534 bytes, and the token has to fit too.
pub(super) const MAX_QUERY: usize = 60_000;

/// The parameters of every insert but its token.
pub(super) fn insert(config: &Config, columns: &[Column]) -> String {
    let columns: Vec<String> = columns.iter().map(|column| quoted(column.name)).collect();
    let (database, table) = (quoted(&config.database), quoted(&config.table));
    let statement = format!(
        "INSERT INTO {database}.{table} ({}) FORMAT {FORMAT}",
        columns.join(", ")
    );
    parameters(
        &config.settings,
        &[("query", &statement), ("database", &config.database)],
    )
}

/// The parameters of an insert with its token.
pub(super) fn with_token(insert: &str, token: &str) -> String {
    let mut parameters = Serializer::new(insert.to_owned());
    parameters.append_pair("insert_deduplication_token", token);
    parameters.finish()
}

/// The parameters of a query for the table's columns: name, type and kind of default, as RowBinary.
///
/// They carry the settings of an insert, so that one that the server does not take is found at start.
pub(super) fn columns(config: &Config) -> String {
    about_table(
        config,
        "SELECT name, type, default_kind FROM system.columns \
         WHERE database = {database:String} AND table = {table:String} ORDER BY position \
         FORMAT RowBinary",
    )
}

/// The parameters of a query for what decides about deduplication, as RowBinary: the table's engine and its full definition,
/// the server's default windows, and the user's settings. A scalar query is nullable whatever it selects, so NULL is taken out around it.
pub(super) fn tokens(config: &Config) -> String {
    about_table(
        config,
        "SELECT engine, engine_full, \
         ifNull((SELECT any(value) FROM system.merge_tree_settings WHERE name = 'non_replicated_deduplication_window'), ''), \
         ifNull((SELECT any(value) FROM system.replicated_merge_tree_settings \
         WHERE name = 'replicated_deduplication_window'), ''), \
         ifNull((SELECT any(value) FROM system.settings WHERE name = 'deduplicate_insert'), ''), \
         ifNull((SELECT any(value) FROM system.settings WHERE name = 'insert_deduplicate'), '') \
         FROM system.tables WHERE database = {database:String} AND name = {table:String} \
         FORMAT RowBinary",
    )
}

fn about_table(config: &Config, statement: &str) -> String {
    parameters(
        &config.settings,
        &[
            ("query", statement),
            ("database", &config.database),
            ("param_database", &config.database),
            ("param_table", &config.table),
        ],
    )
}

fn parameters(settings: &BTreeMap<String, String>, first: &[(&str, &str)]) -> String {
    let settings = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let all = first
        .iter()
        .copied()
        .chain(FIXED.iter().copied())
        .chain(settings);
    Serializer::new(String::new()).extend_pairs(all).finish()
}

/// A name as the statement has it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// The header of a block: the number of columns, their names, their types.
pub(super) fn header<'a>(columns: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Vec<u8> {
    let mut header = Vec::new();
    length(&mut header, columns.clone().count());
    for text in columns
        .clone()
        .map(|column| column.0)
        .chain(columns.map(|column| column.1))
    {
        length(&mut header, text.len());
        header.extend_from_slice(text.as_bytes());
    }
    header
}

/// An unsigned LEB128 number.
fn length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}
