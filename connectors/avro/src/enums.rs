//! The trait that `#[derive(AvroEnum)]` implements.

use crate::wire::Symbols;

/// A Rust enum that is read from an Avro enum.
///
/// Implemented by `#[derive(AvroEnum)]` only: every symbol has its variant, and records trust that.
#[diagnostic::on_unimplemented(
    message = "an Avro enum cannot be read into `{Self}`",
    label = "the schema's type here is an enum",
    note = "it is read into an enum with `#[derive(AvroEnum)]` and `#[avro(schema = \"..\", name = \"..\")]`",
    note = "`&str` and `String` read its symbols as text"
)]
pub trait AvroEnum: Symbols + Sized {
    /// The enum's full name.
    const NAME: &'static str;

    /// The Rabin fingerprint of its canonical form.
    const FINGERPRINT: u64;

    /// The variant of a symbol's number in the schema.
    fn from_index(index: usize) -> Option<Self>;

    /// The symbol of the variant, as the schema has it.
    #[must_use]
    fn symbol(&self) -> &'static str;
}
