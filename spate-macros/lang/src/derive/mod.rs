//! The derives: a struct that is read from an Avro schema, a struct that is written to a table.
//!
//! Each reads its file, compares every field with it, and emits one straight-line implementation. After a mistake the
//! implementation is still emitted with a body that is never run, so that nothing but the mistake is reported.

mod avro;
mod input;
mod row;
#[cfg(test)]
mod tests;

pub use avro::expand as avro_record;
pub use row::expand as row;
