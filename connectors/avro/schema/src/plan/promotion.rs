//! Which values of one primitive or logical type are read as another, and which names are the same.

use super::Node;
use crate::canonical::Logical;

/// How a primitive of the writer's is read as one of the reader's.
pub(super) fn promotion(there: &str, here: &str) -> Option<Node> {
    Some(match (there, here) {
        ("null", "null") => Node::Null,
        ("boolean", "boolean") => Node::Boolean,
        ("int", "int") => Node::Int,
        ("int", "long") => Node::IntToLong,
        ("int", "float") => Node::IntToFloat,
        ("int", "double") => Node::IntToDouble,
        ("long", "long") => Node::Long,
        ("long", "float") => Node::LongToFloat,
        ("long", "double") => Node::LongToDouble,
        ("float", "float") => Node::Float,
        ("float", "double") => Node::FloatToDouble,
        ("double", "double") => Node::Double,
        ("bytes" | "string", "bytes" | "string") => Node::Text,
        _ => return None,
    })
}

/// Whether values of the one logical type may be read as the other: as the same, or where one side has none. Two different ones would be
/// wrong values, such as microseconds read as milliseconds.
pub(super) fn logical(there: Option<&Logical>, here: Option<&Logical>) -> bool {
    match (there, here) {
        (Some(there), Some(here)) => there == here,
        _ => true,
    }
}

pub(super) fn short(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, short)| short)
}
