//! Arrays that are read while they are iterated and never collected.

use std::fmt;
use std::marker::PhantomData;

use crate::error::AvroError;
use crate::from_avro::{FromAvro, check_items};
use crate::logical::{
    BigDecimal, Date, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos,
};
use crate::record::AvroRecord;
use crate::wire::{self, Reader};

/// An array that borrows from the payload.
///
/// Every item was checked once when the record was decoded, so [`len`](Seq::len) costs nothing and iteration cannot
/// fail; items are decoded again each time they are iterated. It is two words and a count, and `Copy`.
///
/// ```
/// # fn total(lines: spate_avro::Seq<'_, i64>) -> i64 {
/// lines.iter().sum()
/// # }
/// assert_eq!(total(spate_avro::Seq::default()), 0);
/// ```
pub struct Seq<'b, T> {
    /// All blocks with their heads, as checked.
    blocks: &'b [u8],
    len: usize,
    items: PhantomData<fn() -> T>,
}

/// What a [`Seq`] can hold: records and primitives.
#[diagnostic::on_unimplemented(
    message = "a `Seq` cannot hold `{Self}`",
    note = "it holds records (structs with `#[derive(AvroRecord)]`) and primitives; collect other items in a `Vec`"
)]
pub trait Item<'b>: FromAvro<'b, Self::Wire> {
    /// The wire type that items are iterated as.
    type Wire;
}

/// An item that is also read right from the wire type `W`.
#[diagnostic::on_unimplemented(
    message = "a `Seq` of `{Self}` cannot be read from this array",
    label = "the schema has items of another type: {W}",
    note = "a `Seq` holds the items as they are; `Vec` also converts, such as float to `f64`"
)]
pub trait ItemOf<'b, W>: Item<'b> {}

impl<'b, T: AvroRecord<'b>> Item<'b> for T {
    type Wire = wire::Record;
}

impl<'b, T: AvroRecord<'b>> ItemOf<'b, wire::Record> for T {}

macro_rules! items {
    ($($ty:ty: $wire:ident $(, $also:ident)*;)*) => {$(
        impl<'b> Item<'b> for $ty {
            type Wire = wire::$wire;
        }
        impl<'b> ItemOf<'b, wire::$wire> for $ty {}
        $(impl<'b> ItemOf<'b, wire::$also> for $ty {})*
    )*};
}

/// An entry of a map.
impl<'b, K: FromAvro<'b, wire::Str>, V: Item<'b>> Item<'b> for (K, V) {
    type Wire = wire::Entry<V::Wire>;
}

impl<'b, W, K: FromAvro<'b, wire::Str>, V: ItemOf<'b, W>> ItemOf<'b, wire::Entry<W>> for (K, V) where
    (K, V): FromAvro<'b, wire::Entry<W>>
{
}

items! {
    (): Null;
    bool: Boolean;
    i32: Int, Date, TimeMillis;
    i64: Long, Int, Date, TimeMillis, TimeMicros, TimestampMillis, TimestampMicros, TimestampNanos, LocalTimestampMillis,
        LocalTimestampMicros, LocalTimestampNanos;
    Date: Date;
    TimeMillis: TimeMillis;
    TimeMicros: TimeMicros;
    TimestampMillis: TimestampMillis;
    TimestampMicros: TimestampMicros;
    TimestampNanos: TimestampNanos;
    LocalTimestampMillis: LocalTimestampMillis;
    LocalTimestampMicros: LocalTimestampMicros;
    LocalTimestampNanos: LocalTimestampNanos;
    f32: Float;
    f64: Double;
    &'b str: Str, Uuid;
    String: Str, Uuid;
    &'b [u8]: Bytes, BigDecimal;
    Vec<u8>: Bytes, BigDecimal;
    BigDecimal: BigDecimal;
    Duration: Duration;
}

impl<'b, const N: usize> Item<'b> for [u8; N] {
    type Wire = wire::Fixed<N>;
}

impl<'b, const N: usize> ItemOf<'b, wire::Fixed<N>> for [u8; N] {}

impl<'b, const N: usize> Item<'b> for &'b [u8; N] {
    type Wire = wire::Fixed<N>;
}

impl<'b, const N: usize> ItemOf<'b, wire::Fixed<N>> for &'b [u8; N] {}

impl<'b, W, T: ItemOf<'b, W>> FromAvro<'b, wire::Array<W>> for Seq<'b, T> {
    const MIN: usize = 1;
    const DERIVED: u64 = T::DERIVED;

    #[inline(always)]
    fn placeholder() -> Self {
        Seq::default()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let before = reader.rest();
        let len = check_items(reader, T::MIN, T::check)?;
        let blocks = &before[..before.len() - reader.rest().len()];
        Ok(Seq {
            blocks,
            len,
            items: PhantomData,
        })
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        check_items(reader, T::MIN, T::check).map(drop)
    }
}

impl<'b, T> Seq<'b, T> {
    /// How many items there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The items, decoded one by one.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> Iter<'b, T> {
        Iter {
            reader: Reader::new(self.blocks, self.blocks.len()),
            block: 0,
            left: self.len,
            items: PhantomData,
        }
    }
}

impl<T> Clone for Seq<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Seq<'_, T> {}

/// No items.
impl<T> Default for Seq<'_, T> {
    fn default() -> Self {
        Seq {
            blocks: &[],
            len: 0,
            items: PhantomData,
        }
    }
}

impl<'b, T: Item<'b> + fmt::Debug> fmt::Debug for Seq<'b, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Equal if the items are, however they were cut into blocks.
impl<'b, T: Item<'b> + PartialEq> PartialEq for Seq<'b, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<'b, T: Item<'b>> IntoIterator for Seq<'b, T> {
    type Item = T;
    type IntoIter = Iter<'b, T>;

    #[inline]
    fn into_iter(self) -> Iter<'b, T> {
        self.iter()
    }
}

impl<'b, T: Item<'b>> IntoIterator for &Seq<'b, T> {
    type Item = T;
    type IntoIter = Iter<'b, T>;

    #[inline]
    fn into_iter(self) -> Iter<'b, T> {
        self.iter()
    }
}

/// The items of a [`Seq`].
pub struct Iter<'b, T> {
    reader: Reader<'b>,
    /// Items left in the current block.
    block: usize,
    /// Items left in all.
    left: usize,
    items: PhantomData<fn() -> T>,
}

impl<'b, T: Item<'b>> Iterator for Iter<'b, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        if self.block == 0 {
            self.block = checked(self.reader.block(T::MIN))?.count;
        }
        self.block = self.block.saturating_sub(1);
        checked(T::read(&mut self.reader))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'b, T: Item<'b>> ExactSizeIterator for Iter<'b, T> {}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter {
            reader: self.reader.clone(),
            block: self.block,
            left: self.left,
            items: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

/// What was checked when the record was decoded cannot fail; if it did, iteration ends early in release builds.
#[inline(always)]
fn checked<T>(result: Result<T, AvroError>) -> Option<T> {
    debug_assert!(
        result.is_ok(),
        "an item that was checked cannot be read: `check` and `decode` disagree"
    );
    result.ok()
}
