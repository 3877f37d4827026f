//! The server's error codes that are decided one by one, each by its cause, and what an answer without a code means.
//!
//! The cause decides whether the same block can ever pass, and what a person can do. A code that is not here, such as one of
//! a newer server, is tried again until `retry.give_up_after`: to stop a pipeline for what would have passed costs more than
//! to try in vain for two minutes. `docs/errors-at-run-time.md` lists the codes; a test holds it to this table, and
//! another the names to the engine's.

use spate_runtime::error::ErrorClass;

/// Why a server refused a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// No such database or table, or one of a kind that takes no inserts.
    Table,
    /// The table is being dropped or replaced.
    Replaced,
    /// The columns or types of the block are not the table's.
    Columns,
    /// A row breaks a rule of the table or of a view on it.
    Rows,
    /// One block has rows for more partitions than an insert may have.
    Partitions,
    /// The block is larger than the server takes.
    Limit,
    /// User or password.
    Login,
    /// The user may not do this.
    Grant,
    /// A setting is unknown, forbidden or out of its range.
    Setting,
    /// The server does not understand what the sink sends.
    Request,
    /// Too much to do.
    Overload,
    /// Another server, the network or a state that changes by itself.
    Passing,
    /// Something is wrong inside the server.
    Server,
    /// A code that is not in the table.
    Unknown,
    /// A redirect.
    Redirect,
    /// The port speaks another protocol.
    Port,
    /// There is no ClickHouse at this address.
    Address,
    /// A proxy takes no body of this size.
    ProxyLimit,
    /// A success that no ClickHouse gives to an insert.
    Proxy,
}

use Cause::{
    Address, Columns, Grant, Limit, Login, Overload, Partitions, Passing, Port, Proxy, ProxyLimit,
    Redirect, Replaced, Request, Rows, Server, Setting, Table, Unknown,
};

impl Cause {
    /// Whether the same block can pass later.
    pub(super) fn class(self) -> ErrorClass {
        match self {
            Table | Columns | Rows | Partitions | Limit | Login | Grant | Setting | Request
            | Redirect | Port | Address | ProxyLimit => ErrorClass::Fatal,
            Replaced | Overload | Passing | Server | Unknown | Proxy => ErrorClass::Retryable,
        }
    }

    /// Why, and what a person can do about it.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Table => "create the table, or correct `database` and `table`",
            Replaced => "it is tried again, because a table that is replaced comes back",
            Columns => {
                "the compiled row and the table disagree: compare the row type with SHOW CREATE TABLE, change one of \
                 them and build again"
            }
            Rows => {
                "a row does not pass the table's rules or a view on it, and would not the next time: correct the mapping or \
                 the table"
            }
            Partitions => {
                "the block would have the same partitions the next time: raise `max_partitions_per_insert_block` in \
                 `settings`, write smaller blocks (`batch`), or partition the table more coarsely"
            }
            Limit => "raise the server's limit, or write smaller blocks (`batch`)",
            Login => "correct `user` and `password`, or the user's definition on the server",
            Grant => "GRANT INSERT on the table (and SELECT on system.columns) to the sink's user",
            Setting => "correct the sink's `settings`, or the user's profile on the server",
            Request => "this server does not understand the sink; its log and version say more",
            Overload => {
                "the server has too much to do: fewer and larger blocks (`batch`) help if it stays"
            }
            Passing => "this passes by itself when the servers are healthy",
            Server => "the server's log says more",
            Unknown => {
                "this code is not known to the sink, so it is tried again until `retry.give_up_after`"
            }
            Redirect => "redirects are not followed: give the server's own address in the URL",
            Port => {
                "give the server's port for plain HTTP in the URL (8123 as a rule; 9000 speaks the native protocol, 8443 \
                 and 9440 TLS)"
            }
            Address => "see that the URL leads to ClickHouse, and not to something else",
            ProxyLimit => {
                "a proxy before the server takes no request of this size: raise its limit, or write smaller blocks \
                 (`batch.max_bytes`)"
            }
            Proxy => "see whether a proxy answers in place of the server",
        }
    }
}

/// Overload, unless one block holds too many partitions.
const TOO_MANY_PARTS: u32 = 252;

