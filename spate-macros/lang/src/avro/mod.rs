//! The model of an Avro schema file, with the place of everything in it.
//!
//! [`parse`] reads strict JSON and follows the specification's rules for names and namespaces; every mistake is reported
//! as file, line and column. [`Schema::canonical`] and [`Schema::self_contained`] write a record's schema back as text.

mod defaults;
mod model;
mod names;
mod parse;
mod print;
mod rules;
#[cfg(test)]
mod tests;

pub use model::{Definition, Field, Kind, Logical, NameId, Named, Schema, Type};
pub use parse::{parse, parse_over, parse_with};
pub use spate_avro_schema::fingerprint;
