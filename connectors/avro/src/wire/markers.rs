//! One type per wire type, so that a schema's type can be written as a Rust type: `Array<NullFirst<Str>>`.
//!
//! A marker says how a value is passed over ([`Skip`]); how it is read into a Rust type is said by
//! [`FromAvro`](crate::FromAvro).

use std::marker::PhantomData;

use super::{Reader, Str};
use crate::error::AvroError;

/// How a value of a wire type is passed over.
pub trait Skip {
    /// The fewest bytes that a value takes; zero only for types whose every value takes none.
    const MIN: usize;

    /// Passes over a value.
    ///
    /// # Errors
    /// The payload is not such a value, as far as passing over it can tell: text is not looked at.
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError>;
}

/// A record that another derive reads; only that derive knows how to pass over it.
#[derive(Debug)]
pub struct Record;

/// A union of several types that another derive reads.
#[derive(Debug)]
pub struct Union;

/// `array` of `W`.
#[derive(Debug)]
pub struct Array<W>(PhantomData<W>);

impl<W: Skip> Skip for Array<W> {
    const MIN: usize = 1;

    #[inline]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        loop {
            let block = reader.block(W::MIN)?;
            if block.count == 0 {
                return Ok(());
            }
            if reader.skip_block(block) || W::MIN == 0 {
                continue;
            }
            for _ in 0..block.count {
                W::skip(reader)?;
            }
        }
    }
}

/// An entry of a map: a string and a `W`.
#[derive(Debug)]
pub struct Entry<W>(PhantomData<W>);

/// `map` of strings to `W`: on the wire an array of entries.
pub type Map<W> = Array<Entry<W>>;

impl<W: Skip> Skip for Entry<W> {
    const MIN: usize = 1 + W::MIN;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        Str::skip(reader)?;
        W::skip(reader)
    }
}

/// `["null", W]`.
#[derive(Debug)]
pub struct NullFirst<W>(PhantomData<W>);

impl<W: Skip> Skip for NullFirst<W> {
    const MIN: usize = 1;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        match reader.branch(2)? {
            0 => Ok(()),
            _ => W::skip(reader),
        }
    }
}

/// `[W, "null"]`.
#[derive(Debug)]
pub struct NullLast<W>(PhantomData<W>);

impl<W: Skip> Skip for NullLast<W> {
    const MIN: usize = 1;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        match reader.branch(2)? {
            0 => W::skip(reader),
            _ => Ok(()),
        }
    }
}

/// `[W]`.
#[derive(Debug)]
pub struct Single<W>(PhantomData<W>);

impl<W: Skip> Skip for Single<W> {
    const MIN: usize = 1;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        reader.branch(1)?;
        W::skip(reader)
    }
}
