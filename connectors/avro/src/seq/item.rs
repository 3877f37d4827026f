//! What a `Seq` can hold, and what it remembers of how its items are written.

use crate::error::AvroError;
use crate::from_avro::FromAvro;
use crate::wire::{self, Reader};

/// How an item is written, as far as its Rust type does not tell: a `Seq` has no wire type.
#[derive(Debug)]
#[non_exhaustive]
pub enum Form {
    /// The Rust type tells.
    Plain,
    /// The wire type of that number among those that the Rust type is read from.
    Nth(u8),
    /// Bytes behind a length.
    Sized,
    /// So many bytes.
    Fixed(usize),
    /// A decimal with so many digits behind the point, as bytes or as a fixed of so many.
    Decimal {
        /// The scale.
        scale: u32,
        /// The size of the fixed.
        fixed: Option<usize>,
    },
    /// An enum of these symbols.
    Symbols(&'static [&'static str]),
    /// A union of one type.
    Single(&'static Form),
    /// What has items of this form, a list or an entry of a map, where that form is [`Single`](Form::Single): it is not around the whole.
    Within(&'static Form),
    /// A union of null and another type.
    NullFirst(&'static Form),
    /// A union of another type and null.
    NullLast(&'static Form),
}

/// What a [`Seq`](super::Seq) can hold: everything that a field can be but types that convert (a float into `f64`).
#[diagnostic::on_unimplemented(
    message = "a `Seq` cannot hold `{Self}`",
    note = "it holds records (structs with `#[derive(AvroRecord)]`), enums, unions, primitives, the types of `spate::avro`, and options, lists and maps of them",
    note = "a type of your own that implements `FromWire` also implements `PlainItem` and `ItemOf`, or is collected in a `Vec`"
)]
pub trait Item<'b>: Sized {
    /// The fewest bytes that an item takes; zero only if every one takes none.
    #[doc(hidden)]
    fn least(form: &Form) -> usize;

    /// Reads an item.
    ///
    /// # Errors
    /// The payload is not such an item.
    #[doc(hidden)]
    fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError>;

    /// Passes over an item.
    ///
    /// # Errors
    /// As for [`read_item`](Item::read_item).
    #[doc(hidden)]
    #[inline(always)]
    fn pass_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        Self::read_item(form, reader).map(drop)
    }

    /// Reads an item of a union of several types that may be null: what an `Option` of it reads where its form says no more.
    ///
    /// # Errors
    /// As for [`read_item`](Item::read_item).
    #[doc(hidden)]
    #[inline(always)]
    fn item_or_null(reader: &mut Reader<'b>) -> Result<Option<Self>, AvroError> {
        Self::read_item(&Form::Plain, reader).map(Some)
    }
}

/// An item that is written in one way, whatever the schema is. Implement it for a type of your own that implements
/// [`FromWire`](crate::FromWire), and [`ItemOf`] beside it.
///
/// ```
/// use spate_avro::{AvroErrorKind, FromWire, ItemOf, PlainItem, Seq, wire};
///
/// /// Minutes.
/// struct Minutes(i32);
///
/// impl<'b> FromWire<'b, wire::Int> for Minutes {
///     fn placeholder() -> Self {
///         Minutes(0)
///     }
///
///     fn from_wire(minutes: i32) -> Result<Self, AvroErrorKind> {
///         Ok(Minutes(minutes))
///     }
/// }
///
/// impl PlainItem<'_> for Minutes {
///     type Wire = wire::Int;
/// }
///
/// impl ItemOf<'_, wire::Int> for Minutes {}
///
/// fn total(shifts: Seq<'_, Minutes>) -> i32 {
///     shifts.iter().map(|minutes| minutes.0).sum()
/// }
/// ```
pub trait PlainItem<'b>: FromAvro<'b, Self::Wire> {
    /// The wire type that items are iterated as.
    type Wire;
}

impl<'b, T: PlainItem<'b>> Item<'b> for T {
    #[inline(always)]
    fn least(_: &Form) -> usize {
        T::MIN
    }

    #[inline(always)]
    fn read_item(_: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        T::read(reader)
    }

    #[inline(always)]
    fn pass_item(_: &'static Form, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        T::check(reader)
    }
}

/// An item that is also written as the wire type `W`.
#[diagnostic::on_unimplemented(
    message = "a `Seq` of `{Self}` cannot be read from this array",
    label = "the schema has items of another type: {W}",
    note = "a `Seq` holds the items as they are; `Vec` also converts, such as float to `f64`"
)]
pub trait ItemOf<'b, W>: Item<'b> + FromAvro<'b, W> {
    /// How it is then.
    #[doc(hidden)]
    const FORM: &'static Form = &Form::Plain;
}

impl<'b, W, T: ItemOf<'b, W>> ItemOf<'b, wire::Single<W>> for T {
    const FORM: &'static Form = &Form::Single(T::FORM);
}

/// Reads an item wherever items stand: a union of one type may be around it.
#[inline(always)]
pub(super) fn read<'b, T: Item<'b>>(
    form: &'static Form,
    reader: &mut Reader<'b>,
) -> Result<T, AvroError> {
    T::read_item(inner(form, reader)?, reader)
}

/// Passes over an item wherever items stand.
#[inline(always)]
pub(super) fn pass<'b, T: Item<'b>>(
    form: &'static Form,
    reader: &mut Reader<'b>,
) -> Result<(), AvroError> {
    T::pass_item(inner(form, reader)?, reader)
}

#[inline(always)]
fn inner(form: &'static Form, reader: &mut Reader<'_>) -> Result<&'static Form, AvroError> {
    match form {
        Form::Single(inner) => reader.branch(1).map(|_| *inner),
        form => Ok(form),
    }
}

/// The form of what has such items.
macro_rules! within {
    ($form:expr) => {
        match $form {
            form @ (Form::Single(_) | Form::Within(_)) => &Form::Within(form),
            form => form,
        }
    };
}
pub(super) use within;

/// The form of the items of what has that form.
#[inline(always)]
pub(super) fn of_items(form: &'static Form) -> &'static Form {
    match form {
        Form::Within(items) => items,
        form => form,
    }
}

/// The fewest bytes that an item takes wherever items stand.
#[inline(always)]
pub(super) fn least<'b, T: Item<'b>>(form: &Form) -> usize {
    match form {
        Form::Single(_) => 1,
        form => T::least(form),
    }
}
