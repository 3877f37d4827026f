//! Which Rust types a column type stores, and their bytes. Hot path: everything is inlined into the row's encoder.
//!
//! RowBinary: integers and floats are little endian; text is a varint length and the bytes; `Nullable` is a byte 0 and
//! the value, or a byte 1; `Array` is a varint count and the items; `LowCardinality` is nothing of its own.

use super::slots::Slots;
use super::types::{self, Array, FixedString, LowCardinality, Nullable};
use super::values::{Date, DateTime, DateTime64Millis};

/// A value that its column cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A time outside the years that the server knows.
    #[error(
        "{millis} ms since 1970 is outside the years 1900 to 2299 that a DateTime64 holds; seconds, micro- or nanoseconds in place of milliseconds?"
    )]
    DateTime64 {
        /// The time.
        millis: i64,
    },
    /// A point in time that the column's precision and the years of the server have no number for.
    #[error(
        "{value} {unit} since 1970 is outside the years that a DateTime64({precision}) holds: 1900 to 2299, to 2262 in nanoseconds; another unit?"
    )]
    Timestamp {
        /// The time.
        value: i64,
        /// Its unit.
        unit: &'static str,
        /// The column's precision.
        precision: u8,
    },
    /// A day outside of those that the column holds.
    #[error(
        "day {days} since 1970-01-01 is outside the days {first} to {last} that the column holds"
    )]
    Date {
        /// The day.
        days: i32,
        /// The column's first day.
        first: i32,
        /// Its last day.
        last: i32,
    },
    /// A decimal of more digits than the column's.
    #[error(
        "{unscaled}, the decimal without its point, has more than the {precision} digits that the column holds"
    )]
    Decimal {
        /// All digits as one number.
        unscaled: i128,
        /// The digits of the column.
        precision: u32,
    },
}

/// A Rust type that a column of type `M` stores as it is: nothing is rounded, cut or wrapped.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a ClickHouse column of the type `{M}`",
    label = "the column's type is `{M}`",
    note = "columns store the Rust type of the same width: `UInt64` a `u64`, `Float32` an `f32`, `Bool` a `bool`; convert with `as`, `try_into` or `From` before",
    note = "`String` stores `&str`, `String`, `&[u8]`, `Vec<u8>`; `FixedString(N)` a `[u8; N]`; `Array(T)` a `Vec` or a slice",
    note = "`UUID`, `Decimal(P, S)`, `Date32` and `DateTime64(P)` store what Avro's decoder reads: `Uuid`, `Decimal<S>`, `Date`, and `TimestampMillis` .. of a unit that is no finer than the column's",
    note = "`Date`, `DateTime` and `DateTime64(3)` also store the types `Date`, `DateTime` and `DateTime64Millis` of `spate::clickhouse`; `Nullable(T)` what `T` stores, or an `Option` of it"
)]
pub trait StoredAs<M> {
    /// How many bytes [`store`](StoredAs::store) writes at most.
    fn size(&self) -> usize;

    /// Writes the value.
    ///
    /// # Errors
    /// The column cannot hold it.
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError>;
}

/// The most bytes of a length: ten groups of seven bits.
const LENGTH: usize = 10;

/// A length as an unsigned varint.
#[inline(always)]
fn length(length: usize, out: &mut Slots<'_>) {
    if length < 0x80 {
        out.put(&[length as u8]);
    } else {
        let (bytes, count) = long_length(length);
        out.put(&bytes[..count]);
    }
}

/// By value, so that the slots stay in registers.
#[inline(never)]
fn long_length(length: usize) -> ([u8; LENGTH], usize) {
    let mut bytes = [0; LENGTH];
    let mut count = 0;
    let mut rest = length;
    while rest >= 0x80 {
        bytes[count] = rest as u8 | 0x80;
        count += 1;
        rest >>= 7;
    }
    bytes[count] = rest as u8;
    (bytes, count + 1)
}

/// `$ty` in `$marker`, and in `Nullable` of it with the flag of a value in front.
macro_rules! stored {
    ($([$($generics:tt)*] $ty:ty, $marker:ty, |$value:ident, $out:ident| $size:expr, $store:expr;)*) => {$(
        impl<$($generics)*> StoredAs<$marker> for $ty {
            #[inline(always)]
            fn size(&self) -> usize {
                let $value = self;
                let _ = $value;
                $size
            }

            #[inline(always)]
            fn store(&self, $out: &mut Slots<'_>) -> Result<(), StoreError> {
                let $value = self;
                $store;
                Ok(())
            }
        }

        impl<$($generics)*> StoredAs<Nullable<$marker>> for $ty {
            #[inline(always)]
            fn size(&self) -> usize {
                1 + StoredAs::<$marker>::size(self)
            }

            #[inline(always)]
            fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
                out.put(&[0]);
                StoredAs::<$marker>::store(self, out)
            }
        }
    )*};
}

