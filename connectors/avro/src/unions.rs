//! The trait that `#[derive(AvroUnion)]` implements.

use crate::error::AvroError;
use crate::wire::Reader;

/// A Rust enum that is read from a union, one variant for each branch.
///
/// Implemented by `#[derive(AvroUnion)]` only: the decoder trusts that [`check`](AvroUnion::check) and [`decode`](AvroUnion::decode)
/// agree.
#[diagnostic::on_unimplemented(
    message = "an Avro union cannot be read into `{Self}`",
    label = "the schema's type here is a union of several types",
    note = "it is read into an enum with `#[derive(AvroUnion)]` and `#[avro(schema = \"..\", field = \"..\")]`",
    note = "`Option<T>` reads a union of null and one other type, or of null and the branches of a `#[derive(AvroUnion)]` enum that has no variant for null"
)]
pub trait AvroUnion<'b>: Sized {
    /// The Rabin fingerprint of the union's canonical form.
    const FINGERPRINT: u64;

    /// Reads a value: a branch number and the branch's value.
    ///
    /// # Errors
    /// The payload is not such a value.
    fn decode(reader: &mut Reader<'b>) -> Result<Self, AvroError>;

    /// Reads a value for its errors alone; fails exactly when [`decode`](AvroUnion::decode) does.
    ///
    /// # Errors
    /// As for `decode`.
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError>;
}

/// A Rust enum with a variant for each branch of a union but null: an `Option` of it is read from the union.
///
/// Implemented by `#[derive(AvroUnion)]` only, for an enum without a variant for null.
pub trait AvroNullableUnion<'b>: Sized {
    /// The Rabin fingerprint of the union's canonical form, null included.
    const FINGERPRINT: u64;

    /// Reads a value: a branch number and the branch's value.
    ///
    /// # Errors
    /// The payload is not such a value.
    fn decode(reader: &mut Reader<'b>) -> Result<Option<Self>, AvroError>;

    /// Reads a value for its errors alone; fails exactly when [`decode`](AvroNullableUnion::decode) does.
    ///
    /// # Errors
    /// As for `decode`.
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError>;
}

impl<'b, U: AvroNullableUnion<'b>> AvroUnion<'b> for Option<U> {
    const FINGERPRINT: u64 = U::FINGERPRINT;

    #[inline(always)]
    fn decode(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        U::decode(reader)
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        U::check(reader)
    }
}
