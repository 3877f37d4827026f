//! Records of another writer's schema: a plan made once for the schema, by Avro's rules of schema resolution, turns each record's
//! bytes into the bytes that the compiled schema would have, and the compiled decoder reads those.
//!
//! 1. `spate-avro-schema` compares two schemas and decides everything that can be decided without a record: which field goes where,
//!    which is passed over, what is promoted, the bytes of defaults. What can never be read is one error that names the field's path.
//! 2. [`run`] walks a record by the plan. It believes no length and no count, as the compiled decoder does not.
//!
//! So there is one decoder for each type, whatever the writer's schema is, and the two ways cannot come apart.

mod run;
#[cfg(test)]
mod tests;

use spate_avro_schema::{
    Branch, Canonical, Extras, Incompatible, Node, NodeId, SchemaError, Step, Wanted, long, parse,
    parse_reader,
};

use self::run::{changed, unchanged};
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
            SchemaError::new(format!(
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

impl Plan {
    /// Compares the writer's schema with the reader's, of which `extras` has aliases and defaults.
    ///
    /// # Errors
    /// No record of the writer's can be read: where, and why.
    pub(crate) fn new(
        writer: &Canonical,
        reader: &Canonical,
        extras: &Extras,
    ) -> Result<Self, Incompatible> {
        let spate_avro_schema::Plan { nodes, root } =
            spate_avro_schema::Plan::new(writer, reader, extras)?;
        let same = unchanged(&nodes);
        Ok(Plan {
            changed: changed(&nodes[root], &same),
            same,
            nodes,
            root,
        })
    }
}
