//! The server's error codes that are decided one by one: whether the same block can ever pass, and what to do about it.
//!
//! A code that is not here is judged by the HTTP status alone (`class`). Names are those of the server's own list; a test
//! against the engine compares them.

use spate_runtime::error::ErrorClass;

/// What a person can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advice {
    Table,
    Columns,
    Login,
    Grant,
    Setting,
    Rows,
    Limit,
    Partitions,
    Overload,
    Passing,
    Log,
}

impl Advice {
    pub(super) fn text(self) -> &'static str {
        match self {
            Advice::Table => "create the table, or correct `database` and `table`",
            Advice::Columns => {
                "the compiled row and the table disagree: compare the row type with SHOW CREATE TABLE, change one of \
                 them and build again"
            }
            Advice::Login => {
                "correct `user` and `password`, or the user's definition on the server"
            }
            Advice::Grant => {
                "GRANT INSERT on the table (and SELECT on system.columns) to the sink's user"
            }
            Advice::Setting => "correct the sink's `settings`, or the user's profile on the server",
            Advice::Rows => {
                "a row does not pass the table's rules or a view on it: correct the mapping or the table"
            }
            Advice::Limit => "raise the server's limit, or write smaller blocks (`batch`)",
            Advice::Partitions => {
                "raise `max_partitions_per_insert_block` in `settings`, write smaller blocks (`batch`), or partition \
                 the table more coarsely"
            }
            Advice::Overload => {
                "the server has too much to do: fewer and larger blocks (`batch`) help if it stays"
            }
            Advice::Passing => "this passes by itself when the servers are healthy",
            Advice::Log => "the server's log says more",
        }
    }
}

use Advice::{Columns, Grant, Limit, Log, Login, Overload, Passing, Rows, Setting, Table};
use ErrorClass::{Fatal, Retryable};

/// TOO_MANY_PARTS: overload, unless one block holds too many partitions.
const TOO_MANY_PARTS: u32 = 252;

