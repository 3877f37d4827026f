//! Avro schemas, and by which rules records of one are read as another: one implementation for the decoder (`spate-avro`, which
//! looks at the schemas of writers at run time) and for the macros (`spate-lang`, which do so at build time).
//!
//! An internal part of these two, published because they are: no promise of semantic versioning holds for it. Name what
//! `spate-avro` re-exports instead.
//!
//! Nothing in here knows the bytes of a record, and nothing panics: schemas come from a registry.

mod canonical;
mod plan;

pub use canonical::{
    Canonical, Extra, Extras, Logical, SchemaError, canonical_form, fingerprint, parse,
    parse_reader, parse_with,
};
pub use plan::{
    Branch, Cause, Differences, Incompatible, Node, NodeId, Plan, Sites, Step, Wanted, long,
};
