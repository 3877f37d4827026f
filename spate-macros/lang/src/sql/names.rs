//! The names of the server's types: which rows can be written to, which for later, which are other spellings.

use crate::diagnostic::suggest;

/// Types without parameters.
pub(super) const PLAIN: [&str; 15] = [
    "Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32",
    "Float64", "String", "Date", "Date32", "UUID",
];

/// Types with parameters that rows can be written to.
const WITH_PARAMETERS: [&str; 11] = [
    "FixedString",
    "DateTime",
    "DateTime64",
    "Nullable",
    "LowCardinality",
    "Array",
    "Decimal",
    "Decimal32",
    "Decimal64",
    "Decimal128",
    "Decimal256",
];

/// Types of the server that rows cannot be written to yet, and spellings of types that it knows besides. A name that is like one
/// that is known, and not one of these, is a slip.
const LATER: [&str; 68] = [
    "AggregateFunction",
    "BFloat16",
    "BINARY",
    "BIT",
    "BYTE",
    "BYTEA",
    "CHARACTER",
    "CLOB",
    "DateTime32",
    "DEC",
    "Dynamic",
    "Enum",
    "Enum16",
    "Enum8",
    "FIXED",
    "Geometry",
    "INET4",
    "INET6",
    "Int128",
    "Int256",
    "IntervalDay",
    "IntervalHour",
    "IntervalMicrosecond",
    "IntervalMillisecond",
    "IntervalMinute",
    "IntervalMonth",
    "IntervalNanosecond",
    "IntervalQuarter",
    "IntervalSecond",
    "IntervalWeek",
    "IntervalYear",
    "IPv4",
    "IPv6",
    "JSON",
    "LineString",
    "LONGBLOB",
    "LONGTEXT",
    "Map",
    "MEDIUMBLOB",
    "MEDIUMINT",
    "MEDIUMTEXT",
    "MultiLineString",
    "MultiPolygon",
    "NCHAR",
    "Nested",
    "Nothing",
    "NUMERIC",
    "NVARCHAR",
    "Object",
    "Point",
    "Polygon",
    "QBit",
    "Ring",
    "SET",
    "SIGNED",
    "SimpleAggregateFunction",
    "Time",
    "Time64",
    "TINYBLOB",
    "TINYTEXT",
    "Tuple",
    "UInt128",
    "UInt256",
    "UNSIGNED",
    "VARBINARY",
    "VARCHAR2",
    "Variant",
    "YEAR",
];

/// A type's name that is nearly one of the server's: the one that was meant. The server takes some of those for later in any case.
pub(super) fn slip(name: &str) -> Option<&'static str> {
    if LATER.iter().any(|later| name.eq_ignore_ascii_case(later)) {
        return None;
    }
    suggest(name, PLAIN.into_iter().chain(WITH_PARAMETERS).chain(LATER))
}

/// Spellings that the server translates, in lower case.
pub(super) const ALIASES: [(&str, &str); 26] = [
    ("bigint", "Int64"),
    ("blob", "String"),
    ("bool", "Bool"),
    ("boolean", "Bool"),
    ("char", "String"),
    ("date", "Date"),
    ("date32", "Date32"),
    ("datetime", "DateTime"),
    ("datetime64", "DateTime64"),
    ("decimal", "Decimal"),
    ("decimal32", "Decimal32"),
    ("decimal64", "Decimal64"),
    ("decimal128", "Decimal128"),
    ("decimal256", "Decimal256"),
    ("double", "Float64"),
    ("float", "Float32"),
    ("int", "Int32"),
    ("int1", "Int8"),
    ("integer", "Int32"),
    ("real", "Float32"),
    ("smallint", "Int16"),
    ("text", "String"),
    ("timestamp", "DateTime"),
    ("tinyint", "Int8"),
    ("varchar", "String"),
    ("bytes", "String"),
];
