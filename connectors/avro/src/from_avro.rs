//! Which Rust types a wire type is read into, and how. Hot path: everything is inlined into the record's decoder.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use crate::error::AvroError;
use crate::record::AvroRecord;
use crate::unions::AvroUnion;
use crate::wire::{self, Block, Reader};

/// A Rust type that a field of the wire type `W` can be read into.
///
/// Types that are made of one value of the wire implement [`FromWire`](crate::FromWire) and have this by it; what is implemented here is
/// how the wire's own structures are read: records, unions, arrays, maps.
#[diagnostic::on_unimplemented(
    message = "an Avro field of the type `{W}` cannot be read into `{Self}`",
    label = "the schema's type here is `{W}`",
    note = "a record is read into a struct with `#[derive(AvroRecord)]`, for an inner one with `record = \"Name\"`",
    note = "`bool` reads a boolean, `i32` an int, `i64` an int or a long, `f32` a float, `f64` a float or a double",
    note = "`&str` and `String` read a string, `&[u8]` and `Vec<u8>` bytes, `[u8; N]` a fixed; `Date`, `TimestampMillis`, `Decimal<SCALE>` .. of `spate::avro` their logical types",
    note = "`Option<T>` reads a union with null, `Vec<T>` and `Seq<'a, T>` an array, with pairs `(&str, T)` a map",
    note = "an enum is read into an enum with `#[derive(AvroEnum)]` or text, a union of several types into one with `#[derive(AvroUnion)]`"
)]
pub trait FromAvro<'b, W>: Sized {
    /// The fewest bytes that a value takes.
    const MIN: usize;

    /// The fingerprint of the record, enum or union of a derive that the value contains; zero if it contains none.
    #[doc(hidden)]
    const DERIVED: u64 = 0;

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

impl<'b, T: AvroRecord<'b>> FromAvro<'b, wire::Record> for T {
    const MIN: usize = T::MIN_SIZE;
    const DERIVED: u64 = T::FINGERPRINT;

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        T::decode(reader)
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        T::check(reader)
    }
}

impl<'b, T: AvroUnion<'b>> FromAvro<'b, wire::Union> for T {
    const MIN: usize = 1;
    const DERIVED: u64 = T::FINGERPRINT;

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
    const DERIVED: u64 = T::DERIVED;

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
    const DERIVED: u64 = T::DERIVED;

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
    const DERIVED: u64 = T::DERIVED;

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

impl<'b, W, K: FromAvro<'b, wire::Str>, V: FromAvro<'b, W>> FromAvro<'b, wire::Entry<W>>
    for (K, V)
{
    const MIN: usize = K::MIN + V::MIN;
    const DERIVED: u64 = V::DERIVED;

    #[inline(always)]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        Ok((K::read(reader)?, V::read(reader)?))
    }

    #[inline(always)]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        K::check(reader)?;
        V::check(reader)
    }
}

/// Items for which room is made at once whatever they need.
const FEW_ITEMS: usize = 4;

/// For how many of a block's items of the size of `T` room is made: no more memory at once than bytes are there, because a
/// count alone justifies nothing.
#[inline(always)]
pub(crate) fn room<T>(reader: &Reader<'_>, block: Block) -> usize {
    let justified = reader.rest().len() / size_of::<T>().max(1);
    block.count.min(justified.max(FEW_ITEMS))
}

impl<'b, W, T: FromAvro<'b, W>> FromAvro<'b, wire::Array<W>> for Vec<T> {
    const MIN: usize = 1;
    const DERIVED: u64 = T::DERIVED;

    #[inline(always)]
    fn placeholder() -> Self {
        Vec::new()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let mut items = Vec::new();
        loop {
            let block = reader.block(T::MIN)?;
            if block.count == 0 {
                return Ok(items);
            }
            items.reserve(room::<T>(reader, block));
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

/// Where a key comes twice, the last value stands, as in every map of Avro's implementations.
impl<'b, W, K, V, S> FromAvro<'b, wire::Map<W>> for HashMap<K, V, S>
where
    K: FromAvro<'b, wire::Str> + Eq + Hash,
    V: FromAvro<'b, W>,
    S: BuildHasher + Default,
{
    const MIN: usize = 1;
    const DERIVED: u64 = V::DERIVED;

    #[inline(always)]
    fn placeholder() -> Self {
        HashMap::default()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let mut entries = HashMap::default();
        loop {
            let block = reader.block(K::MIN + V::MIN)?;
            if block.count == 0 {
                return Ok(entries);
            }
            entries.reserve(room::<(K, V)>(reader, block));
            for _ in 0..block.count {
                entries.insert(K::read(reader)?, V::read(reader)?);
            }
            reader.end_block(block)?;
        }
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        <Vec<(K, V)> as FromAvro<'b, wire::Map<W>>>::check(reader)
    }
}

/// Where a key comes twice, the last value stands.
impl<'b, W, K, V> FromAvro<'b, wire::Map<W>> for BTreeMap<K, V>
where
    K: FromAvro<'b, wire::Str> + Ord,
    V: FromAvro<'b, W>,
{
    const MIN: usize = 1;
    const DERIVED: u64 = V::DERIVED;

    #[inline(always)]
    fn placeholder() -> Self {
        BTreeMap::new()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let mut entries = BTreeMap::new();
        loop {
            let block = reader.block(K::MIN + V::MIN)?;
            if block.count == 0 {
                return Ok(entries);
            }
            for _ in 0..block.count {
                entries.insert(K::read(reader)?, V::read(reader)?);
            }
            reader.end_block(block)?;
        }
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        <Vec<(K, V)> as FromAvro<'b, wire::Map<W>>>::check(reader)
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
        total += block.count;
        for _ in 0..block.count {
            check(reader)?;
        }
        reader.end_block(block)?;
    }
}