pub(super) use stored;

macro_rules! numbers {
    ($($ty:ident $marker:ident;)*) => {
        stored! {$(
            [] $ty, types::$marker, |value, out| size_of::<$ty>(), out.put(&value.to_le_bytes());
        )*}
    };
}

numbers! {
    i8 Int8; i16 Int16; i32 Int32; i64 Int64;
    u8 UInt8; u16 UInt16; u32 UInt32; u64 UInt64;
    f32 Float32; f64 Float64;
}

stored! {
    [] bool, types::Bool, |value, out| 1, out.put(&[u8::from(*value)]);
    [] Date, types::Date, |value, out| 2, out.put(&value.0.to_le_bytes());
    [] DateTime, types::DateTime, |value, out| 4, out.put(&value.0.to_le_bytes());
    [] DateTime64Millis, types::DateTime64<3>, |value, out| 8, {
        if !(DateTime64Millis::MIN..=DateTime64Millis::MAX).contains(value) {
            return Err(StoreError::DateTime64 { millis: value.0 });
        }
        out.put(&value.0.to_le_bytes());
    };
    [] str, types::String, |value, out| LENGTH + value.len(), text(value.as_bytes(), out);
    [] String, types::String, |value, out| LENGTH + value.len(), text(value.as_bytes(), out);
    [] [u8], types::String, |value, out| LENGTH + value.len(), text(value, out);
    [] Vec<u8>, types::String, |value, out| LENGTH + value.len(), text(value, out);
    [const N: usize] [u8; N], FixedString<N>, |value, out| N, out.put(value);
}

#[inline(always)]
fn text(bytes: &[u8], out: &mut Slots<'_>) {
    length(bytes.len(), out);
    out.put(bytes);
}

/// In a dictionary the bytes are the same: only the server's storage differs.
macro_rules! low_cardinality {
    ($([$($generics:tt)*] $ty:ty, $marker:ty;)*) => {$(
        low_cardinality!(@ [$($generics)*] $ty, $marker);
        low_cardinality!(@ [$($generics)*] $ty, Nullable<$marker>);
    )*};
    (@ [$($generics:tt)*] $ty:ty, $marker:ty) => {
        impl<$($generics)*> StoredAs<LowCardinality<$marker>> for $ty {
            #[inline(always)]
            fn size(&self) -> usize {
                StoredAs::<$marker>::size(self)
            }

            #[inline(always)]
            fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
                StoredAs::<$marker>::store(self, out)
            }
        }
    };
}

low_cardinality! {
    [] str, types::String;
    [] String, types::String;
    [] [u8], types::String;
    [] Vec<u8>, types::String;
    [const N: usize] [u8; N], FixedString<N>;
}

impl<M, T: StoredAs<M> + ?Sized> StoredAs<M> for &T {
    #[inline(always)]
    fn size(&self) -> usize {
        T::size(self)
    }

    #[inline(always)]
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
        T::store(self, out)
    }
}

impl<M, T: StoredAs<M>> StoredAs<Nullable<M>> for Option<T> {
    #[inline(always)]
    fn size(&self) -> usize {
        1 + self.as_ref().map_or(0, T::size)
    }

    #[inline(always)]
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
        match self {
            Some(value) => {
                out.put(&[0]);
                value.store(out)
            }
            None => {
                out.put(&[1]);
                Ok(())
            }
        }
    }
}

impl<M, T: StoredAs<M>> StoredAs<LowCardinality<Nullable<M>>> for Option<T> {
    #[inline(always)]
    fn size(&self) -> usize {
        StoredAs::<Nullable<M>>::size(self)
    }

    #[inline(always)]
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
        StoredAs::<Nullable<M>>::store(self, out)
    }
}

impl<M, T: StoredAs<M>> StoredAs<Array<M>> for [T] {
    #[inline]
    fn size(&self) -> usize {
        LENGTH + self.iter().map(T::size).sum::<usize>()
    }

    #[inline]
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
        length(self.len(), out);
        self.iter().try_for_each(|item| item.store(out))
    }
}

impl<M, T: StoredAs<M>> StoredAs<Array<M>> for Vec<T> {
    #[inline(always)]
    fn size(&self) -> usize {
        <[T] as StoredAs<Array<M>>>::size(self)
    }

    #[inline(always)]
    fn store(&self, out: &mut Slots<'_>) -> Result<(), StoreError> {
        <[T] as StoredAs<Array<M>>>::store(self, out)
    }
}
