//! Arrays and maps that are read while they are iterated and never collected.
//!
//! - [`item`]: what can be an item, and what has to be remembered of how it is written.
//! - [`plain`]: items whose Rust type tells how they are written.
//! - [`several`]: items that are written in several ways.
//! - [`containers`]: options, pairs, lists and maps of items.

mod containers;
mod item;
mod plain;
mod several;

use std::fmt;
use std::marker::PhantomData;

use crate::error::AvroError;
use crate::from_avro::{FromAvro, check_items};
use crate::wire::{self, Reader};

pub use item::{Form, Item, ItemOf, PlainItem};

/// An array that borrows from the payload, or a map: one of pairs.
///
/// Every item was checked once when the record was decoded, so [`len`](Seq::len) costs nothing and iteration cannot
/// fail; items are decoded again each time they are iterated. It is four words, and `Copy`.
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
    form: &'static Form,
    items: PhantomData<fn() -> T>,
}

impl<'b, W, T: ItemOf<'b, W>> FromAvro<'b, wire::Array<W>> for Seq<'b, T> {
    const MIN: usize = 1;
    const DERIVED: u64 = <T as FromAvro<'b, W>>::DERIVED;

    #[inline(always)]
    fn placeholder() -> Self {
        Seq::default()
    }

    #[inline]
    fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let before = reader.rest();
        let len = check_items(
            reader,
            <T as FromAvro<'b, W>>::MIN,
            <T as FromAvro<'b, W>>::check,
        )?;
        let blocks = &before[..before.len() - reader.rest().len()];
        Ok(Seq::new(blocks, len, T::FORM))
    }

    #[inline]
    fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
        check_items(
            reader,
            <T as FromAvro<'b, W>>::MIN,
            <T as FromAvro<'b, W>>::check,
        )
        .map(drop)
    }
}

impl<'b, T> Seq<'b, T> {
    #[inline(always)]
    fn new(blocks: &'b [u8], len: usize, form: &'static Form) -> Self {
        Seq {
            blocks,
            len,
            form,
            items: PhantomData,
        }
    }

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
            form: self.form,
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
        Seq::new(&[], 0, &Form::Plain)
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
    form: &'static Form,
    items: PhantomData<fn() -> T>,
}

impl<'b, T: Item<'b>> Iterator for Iter<'b, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        if self.block == 0 {
            self.block = checked(self.reader.block(item::least::<T>(self.form)))?.count;
        }
        self.block = self.block.saturating_sub(1);
        checked(item::read(self.form, &mut self.reader))
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
            form: self.form,
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