/// Ordered by code.
#[rustfmt::skip]
const CODES: &[(u32, &str, Cause)] = &[
    (6, "CANNOT_PARSE_TEXT", Rows),
    (7, "INCORRECT_NUMBER_OF_COLUMNS", Columns),
    (8, "THERE_IS_NO_COLUMN", Columns),
    (9, "SIZES_OF_COLUMNS_DOESNT_MATCH", Columns),
    (10, "NOT_FOUND_COLUMN_IN_BLOCK", Columns),
    (15, "DUPLICATE_COLUMN", Columns),
    (16, "NO_SUCH_COLUMN_IN_TABLE", Columns),
    (19, "SIZE_OF_FIXED_STRING_DOESNT_MATCH", Columns),
    (20, "NUMBER_OF_COLUMNS_DOESNT_MATCH", Columns),
    (26, "CANNOT_PARSE_QUOTED_STRING", Rows),
    (27, "CANNOT_PARSE_INPUT_ASSERTION_FAILED", Rows),
    (32, "ATTEMPT_TO_READ_AFTER_EOF", Columns),
    (33, "CANNOT_READ_ALL_DATA", Columns),
    (36, "BAD_ARGUMENTS", Rows),
    (38, "CANNOT_PARSE_DATE", Rows),
    (41, "CANNOT_PARSE_DATETIME", Rows),
    (43, "ILLEGAL_TYPE_OF_ARGUMENT", Columns),
    (44, "ILLEGAL_COLUMN", Columns),
    (46, "UNKNOWN_FUNCTION", Rows),
    (47, "UNKNOWN_IDENTIFIER", Columns),
    (48, "NOT_IMPLEMENTED", Table),
    (50, "UNKNOWN_TYPE", Columns),
    (53, "TYPE_MISMATCH", Columns),
    (60, "UNKNOWN_TABLE", Table),
    (62, "SYNTAX_ERROR", Table),
    (69, "ARGUMENT_OUT_OF_BOUND", Rows),
    (70, "CANNOT_CONVERT_TYPE", Columns),
    (72, "CANNOT_PARSE_NUMBER", Rows),
    (73, "UNKNOWN_FORMAT", Request),
    (80, "INCORRECT_QUERY", Table),
    (81, "UNKNOWN_DATABASE", Table),
    (85, "FORMAT_IS_NOT_SUITABLE_FOR_INPUT", Request),
    (115, "UNKNOWN_SETTING", Setting),
    (117, "INCORRECT_DATA", Columns),
    (120, "CANNOT_INSERT_VALUE_OF_DIFFERENT_SIZE_INTO_TUPLE", Columns),
    (122, "INCOMPATIBLE_COLUMNS", Columns),
    (128, "TOO_LARGE_ARRAY_SIZE", Columns),
    (131, "TOO_LARGE_STRING_SIZE", Columns),
    (158, "TOO_MANY_ROWS", Limit),
    (159, "TIMEOUT_EXCEEDED", Overload),
    (160, "TOO_SLOW", Overload),
    (164, "READONLY", Grant),
    (173, "CANNOT_ALLOCATE_MEMORY", Overload),
    (190, "SIZES_OF_ARRAYS_DONT_MATCH", Rows),
    (192, "UNKNOWN_USER", Login),
    (193, "WRONG_PASSWORD", Login),
    (194, "REQUIRED_PASSWORD", Login),
    (195, "IP_ADDRESS_NOT_ALLOWED", Login),
    (198, "DNS_ERROR", Passing),
    (201, "QUOTA_EXCEEDED", Overload),
    (202, "TOO_MANY_SIMULTANEOUS_QUERIES", Overload),
    (203, "NO_FREE_CONNECTION", Overload),
    (209, "SOCKET_TIMEOUT", Passing),
    (210, "NETWORK_ERROR", Passing),
    (216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", Passing),
    (218, "TABLE_IS_DROPPED", Replaced),
    (225, "NO_ZOOKEEPER", Passing),
    (229, "QUERY_IS_TOO_LARGE", Limit),
    (236, "ABORTED", Passing),
    (241, "MEMORY_LIMIT_EXCEEDED", Overload),
    (242, "TABLE_IS_READ_ONLY", Passing),
    (243, "NOT_ENOUGH_SPACE", Server),
    (244, "UNEXPECTED_ZOOKEEPER_ERROR", Passing),
    (252, "TOO_MANY_PARTS", Overload),
    (254, "NO_ACTIVE_REPLICAS", Passing),
    (265, "NO_AVAILABLE_REPLICA", Passing),
    (279, "ALL_CONNECTION_TRIES_FAILED", Passing),
    (285, "TOO_FEW_LIVE_REPLICAS", Passing),
    (286, "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE", Passing),
    (289, "REPLICA_IS_NOT_IN_QUORUM", Passing),
    (291, "DATABASE_ACCESS_DENIED", Grant),
    (307, "TOO_MANY_BYTES", Limit),
    (319, "UNKNOWN_STATUS_OF_INSERT", Passing),
    (321, "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE", Rows),
    (344, "SUPPORT_IS_DISABLED", Setting),
    (349, "CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN", Rows),
    (364, "RECEIVED_ERROR_TOO_MANY_REQUESTS", Overload),
    (373, "SESSION_IS_LOCKED", Passing),
    (376, "CANNOT_PARSE_UUID", Rows),
    (377, "ILLEGAL_SYNTAX_FOR_DATA_TYPE", Columns),
    (381, "HTTP_LENGTH_REQUIRED", Request),
    (392, "QUERY_IS_PROHIBITED", Grant),
    (394, "QUERY_WAS_CANCELLED", Passing),
    (395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", Rows),
    (396, "TOO_MANY_ROWS_OR_BYTES", Limit),
    (407, "DECIMAL_OVERFLOW", Rows),
    (425, "SYSTEM_ERROR", Server),
    (439, "CANNOT_SCHEDULE_TASK", Overload),
    (441, "CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING", Rows),
    (452, "SETTING_CONSTRAINT_VIOLATION", Setting),
    (456, "UNKNOWN_QUERY_PARAMETER", Request),
    (457, "BAD_QUERY_PARAMETER", Request),
    (467, "CANNOT_PARSE_BOOL", Rows),
    (469, "VIOLATED_CONSTRAINT", Rows),
    (471, "INVALID_SETTING_VALUE", Setting),
    (472, "READONLY_SETTING", Setting),
    (473, "DEADLOCK_AVOIDED", Passing),
    (492, "ACCESS_ENTITY_NOT_FOUND", Login),
    (496, "QUOTA_REQUIRES_CLIENT_KEY", Setting),
    (497, "ACCESS_DENIED", Grant),
    (499, "S3_ERROR", Passing),
    (511, "UNKNOWN_ROLE", Setting),
    (512, "SET_NON_GRANTED_ROLE", Grant),
    (516, "AUTHENTICATION_FAILED", Login),
    (519, "NO_REMOTE_SHARD_AVAILABLE", Passing),
    (571, "DATABASE_REPLICATION_FAILED", Passing),
    (574, "DISTRIBUTED_TOO_MANY_PENDING_BYTES", Overload),
    (578, "INVALID_FORMAT_INSERT_QUERY_WITH_DATA", Request),
    (620, "QUERY_NOT_ALLOWED", Grant),
    (675, "CANNOT_PARSE_IPV4", Rows),
    (676, "CANNOT_PARSE_IPV6", Rows),
    (691, "UNKNOWN_ELEMENT_OF_ENUM", Rows),
    (692, "TOO_MANY_MUTATIONS", Overload),
    (700, "USER_SESSION_LIMIT_EXCEEDED", Overload),
    (720, "USER_EXPIRED", Login),
    (722, "ASYNC_LOAD_WAIT_FAILED", Passing),
    (728, "UNEXPECTED_DATA_TYPE", Columns),
    (733, "TABLE_IS_BEING_RESTARTED", Passing),
    (734, "CANNOT_WRITE_AFTER_BUFFER_CANCELED", Passing),
    (735, "QUERY_WAS_CANCELLED_BY_CLIENT", Passing),
    (745, "SERVER_OVERLOADED", Overload),
    (749, "TCP_CONNECTION_LIMIT_REACHED", Overload),
    (762, "HTTP_CONNECTION_LIMIT_REACHED", Overload),
    (764, "DEDUPLICATION_IS_NOT_POSSIBLE", Setting),
    (767, "REQUIRED_SECOND_FACTOR", Login),
    (772, "INCOMPATIBLE_SCHEMA", Columns),
    (774, "TABLE_IS_PERMANENTLY_READ_ONLY", Table),
    (999, "KEEPER_EXCEPTION", Passing),
    (1000, "POCO_EXCEPTION", Server),
    (1001, "STD_EXCEPTION", Server),
    (1002, "UNKNOWN_EXCEPTION", Server),
];

fn entry(code: u32) -> Option<&'static (u32, &'static str, Cause)> {
    CODES
        .binary_search_by_key(&code, |entry| entry.0)
        .ok()
        .map(|at| &CODES[at])
}

/// The name of a code that is in the table.
pub(super) fn name(code: u32) -> Option<&'static str> {
    entry(code).map(|entry| entry.1)
}

/// The cause of an answer with this error: by its code, and without one by its HTTP status and text.
pub(super) fn cause(code: Option<u32>, status: u16, text: &str) -> Cause {
    let Some(code) = code else {
        return without_code(status, text);
    };
    // The same block has the same partitions next time.
    if code == TOO_MANY_PARTS && text.contains("partitions for single INSERT block") {
        return Partitions;
    }
    entry(code).map_or(Unknown, |entry| entry.2)
}

/// ClickHouse tells a code in every error, so this is somebody else's answer, or that of another port of it.
fn without_code(status: u16, text: &str) -> Cause {
    match status {
        400 if text.contains("is for clickhouse-client program")
            || text.contains("sent to HTTPS port") =>
        {
            Port
        }
        401 => Login,
        403 => Grant,
        408 | 429 => Overload,
        413 => ProxyLimit,
        200..=299 => Proxy,
        300..=399 => Redirect,
        500..=599 => Server,
        _ => Address,
    }
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests;
