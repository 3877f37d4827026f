//! Seams: the places where a derived decoder may be turned to other bytes than those that follow. Hot path.
//!
//! A decoder asks before each field of its schema, and once behind the last. With [`Seamless`] the question is no code at all: that is the
//! decoder of records of the compiled schema. What answers for records of other schemas is in `resolve/seams.rs`.

use crate::error::AvroError;
use crate::wire::Reader;

/// Who is asked.
#[doc(hidden)]
pub trait Seams<'b> {
    /// Turns the reader to where the schema's field of that number is; behind the last field, to where the record ends.
    ///
    /// # Errors
    /// What has to be read on the way is no such record.
    fn before(&mut self, field: usize, reader: &mut Reader<'b>) -> Result<(), AvroError>;
}

/// The writer's schema is the compiled one: each field begins where the one before it ends.
#[doc(hidden)]
#[derive(Debug)]
pub struct Seamless;

impl<'b> Seams<'b> for Seamless {
    #[inline(always)]
    fn before(&mut self, _: usize, _: &mut Reader<'b>) -> Result<(), AvroError> {
        Ok(())
    }
}
