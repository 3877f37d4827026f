//! What generated code asks of a field's type a second time.
//!
//! The function that reads a field states the bound, `T: FromAvro<'_, W>`. Where it fails, rustc says so there, and would say it
//! again in each further function and constant that states it. These ask through a type that answers in both cases: by
//! its own method where the bound holds, which hides the trait's, and else by [`Missing`], which nobody ever runs. The names
//! are not those of `FromAvro`: a user may have that trait in scope.

use std::marker::PhantomData;

use crate::error::AvroError;
use crate::from_avro::FromAvro;
use crate::wire::Reader;

/// A field of the type `T` and the wire type `W`.
pub struct Wanted<'b, T, W>(PhantomData<(&'b (), T, W)>);

impl<'b, T: FromAvro<'b, W>, W> Wanted<'b, T, W> {
    /// The fingerprint of what another derive reads in the value.
    pub const INSIDE: u64 = T::DERIVED;

    /// Reads a value for its errors alone.
    ///
    /// # Errors
    /// The payload is not such a value.
    #[inline(always)]
    pub fn check_inside(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        T::check(reader)
    }
}

/// The answers for a type that cannot be read, whose crate does not compile.
pub trait Missing<'b>: Sized {
    /// What a record has whose own derive failed.
    const INSIDE: u64 = 0;

    /// Never called.
    ///
    /// # Errors
    /// None.
    fn check_inside(_: &mut Reader<'b>) -> Result<(), AvroError> {
        unreachable!("a field that cannot be read")
    }
}

impl<'b, T, W> Missing<'b> for Wanted<'b, T, W> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Array, Long, Str};

    /// Not read from anything.
    struct Other;

    #[test]
    fn a_type_that_can_be_read_answers_itself() {
        let mut reader = Reader::new(&[0x04, b'a', b'b', 0xff], 4);
        assert!(Wanted::<&str, Str>::check_inside(&mut reader).is_ok());
        assert_eq!(reader.rest(), [0xff]);
        assert!(Wanted::<Vec<i64>, Array<Long>>::check_inside(&mut reader).is_err());
    }

    #[test]
    fn a_type_that_cannot_be_read_answers_all_the_same() {
        assert_eq!(Wanted::<Other, Str>::INSIDE, 0);
        assert_eq!(Wanted::<Vec<Other>, Array<Str>>::INSIDE, 0);
    }
}
