//! The trait that `#[derive(AvroRecord)]` implements.

use crate::error::AvroError;
use crate::seams::{Seamless, Seams};
use crate::wire::Reader;

/// A struct that is read from an Avro record.
///
/// Implemented by `#[derive(AvroRecord)]` only: the decoder trusts that [`check`](AvroRecord::check) and
/// [`decode`](AvroRecord::decode) agree, and that the constants describe them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not read from an Avro schema",
    label = "not an Avro record",
    note = "a record is a struct with `#[derive(AvroRecord)]` and `#[avro(schema = \"schemas/order.avsc\")]`",
    note = "one that is inside another record of the file adds `record = \"Name\"`"
)]
pub trait AvroRecord<'b>: Sized {
    /// The record's full name.
    const NAME: &'static str;

    /// Its schema as self-contained JSON.
    const SCHEMA: &'static str;

    /// The Rabin fingerprint of its canonical form, logical types included.
    const FINGERPRINT: u64;

    /// The schema's names of the struct's fields, in wire order.
    const FIELDS: &'static [&'static str];

    /// The fewest bytes that a record takes.
    const MIN_SIZE: usize;

    /// The struct's fields by their Rust names, with their places among the schema's fields.
    #[doc(hidden)]
    const POSITIONS: &'static [(&'static str, usize)];

    /// How many of the schema's first fields [`decode_upto`](AvroRecord::decode_upto) reads at least: up to the last one that
    /// has no placeholder.
    #[doc(hidden)]
    const SOLID: usize;

    /// Reads a record.
    ///
    /// # Errors
    /// The payload is not such a record.
    #[inline(always)]
    fn decode(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        Self::decode_upto::<{ usize::MAX }>(reader)
    }

    /// Reads the schema's first `N` fields, at least [`SOLID`](AvroRecord::SOLID) of them; the others are placeholders that nobody may
    /// look at.
    ///
    /// # Errors
    /// What was read is not such a record.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_upto<const N: usize>(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        Self::decode_seamed::<N, _>(reader, &mut Seamless)
    }

    /// As [`decode_upto`](AvroRecord::decode_upto), and asks before each field where it is.
    ///
    /// # Errors
    /// What was read is not such a record, or what was asked failed.
    #[doc(hidden)]
    fn decode_seamed<const N: usize, S: Seams<'b>>(
        reader: &mut Reader<'b>,
        seams: &mut S,
    ) -> Result<Self, AvroError>;

    /// Reads what [`decode_upto`](AvroRecord::decode_upto) with the same `N` left.
    ///
    /// # Errors
    /// The rest is not such a record.
    #[doc(hidden)]
    fn decode_rest<const N: usize>(self, reader: &mut Reader<'b>) -> Result<Self, AvroError>;

    /// Reads a record for its errors alone; fails exactly when [`decode`](AvroRecord::decode) does.
    ///
    /// # Errors
    /// As for `decode`.
    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        Self::decode(reader).map(drop)
    }
}

/// A record behind a pointer: what a record that contains itself needs, as in `Option<Box<Node>>`.
impl<'b, R: AvroRecord<'b>> AvroRecord<'b> for Box<R> {
    const NAME: &'static str = R::NAME;
    const SCHEMA: &'static str = R::SCHEMA;
    const FINGERPRINT: u64 = R::FINGERPRINT;
    const FIELDS: &'static [&'static str] = R::FIELDS;
    const MIN_SIZE: usize = R::MIN_SIZE;
    const POSITIONS: &'static [(&'static str, usize)] = R::POSITIONS;
    const SOLID: usize = R::SOLID;

    #[inline]
    fn decode_seamed<const N: usize, S: Seams<'b>>(
        reader: &mut Reader<'b>,
        seams: &mut S,
    ) -> Result<Self, AvroError> {
        R::decode_seamed::<N, S>(reader, seams).map(Box::new)
    }

    #[inline]
    fn decode_rest<const N: usize>(self, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        (*self).decode_rest::<N>(reader).map(Box::new)
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        R::check(reader)
    }
}

/// Decodes one record that fills `body`, the end of a payload of `size` bytes.
///
/// # Errors
/// It is not such a record, or something is left behind it.
#[inline(always)]
pub fn decode_body<'b, R: AvroRecord<'b>>(body: &'b [u8], size: usize) -> Result<R, AvroError> {
    let mut reader = Reader::new(body, size);
    let record = R::decode(&mut reader)?;
    reader.finish()?;
    Ok(record)
}
