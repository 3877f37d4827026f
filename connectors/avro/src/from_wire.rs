//! What a Rust type makes of a wire type's values. Hot path: everything is inlined into the record's decoder.

use crate::enums::AvroEnum;
use crate::error::AvroErrorKind;
use crate::wire::{self, Scalar, Symbols};

/// A Rust type that is made of the values of the wire type `W`, which has no other types inside.
///
/// Implement it for a type of your own to use it in records; the value comes as the wire has it, text and bytes borrowed from the
/// payload.
///
/// ```
/// use spate_avro::{AvroErrorKind, FromWire, wire};
///
/// /// A country by its two letters.
/// struct Country([u8; 2]);
///
/// impl<'b> FromWire<'b, wire::Str> for Country {
///     fn placeholder() -> Self {
///         Country([0; 2])
///     }
///
///     fn from_wire(text: &'b str) -> Result<Self, AvroErrorKind> {
///         let letters = text.as_bytes().try_into();
///         letters.map(Country).map_err(|_| AvroErrorKind::Refused { why: "a country has two letters" })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "an Avro field of the type `{W}` cannot be read into `{Self}`",
    label = "the schema's type here is `{W}`",
    note = "a record is read into a struct with `#[derive(AvroRecord)]`, for an inner one with `record = \"Name\"`",
    note = "`bool` reads a boolean, `i32` an int, `i64` an int or a long, `f32` a float, `f64` a float or a double",
    note = "`&str` and `String` read a string, `&[u8]` and `Vec<u8>` bytes, `[u8; N]` a fixed; `Date`, `TimestampMillis`, `Decimal<SCALE>` .. of `spate::avro` their logical types",
    note = "`Option<T>` reads a union with null, `Vec<T>` and `Seq<'a, T>` an array, with pairs `(&str, T)` a map",
    note = "an enum is read into an enum with `#[derive(AvroEnum)]` or text, a union of several types into one with `#[derive(AvroUnion)]`"
)]
pub trait FromWire<'b, W: Scalar>: Sized {
    /// The fingerprint of the enum that the type is derived for; zero for every other type.
    #[doc(hidden)]
    const ENUM: u64 = 0;

    /// A value that costs nothing to make and that nobody looks at: it stands for a field that is read later, if at all.
    fn placeholder() -> Self;

    /// Makes a value.
    ///
    /// # Errors
    /// The type does not take this value.
    fn from_wire(value: W::Value<'b>) -> Result<Self, AvroErrorKind>;

    /// Whether [`from_wire`](FromWire::from_wire) would fail; worth an implementation where that allocates.
    ///
    /// # Errors
    /// Exactly when `from_wire` fails.
    #[inline(always)]
    fn check(value: W::Value<'b>) -> Result<(), AvroErrorKind> {
        Self::from_wire(value).map(drop)
    }
}

/// Conversions that cannot fail, each from several wire types of the same value.
macro_rules! from_wire {
    ($([$($generics:tt)*] $ty:ty, $placeholder:expr, |$value:ident: $from:ty| $convert:expr, $($wire:ty),+;)*) => {
        $(from_wire! { @each ([$($generics)*] $ty, $placeholder, |$value| $convert) $($wire),+ })*
    };
    (@each $case:tt $($wire:ty),+) => {
        $(from_wire! { @one $case $wire })+
    };
    (@one ([$($generics:tt)*] $ty:ty, $placeholder:expr, |$value:ident| $convert:expr) $wire:ty) => {
        impl<'b, $($generics)*> FromWire<'b, $wire> for $ty {
            #[inline(always)]
            fn placeholder() -> Self {
                $placeholder
            }

            #[inline(always)]
            fn from_wire($value: <$wire as Scalar>::Value<'b>) -> Result<Self, AvroErrorKind> {
                Ok($convert)
            }

            #[inline(always)]
            fn check(_: <$wire as Scalar>::Value<'b>) -> Result<(), AvroErrorKind> {
                Ok(())
            }
        }
    };
}
pub(crate) use from_wire;

/// Conversions of numbers to types that cannot hold all of them.
#[cfg(any(feature = "chrono", feature = "time"))]
macro_rules! checked {
    ($($ty:ty, $placeholder:expr, |$value:ident| $convert:expr, $wire:ty;)*) => {$(
        impl<'b> FromWire<'b, $wire> for $ty {
            #[inline(always)]
            fn placeholder() -> Self {
                $placeholder
            }

            #[inline]
            fn from_wire($value: <$wire as $crate::wire::Scalar>::Value<'b>) -> Result<Self, AvroErrorKind> {
                let convert = || $convert;
                convert().ok_or(AvroErrorKind::OutOfRange {
                    value: i64::from($value),
                })
            }
        }
    )*};
}
#[cfg(any(feature = "chrono", feature = "time"))]
pub(crate) use checked;

from_wire! {
    [] (), (), |value: ()| value, wire::Null;
    [] bool, false, |value: bool| value, wire::Boolean;
    [] i32, 0, |value: i32| value, wire::Int;
    [] i64, 0, |value: i32| i64::from(value), wire::Int;
    [] i64, 0, |value: i64| value, wire::Long;
    [] f32, 0.0, |value: f32| value, wire::Float;
    [] f64, 0.0, |value: f32| f64::from(value), wire::Float;
    [] f64, 0.0, |value: f64| value, wire::Double;
    [] &'b str, "", |value: &'b str| value, wire::Str;
    [] String, String::new(), |value: &'b str| value.to_owned(), wire::Str;
    [] &'b [u8], &[], |value: &'b [u8]| value, wire::Bytes;
    [] Vec<u8>, Vec::new(), |value: &'b [u8]| value.to_vec(), wire::Bytes;
    [const N: usize] [u8; N], [0; N], |value: &'b [u8; N]| *value, wire::Fixed<N>;
    [const N: usize] &'b [u8; N], const { &[0; N] }, |value: &'b [u8; N]| value, wire::Fixed<N>;
    [const N: usize] &'b [u8], &[], |value: &'b [u8; N]| value, wire::Fixed<N>;
    [const N: usize] Vec<u8>, Vec::new(), |value: &'b [u8; N]| value.to_vec(), wire::Fixed<N>;
    [S: Symbols] &'b str, "", |value: wire::SymbolOf| S::SYMBOLS.get(value.0).copied().unwrap_or_default(), wire::Enum<S>;
    [S: Symbols] String, String::new(), |value: wire::SymbolOf| S::SYMBOLS.get(value.0).copied().unwrap_or_default().to_owned(), wire::Enum<S>;
}

impl<'b, S: Symbols, T: AvroEnum> FromWire<'b, wire::Enum<S>> for T {
    const ENUM: u64 = T::FINGERPRINT;

    #[inline(always)]
    fn placeholder() -> Self {
        match T::from_index(0) {
            Some(first) => first,
            None => unreachable!("an enum has a symbol"),
        }
    }

    #[inline(always)]
    fn from_wire(symbol: wire::SymbolOf) -> Result<Self, AvroErrorKind> {
        match T::from_index(symbol.0) {
            Some(variant) => Ok(variant),
            // The record's derive asserts that both mean the same enum.
            None => Err(AvroErrorKind::Symbol {
                symbol: symbol.0 as i64,
                symbols: S::SYMBOLS.len(),
            }),
        }
    }
}