/// Ordered by code.
const CODES: &[(u32, &str, ErrorClass, Advice)] = &[
    (6, "CANNOT_PARSE_TEXT", Fatal, Rows),
    (7, "INCORRECT_NUMBER_OF_COLUMNS", Fatal, Columns),
    (8, "THERE_IS_NO_COLUMN", Fatal, Columns),
    (9, "SIZES_OF_COLUMNS_DOESNT_MATCH", Fatal, Columns),
    (10, "NOT_FOUND_COLUMN_IN_BLOCK", Fatal, Columns),
    (15, "DUPLICATE_COLUMN", Fatal, Columns),
    (16, "NO_SUCH_COLUMN_IN_TABLE", Fatal, Columns),
    (19, "SIZE_OF_FIXED_STRING_DOESNT_MATCH", Fatal, Columns),
    (20, "NUMBER_OF_COLUMNS_DOESNT_MATCH", Fatal, Columns),
    (26, "CANNOT_PARSE_QUOTED_STRING", Fatal, Rows),
    (27, "CANNOT_PARSE_INPUT_ASSERTION_FAILED", Fatal, Rows),
    (32, "ATTEMPT_TO_READ_AFTER_EOF", Fatal, Columns),
    (33, "CANNOT_READ_ALL_DATA", Fatal, Columns),
    (36, "BAD_ARGUMENTS", Fatal, Rows),
    (38, "CANNOT_PARSE_DATE", Fatal, Rows),
    (41, "CANNOT_PARSE_DATETIME", Fatal, Rows),
    (43, "ILLEGAL_TYPE_OF_ARGUMENT", Fatal, Columns),
    (44, "ILLEGAL_COLUMN", Fatal, Columns),
    (46, "UNKNOWN_FUNCTION", Fatal, Rows),
    (47, "UNKNOWN_IDENTIFIER", Fatal, Columns),
    (48, "NOT_IMPLEMENTED", Fatal, Table),
    (50, "UNKNOWN_TYPE", Fatal, Columns),
    (53, "TYPE_MISMATCH", Fatal, Columns),
    (60, "UNKNOWN_TABLE", Fatal, Table),
    (62, "SYNTAX_ERROR", Fatal, Table),
    (69, "ARGUMENT_OUT_OF_BOUND", Fatal, Rows),
    (70, "CANNOT_CONVERT_TYPE", Fatal, Columns),
    (72, "CANNOT_PARSE_NUMBER", Fatal, Rows),
    (73, "UNKNOWN_FORMAT", Fatal, Log),
    (80, "INCORRECT_QUERY", Fatal, Table),
    (81, "UNKNOWN_DATABASE", Fatal, Table),
    (85, "FORMAT_IS_NOT_SUITABLE_FOR_INPUT", Fatal, Log),
    (115, "UNKNOWN_SETTING", Fatal, Setting),
    (117, "INCORRECT_DATA", Fatal, Columns),
    (
        120,
        "CANNOT_INSERT_VALUE_OF_DIFFERENT_SIZE_INTO_TUPLE",
        Fatal,
        Columns,
    ),
    (122, "INCOMPATIBLE_COLUMNS", Fatal, Columns),
    (128, "TOO_LARGE_ARRAY_SIZE", Fatal, Columns),
    (131, "TOO_LARGE_STRING_SIZE", Fatal, Columns),
    (158, "TOO_MANY_ROWS", Fatal, Limit),
    (159, "TIMEOUT_EXCEEDED", Retryable, Overload),
    (160, "TOO_SLOW", Retryable, Overload),
    (164, "READONLY", Fatal, Grant),
    (173, "CANNOT_ALLOCATE_MEMORY", Retryable, Overload),
    (190, "SIZES_OF_ARRAYS_DONT_MATCH", Fatal, Rows),
    (192, "UNKNOWN_USER", Fatal, Login),
    (193, "WRONG_PASSWORD", Fatal, Login),
    (194, "REQUIRED_PASSWORD", Fatal, Login),
    (195, "IP_ADDRESS_NOT_ALLOWED", Fatal, Login),
    (198, "DNS_ERROR", Retryable, Passing),
    (201, "QUOTA_EXCEEDED", Retryable, Overload),
    (202, "TOO_MANY_SIMULTANEOUS_QUERIES", Retryable, Overload),
    (203, "NO_FREE_CONNECTION", Retryable, Overload),
    (209, "SOCKET_TIMEOUT", Retryable, Passing),
    (210, "NETWORK_ERROR", Retryable, Passing),
    (
        216,
        "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
        Retryable,
        Passing,
    ),
    (218, "TABLE_IS_DROPPED", Retryable, Table),
    (225, "NO_ZOOKEEPER", Retryable, Passing),
    (229, "QUERY_IS_TOO_LARGE", Fatal, Limit),
    (236, "ABORTED", Retryable, Passing),
    (241, "MEMORY_LIMIT_EXCEEDED", Retryable, Overload),
    (242, "TABLE_IS_READ_ONLY", Retryable, Passing),
    (243, "NOT_ENOUGH_SPACE", Retryable, Log),
    (244, "UNEXPECTED_ZOOKEEPER_ERROR", Retryable, Passing),
    (TOO_MANY_PARTS, "TOO_MANY_PARTS", Retryable, Overload),
    (254, "NO_ACTIVE_REPLICAS", Retryable, Passing),
    (265, "NO_AVAILABLE_REPLICA", Retryable, Passing),
    (279, "ALL_CONNECTION_TRIES_FAILED", Retryable, Passing),
    (285, "TOO_FEW_LIVE_REPLICAS", Retryable, Passing),
    (
        286,
        "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE",
        Retryable,
        Passing,
    ),
    (289, "REPLICA_IS_NOT_IN_QUORUM", Retryable, Passing),
    (291, "DATABASE_ACCESS_DENIED", Fatal, Grant),
    (307, "TOO_MANY_BYTES", Fatal, Limit),
    (319, "UNKNOWN_STATUS_OF_INSERT", Retryable, Passing),
    (321, "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE", Fatal, Rows),
    (344, "SUPPORT_IS_DISABLED", Fatal, Setting),
    (349, "CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN", Fatal, Rows),
    (364, "RECEIVED_ERROR_TOO_MANY_REQUESTS", Retryable, Overload),
    (373, "SESSION_IS_LOCKED", Retryable, Passing),
    (376, "CANNOT_PARSE_UUID", Fatal, Rows),
    (377, "ILLEGAL_SYNTAX_FOR_DATA_TYPE", Fatal, Columns),
    (381, "HTTP_LENGTH_REQUIRED", Fatal, Log),
    (392, "QUERY_IS_PROHIBITED", Fatal, Grant),
    (394, "QUERY_WAS_CANCELLED", Retryable, Passing),
    (395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", Fatal, Rows),
    (396, "TOO_MANY_ROWS_OR_BYTES", Fatal, Limit),
    (407, "DECIMAL_OVERFLOW", Fatal, Rows),
    (425, "SYSTEM_ERROR", Retryable, Log),
    (439, "CANNOT_SCHEDULE_TASK", Retryable, Overload),
    (441, "CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING", Fatal, Rows),
    (452, "SETTING_CONSTRAINT_VIOLATION", Fatal, Setting),
    (456, "UNKNOWN_QUERY_PARAMETER", Fatal, Log),
    (457, "BAD_QUERY_PARAMETER", Fatal, Log),
    (467, "CANNOT_PARSE_BOOL", Fatal, Rows),
    (469, "VIOLATED_CONSTRAINT", Fatal, Rows),
    (471, "INVALID_SETTING_VALUE", Fatal, Setting),
    (472, "READONLY_SETTING", Fatal, Setting),
    (473, "DEADLOCK_AVOIDED", Retryable, Passing),
    (492, "ACCESS_ENTITY_NOT_FOUND", Fatal, Login),
    (496, "QUOTA_REQUIRES_CLIENT_KEY", Fatal, Setting),
    (497, "ACCESS_DENIED", Fatal, Grant),
    (499, "S3_ERROR", Retryable, Passing),
    (511, "UNKNOWN_ROLE", Fatal, Setting),
    (512, "SET_NON_GRANTED_ROLE", Fatal, Grant),
    (516, "AUTHENTICATION_FAILED", Fatal, Login),
    (519, "NO_REMOTE_SHARD_AVAILABLE", Retryable, Passing),
    (571, "DATABASE_REPLICATION_FAILED", Retryable, Passing),
    (
        574,
        "DISTRIBUTED_TOO_MANY_PENDING_BYTES",
        Retryable,
        Overload,
    ),
    (578, "INVALID_FORMAT_INSERT_QUERY_WITH_DATA", Fatal, Log),
    (620, "QUERY_NOT_ALLOWED", Fatal, Grant),
    (675, "CANNOT_PARSE_IPV4", Fatal, Rows),
    (676, "CANNOT_PARSE_IPV6", Fatal, Rows),
    (691, "UNKNOWN_ELEMENT_OF_ENUM", Fatal, Rows),
    (692, "TOO_MANY_MUTATIONS", Retryable, Overload),
    (700, "USER_SESSION_LIMIT_EXCEEDED", Retryable, Overload),
    (720, "USER_EXPIRED", Fatal, Login),
    (722, "ASYNC_LOAD_WAIT_FAILED", Retryable, Passing),
    (728, "UNEXPECTED_DATA_TYPE", Fatal, Columns),
    (733, "TABLE_IS_BEING_RESTARTED", Retryable, Passing),
    (
        734,
        "CANNOT_WRITE_AFTER_BUFFER_CANCELED",
        Retryable,
        Passing,
    ),
    (735, "QUERY_WAS_CANCELLED_BY_CLIENT", Retryable, Passing),
    (745, "SERVER_OVERLOADED", Retryable, Overload),
    (749, "TCP_CONNECTION_LIMIT_REACHED", Retryable, Overload),
    (762, "HTTP_CONNECTION_LIMIT_REACHED", Retryable, Overload),
    (764, "DEDUPLICATION_IS_NOT_POSSIBLE", Fatal, Setting),
    (767, "REQUIRED_SECOND_FACTOR", Fatal, Login),
    (772, "INCOMPATIBLE_SCHEMA", Fatal, Columns),
    (774, "TABLE_IS_PERMANENTLY_READ_ONLY", Fatal, Table),
    (999, "KEEPER_EXCEPTION", Retryable, Passing),
    (1000, "POCO_EXCEPTION", Retryable, Log),
    (1001, "STD_EXCEPTION", Retryable, Log),
    (1002, "UNKNOWN_EXCEPTION", Retryable, Log),
];

fn entry(code: u32) -> Option<&'static (u32, &'static str, ErrorClass, Advice)> {
    CODES
        .binary_search_by_key(&code, |entry| entry.0)
        .ok()
        .map(|at| &CODES[at])
}

