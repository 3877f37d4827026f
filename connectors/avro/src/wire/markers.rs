//! One type per wire type, so that a schema's type can be written as a Rust type: `Array<NullFirst<Str>>`.
//!
//! A marker says how a value is passed over ([`Skip`]); how it is read into a Rust type is said by
//! [`FromAvro`](crate::FromAvro).

use std::marker::PhantomData;

use super::Reader;
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

macro_rules! markers {
    ($($(#[$doc:meta])* $name:ident, $min:literal, |$reader:ident| $skip:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Skip for $name {
            const MIN: usize = $min;

            #[inline(always)]
            fn skip($reader: &mut Reader<'_>) -> Result<(), AvroError> {
                $skip
            }
        }
    )*};
}

markers! {
    /// `null`: no bytes.
    Null, 0, |_reader| Ok(());
    /// `boolean`.
    Boolean, 1, |reader| reader.boolean().map(drop);
    /// `int`.
    Int, 1, |reader| reader.int().map(drop);
    /// `long`.
    Long, 1, |reader| reader.skip_long();
    /// `long` with the logical type `timestamp-millis`.
    TimestampMillis, 1, |reader| reader.skip_long();
    /// `float`.
    Float, 4, |reader| reader.skip(4);
    /// `double`.
    Double, 8, |reader| reader.skip(8);
    /// `bytes`.
    Bytes, 1, |reader| reader.bytes().map(drop);
    /// `string`.
    Str, 1, |reader| reader.bytes().map(drop);
}

/// A record that another derive reads; only that derive knows how to pass over it.
#[derive(Debug)]
pub struct Record;

/// `fixed` of `N` bytes.
#[derive(Debug)]
pub struct Fixed<const N: usize>;

impl<const N: usize> Skip for Fixed<N> {
    const MIN: usize = N;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        reader.skip(N)
    }
}

/// `enum` of `N` symbols.
#[derive(Debug)]
pub struct Enum<const N: usize>;

impl<const N: usize> Skip for Enum<N> {
    const MIN: usize = 1;

    #[inline(always)]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        reader.symbol(N).map(drop)
    }
}

/// `array` of `W`.
#[derive(Debug)]
pub struct Array<W>(PhantomData<W>);

impl<W: Skip> Skip for Array<W> {
    const MIN: usize = 1;

    #[inline]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        skip_blocks(reader, W::MIN, W::skip)
    }
}

/// `map` of strings to `W`.
#[derive(Debug)]
pub struct Map<W>(PhantomData<W>);

impl<W: Skip> Skip for Map<W> {
    const MIN: usize = 1;

    #[inline]
    fn skip(reader: &mut Reader<'_>) -> Result<(), AvroError> {
        skip_blocks(reader, 1 + W::MIN, |reader| {
            Str::skip(reader)?;
            W::skip(reader)
        })
    }
}

#[inline(always)]
fn skip_blocks(
    reader: &mut Reader<'_>,
    least: usize,
    mut skip: impl FnMut(&mut Reader<'_>) -> Result<(), AvroError>,
) -> Result<(), AvroError> {
    let mut total = 0;
    loop {
        let block = reader.block(least)?;
        if block.count == 0 {
            return Ok(());
        }
        total = reader.count_items(total, block, least)?;
        if reader.skip_block(block) || least == 0 {
            continue;
        }
        for _ in 0..block.count {
            skip(reader)?;
        }
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
