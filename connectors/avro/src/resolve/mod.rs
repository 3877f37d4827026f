//! Records of another writer's schema: a plan made once for the schema, by Avro's rules of schema resolution, turns each record's
//! bytes into the bytes that the compiled schema would have, and the compiled decoder reads those.
//!
//! 1. [`plan`] compares two schemas and decides everything that can be decided without a record: which field goes where, which is
//!    passed over, what is promoted, the bytes of defaults. What can never be read is one error that names the field's path.
//! 2. [`run`] walks a record by the plan. It believes no length and no count, as the compiled decoder does not.
//!
//! So there is one decoder for each type, whatever the writer's schema is, and the two ways cannot come apart.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-resolution>
//!
//! Where we are stricter than the specification: two different logical types never resolve, and where it is silent: of several branches
//! of the reader's union that could hold a value, one of the very type comes before one that needs a promotion.

mod defaults;
mod plan;
mod promotion;
mod run;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::canonical::{SchemaError, parse, parse_reader};
use crate::error::AvroError;
use crate::record::AvroRecord;

/// How records of a writer's schema become records of a compiled one: what the `avro` stage does by itself, for those who read Avro otherwise.
///
/// ```
/// use spate_avro::{AvroRecord, Resolution};
///
/// /// Turns a record of the schema `writer` into one of `R`'s.
/// fn resolve<'b, R: AvroRecord<'b>>(writer: &str, body: &[u8]) -> Option<Vec<u8>> {
///     let resolution = Resolution::new::<R>(writer).ok()?;
///     let mut out = Vec::new();
///     resolution.apply(body, body.len(), &mut out).ok()?;
///     Some(out)
/// }
/// ```
#[derive(Debug)]
pub struct Resolution(Plan);

impl Resolution {
    /// Compares the schema text of a writer with the schema of `R`.
    ///
    /// # Errors
    /// The text is no schema, or no record of it can be read: says why, by the field's path.
    pub fn new<'b, R: AvroRecord<'b>>(writer: &str) -> Result<Self, SchemaError> {
        let (reader, extras) = parse_reader(R::SCHEMA)?;
        let plan = Plan::new(&parse(writer)?, &reader, &extras);
        plan.map(Resolution).map_err(|incompatible| {
            SchemaError(format!(
                "it cannot be read as `{}`, {incompatible}",
                R::NAME
            ))
        })
    }

    /// Appends to `out` what the record in `body` is by the schema of `R`; `body` is the end of a payload of `size` bytes.
    ///
    /// # Errors
    /// The body is no record of the writer's schema, or has something in it that `R`'s schema has nothing for.
    pub fn apply(&self, body: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), AvroError> {
        self.0.run(body, size, out)
    }
}

/// What to do with a value of the writer's, by its number in the plan.
type NodeId = usize;

/// How records of one writer's schema become records of the compiled one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    nodes: Vec<Node>,
    /// Which nodes leave their bytes as they are, by their numbers.
    same: Vec<bool>,
    root: NodeId,
    /// The root's steps up to the last one that changes something.
    changed: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Node {
    /// No bytes.
    Null,
    /// As it is.
    Boolean,
    Int,
    Long,
    Float,
    Double,
    /// `bytes` and `string`: the decoder looks whether text is text.
    Text,
    Fixed(usize),
    /// A symbol's number as it is, of so many.
    Symbol(usize),
    /// The reader's number of each of the writer's symbols; `None` for one that the reader does not know.
    Symbols(Vec<Option<u32>>),
    IntToFloat,
    IntToDouble,
    LongToFloat,
    LongToDouble,
    FloatToDouble,
    /// An array, or with keys a map; items take at least so many bytes.
    Blocks {
        keys: bool,
        item: NodeId,
        least: usize,
    },
    /// Fields whose order is the reader's, with defaults between them. One that can contain itself counts its depth.
    Record {
        steps: Vec<Step>,
        recursive: bool,
    },
    /// Fields in another order: each is passed over and its place remembered, then the wanted ones are taken.
    Reordered {
        fields: Vec<(String, NodeId)>,
        wanted: Vec<Wanted>,
        recursive: bool,
    },
    /// By the writer's branch.
    Branches(Vec<Branch>),
    /// Into that branch of the reader's union.
    Into(u32, NodeId),
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Skip(String, NodeId),
    Keep(String, NodeId),
    Default(Vec<u8>),
}

#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// The writer's field of that number.
    Field(usize, NodeId),
    Default(Vec<u8>),
}

#[derive(Debug, PartialEq, Eq)]
enum Branch {
    Read(NodeId),
    /// The reader has nothing for it: an error of the records that have it.
    Unreadable,
}

/// Why records of a writer's schema can never be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Incompatible {
    /// Field names and what stands between them: `lines[].qty`; empty for the top.
    path: String,
    what: String,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "at its top: {}", self.what),
            path => write!(f, "at field path `{path}`: {}", self.what),
        }
    }
}

/// Writes a number as the encoding has it.
#[inline(always)]
fn long(value: i64, out: &mut Vec<u8>) {
    let mut left = (value << 1 ^ value >> 63) as u64;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}