/// The name of a code that is in the table.
pub(super) fn name(code: u32) -> Option<&'static str> {
    entry(code).map(|entry| entry.1)
}

/// Whether an answer with this error can be followed by a success of the same block, and what to do about it.
///
/// Decided by the code; a code that is not in the table, or none, by the HTTP status: a server's fault (5xx, and 200, where
/// an error came after the status was sent) may pass, everything else will not.
pub(super) fn class(code: Option<u32>, status: u16, text: &str) -> (ErrorClass, Advice) {
    // The same block has the same partitions next time.
    if code == Some(TOO_MANY_PARTS) && text.contains("partitions for single INSERT block") {
        return (Fatal, Advice::Partitions);
    }
    if let Some(&(_, _, class, advice)) = code.and_then(entry) {
        return (class, advice);
    }
    match status {
        401 => (Fatal, Login),
        403 => (Fatal, Grant),
        408 | 429 => (Retryable, Overload),
        200..=299 | 500..=599 => (Retryable, Log),
        _ => (Fatal, Log),
    }
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_ordered_and_has_each_code_once() {
        assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn every_code_has_the_class_that_was_decided_for_it() {
        let fatal = [
            6, 15, 16, 20, 27, 33, 47, 53, 60, 62, 73, 81, 115, 117, 164, 192, 193, 194, 321, 349,
            452, 469, 471, 497, 516,
        ];
        let retryable = [
            159, 202, 209, 210, 225, 236, 241, 242, 252, 285, 286, 319, 425, 439, 499, 692, 745,
            999, 1000, 1002,
        ];
        for status in [200, 400, 403, 404, 500, 503] {
            for code in fatal {
                assert_eq!(
                    class(Some(code), status, "").0,
                    Fatal,
                    "{code} with {status}"
                );
            }
            for code in retryable {
                assert_eq!(
                    class(Some(code), status, "").0,
                    Retryable,
                    "{code} with {status}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_code_is_judged_by_the_status() {
        for code in [None, Some(0), Some(98_765)] {
            for (status, expected) in [
                (200, Retryable),
                (500, Retryable),
                (502, Retryable),
                (503, Retryable),
                (504, Retryable),
                (408, Retryable),
                (429, Retryable),
                (400, Fatal),
                (401, Fatal),
                (403, Fatal),
                (404, Fatal),
                (411, Fatal),
                (413, Fatal),
                (301, Fatal),
            ] {
                assert_eq!(
                    class(code, status, "").0,
                    expected,
                    "{code:?} with {status}"
                );
            }
        }
    }

    #[test]
    fn too_many_partitions_of_one_block_is_fatal_and_names_the_setting() {
        let text = "Too many partitions for single INSERT block (more than 100).";
        let (class, advice) = class(Some(252), 500, text);
        assert_eq!(class, Fatal);
        assert!(advice.text().contains("max_partitions_per_insert_block"));
    }

    #[test]
    fn names_are_those_of_the_engine() {
        use spate_test::services::{ClickHouse, ClickHouseOptions};
        // The pinned engine: names differ between versions.
        let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
            return;
        };
        let numbers: Vec<String> = CODES.iter().map(|entry| entry.0.to_string()).collect();
        let sql = format!(
            "SELECT c, errorCodeToName(c) FROM (SELECT toInt64(arrayJoin([{}])) AS c) ORDER BY c",
            numbers.join(",")
        );
        let expected: Vec<String> = CODES
            .iter()
            .map(|entry| format!("{}\t{}", entry.0, entry.1))
            .collect();
        let answer = server.query(&sql).expect("an answer");
        for (engine, table) in answer.lines().zip(&expected) {
            assert_eq!(engine, table);
        }
        assert_eq!(answer.lines().count(), expected.len());
    }
}
