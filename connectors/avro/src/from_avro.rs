//! Which Rust types a wire type is read into, and how. Hot path: everything is inlined into the record's decoder.

use crate::error::AvroError;
use crate::record::AvroRecord;
use crate::timestamp::TimestampMillis;
use crate::wire::{self, Reader};

/// A Rust type that a field of the wire type `W` can be read into.
#[diagnostic::on_unimplemented(
    message = "an Avro field of the type `{W}` cannot be read into `{Self}`",
    label = "the schema's type here is `{W}`",
    note = "a record is read into a struct with `#[derive(AvroRecord)]`, for an inner one with `record = \"Name\"`",
    note = "`bool` reads a boolean, `i32` an int, `i64` an int or a long, `f32` a float, `f64` a float or a double",
    note = "`&str` and `String` read a string, `&[u8]` and `Vec<u8>` bytes, `TimestampMillis` a long of that logical type",
    note = "`Option<T>` reads a union with null, `Vec<T>` and `Seq<'a, T>` an array"
)]
pub trait FromAvro<'b, W>: Sized {
    /// The fewest bytes that a value takes.
    const MIN: usize;

    /// The fingerprint of the record that the value contains; zero if it contains none.
    const RECORD: u64 = 0;

    /// A value that costs nothing to make and that nobody looks at: it stands for a field that is read later, if at all. Records have
    /// none, so a derived decoder never asks for theirs.
    #[doc(hidden)]
    #[inline(always)]
    fn placeholder() -> Self {
        unreachable!("asked of a type without one")
    }

    /// Reads a value.
    ///
    /// # Errors
    /// The payload is not such a value.
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError>;

    /// Reads a value for its errors alone.
    ///
    /// # Errors
    /// Exactly when [`read`](FromAvro::read) fails.
    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        Self::read(reader).map(drop)
    }
}

macro_rules! read {
    ($($ty:ty, $wire:ident, $min:literal, $placeholder:expr, |$reader:ident| $read:expr, $check:expr;)*) => {$(
        impl<'b> FromAvro<'b, wire::$wire> for $ty {
            const MIN: usize = $min;

            #[inline(always)]
            fn placeholder() -> Self {
                $placeholder
            }

            #[inline(always)]
            fn read($reader: &mut Reader<'b>) -> Result<Self, AvroError> {
                $read
            }

            #[inline(always)]
            fn check($reader: &mut Reader<'b>) -> Result<(), AvroError> {
                $check.map(drop)
            }
        }
    )*};
}

read! {
    bool, Boolean, 1, false, |reader| reader.boolean(), reader.boolean();
    i32, Int, 1, 0, |reader| reader.int(), reader.int();
    i64, Int, 1, 0, |reader| reader.int().map(i64::from), reader.int();
    i64, Long, 1, 0, |reader| reader.long(), reader.long();
    i64, TimestampMillis, 1, 0, |reader| reader.long(), reader.long();
    TimestampMillis, TimestampMillis, 1, TimestampMillis(0), |reader| reader.long().map(TimestampMillis), reader.long();
    f32, Float, 4, 0.0, |reader| reader.float(), reader.float();
    f64, Float, 4, 0.0, |reader| reader.float().map(f64::from), reader.float();
    f64, Double, 8, 0.0, |reader| reader.double(), reader.double();
    &'b str, Str, 1, "", |reader| reader.str(), reader.str();
    String, Str, 1, String::new(), |reader| reader.str().map(str::to_owned), reader.str();
    &'b [u8], Bytes, 1, &[], |reader| reader.bytes(), reader.bytes();
    Vec<u8>, Bytes, 1, Vec::new(), |reader| reader.bytes().map(<[u8]>::to_vec), reader.bytes();
}

impl<'b, T: AvroRecord<'b>> FromAvro<'b, wire::Record> for T {
    const MIN: usize = T::MIN_SIZE;
    const RECORD: u64 = T::FINGERPRINT;

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        T::decode(reader)
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        T::check(reader)
    }
}

impl<'b, W, T: FromAvro<'b, W>> FromAvro<'b, wire::NullFirst<W>> for Option<T> {
    const MIN: usize = 1;
    const RECORD: u64 = T::RECORD;

    #[inline(always)]
    fn placeholder() -> Self {
        None
    }

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        match reader.branch(2)? {
            0 => Ok(None),
            _ => T::read(reader).map(Some),
        }
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        match reader.branch(2)? {
            0 => Ok(()),
            _ => T::check(reader),
        }
    }
}

impl<'b, W, T: FromAvro<'b, W>> FromAvro<'b, wire::NullLast<W>> for Option<T> {
    const MIN: usize = 1;
    const RECORD: u64 = T::RECORD;

    #[inline(always)]
    fn placeholder() -> Self {
        None
    }

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        match reader.branch(2)? {
            0 => T::read(reader).map(Some),
            _ => Ok(None),
        }
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        match reader.branch(2)? {
            0 => T::check(reader),
            _ => Ok(()),
        }
    }
}

impl<'b, W, T: FromAvro<'b, W>> FromAvro<'b, wire::Single<W>> for T {
    const MIN: usize = 1;
    const RECORD: u64 = T::RECORD;

    #[inline(always)]
    fn placeholder() -> Self {
        T::placeholder()
    }

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        reader.branch(1)?;
        T::read(reader)
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        reader.branch(1)?;
        T::check(reader)
    }
}

/// Items for which room is made at once whatever they need.
const FEW_ITEMS: usize = 4;

impl<'b, W, T: FromAvro<'b, W>> FromAvro<'b, wire::Array<W>> for Vec<T> {
    const MIN: usize = 1;
    const RECORD: u64 = T::RECORD;

    #[inline(always)]
    fn placeholder() -> Self {
        Vec::new()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let mut items = Vec::new();
        let mut total = 0;
        loop {
            let block = reader.block(T::MIN)?;
            if block.count == 0 {
                return Ok(items);
            }
            total = reader.count_items(total, block, T::MIN)?;
            // No more memory at once than bytes are there: a count alone justifies nothing.
            let justified = reader.rest().len() / size_of::<T>().max(1);
            items.reserve(block.count.min(justified.max(FEW_ITEMS)));
            for _ in 0..block.count {
                items.push(T::read(reader)?);
            }
            reader.end_block(block)?;
        }
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        check_items(reader, T::MIN, T::check).map(drop)
    }
}

/// Checks every item of an array and returns how many there are.
#[inline(always)]
pub(crate) fn check_items<'b>(
    reader: &mut Reader<'b>,
    least: usize,
    mut check: impl FnMut(&mut Reader<'b>) -> Result<(), AvroError>,
) -> Result<usize, AvroError> {
    let mut total = 0;
    loop {
        let block = reader.block(least)?;
        if block.count == 0 {
            return Ok(total);
        }
        total = reader.count_items(total, block, least)?;
        for _ in 0..block.count {
            check(reader)?;
        }
        reader.end_block(block)?;
    }
}
