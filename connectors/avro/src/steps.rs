//! The step of a generated decoder that every field takes. Hot path.

use crate::error::AvroError;

/// Adds the field's name to an error.
///
/// # Errors
/// The given one.
#[inline(always)]
pub fn field<T>(name: &str, result: Result<T, AvroError>) -> Result<T, AvroError> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(error.at(name)),
    }
}
