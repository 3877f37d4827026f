//! The steps of a generated decoder: one call per field, which adds the field's name to an error. Hot path.

use crate::error::AvroError;
use crate::from_avro::FromAvro;
use crate::wire::{Reader, Skip};

/// Reads the field `name` of the wire type `W` into a `T`.
///
/// # Errors
/// As [`FromAvro::read`], with the field's name.
#[inline(always)]
pub fn read<'b, W, T: FromAvro<'b, W>>(
    name: &'static str,
    reader: &mut Reader<'b>,
) -> Result<T, AvroError> {
    at(name, T::read(reader))
}

/// Reads the field `name` for its errors alone.
///
/// # Errors
/// As [`FromAvro::check`], with the field's name.
#[inline(always)]
pub fn check<'b, W, T: FromAvro<'b, W>>(
    name: &'static str,
    reader: &mut Reader<'b>,
) -> Result<(), AvroError> {
    at(name, T::check(reader))
}

/// Passes over the field `name` of the wire type `W`.
///
/// # Errors
/// As [`Skip::skip`], with the field's name.
#[inline(always)]
pub fn skip<W: Skip>(name: &'static str, reader: &mut Reader<'_>) -> Result<(), AvroError> {
    at(name, W::skip(reader))
}

/// The fingerprint of the record that a `T` contains; zero if it contains none.
#[must_use]
pub const fn record_of<'b, W, T: FromAvro<'b, W>>() -> u64 {
    T::RECORD
}

#[inline(always)]
fn at<T>(name: &'static str, result: Result<T, AvroError>) -> Result<T, AvroError> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(error.at(name)),
    }
}
