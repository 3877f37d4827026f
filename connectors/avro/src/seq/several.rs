//! Items that are written in several ways, which the form tells apart: text that is a string or a symbol, bytes with and without a
//! length, and so on.

use super::{Form, Item, ItemOf};
use crate::error::AvroError;
use crate::from_avro::FromAvro;
use crate::logical::{Decimal, Uuid, unscaled};
use crate::wire::{self, Reader, Symbols};

/// What an item's form cannot be, because records are read into types that fit them.
#[cold]
fn other_form() -> ! {
    unreachable!("an item is read in the form in which it was checked")
}

/// Text or a symbol.
#[inline(always)]
fn text<'b>(form: &Form, reader: &mut Reader<'b>) -> Result<&'b str, AvroError> {
    match form {
        Form::Symbols(symbols) => {
            let number = reader.symbol(symbols.len())?;
            Ok(symbols[number])
        }
        _ => reader.str(),
    }
}

/// Bytes with a length in front, or of a fixed one.
#[inline(always)]
fn bytes<'b>(form: &Form, reader: &mut Reader<'b>) -> Result<&'b [u8], AvroError> {
    match form {
        Form::Fixed(size)
        | Form::Decimal {
            fixed: Some(size), ..
        } => reader.take(*size),
        _ => reader.bytes(),
    }
}

/// The fewest of these bytes.
#[inline(always)]
fn least_bytes(form: &Form) -> usize {
    match form {
        Form::Fixed(size)
        | Form::Decimal {
            fixed: Some(size), ..
        } => *size,
        _ => 1,
    }
}

macro_rules! items {
    ($($ty:ty: |$form:ident, $reader:ident| $least:expr, $read:expr, $pass:expr;)*) => {$(
        impl<'b> Item<'b> for $ty {
            #[inline(always)]
            fn least($form: &Form) -> usize {
                let _ = $form;
                $least
            }

            #[inline(always)]
            fn read_item($form: &'static Form, $reader: &mut Reader<'b>) -> Result<Self, AvroError> {
                $read
            }

            #[inline(always)]
            fn pass_item($form: &'static Form, $reader: &mut Reader<'b>) -> Result<(), AvroError> {
                $pass.map(drop)
            }
        }
    )*};
}

items! {
    &'b str: |form, reader| 1, text(form, reader), text(form, reader);
    String: |form, reader| 1, text(form, reader).map(str::to_owned), text(form, reader);
    &'b [u8]: |form, reader| least_bytes(form), bytes(form, reader), bytes(form, reader);
    Vec<u8>: |form, reader| least_bytes(form), bytes(form, reader).map(<[u8]>::to_vec), bytes(form, reader);
}

macro_rules! forms {
    ($([$($generics:tt)*] $ty:ty: $wire:ty = $form:expr;)*) => {$(
        impl<'b, $($generics)*> ItemOf<'b, $wire> for $ty {
            const FORM: &'static Form = &$form;
        }
    )*};
}

forms! {
    [] &'b str: wire::Str = Form::Plain;
    [] &'b str: wire::Uuid = Form::Plain;
    [S: Symbols] &'b str: wire::Enum<S> = Form::Symbols(S::SYMBOLS);
    [] String: wire::Str = Form::Plain;
    [] String: wire::Uuid = Form::Plain;
    [S: Symbols] String: wire::Enum<S> = Form::Symbols(S::SYMBOLS);
    [] &'b [u8]: wire::Bytes = Form::Sized;
    [] &'b [u8]: wire::BigDecimal = Form::Sized;
    [const P: u32, const S: u32] &'b [u8]: wire::Decimal<P, S> = Form::Sized;
    [const N: usize] &'b [u8]: wire::Fixed<N> = Form::Fixed(N);
    [const N: usize, const P: u32, const S: u32] &'b [u8]: wire::DecimalFixed<N, P, S> = Form::Fixed(N);
    [] &'b [u8]: wire::UuidFixed = Form::Fixed(16);
    [] &'b [u8]: wire::Duration = Form::Fixed(12);
    [] Vec<u8>: wire::Bytes = Form::Sized;
    [] Vec<u8>: wire::BigDecimal = Form::Sized;
    [const P: u32, const S: u32] Vec<u8>: wire::Decimal<P, S> = Form::Sized;
    [const N: usize] Vec<u8>: wire::Fixed<N> = Form::Fixed(N);
    [const N: usize, const P: u32, const S: u32] Vec<u8>: wire::DecimalFixed<N, P, S> = Form::Fixed(N);
    [] Vec<u8>: wire::UuidFixed = Form::Fixed(16);
    [] Vec<u8>: wire::Duration = Form::Fixed(12);
    [const P: u32, const S: u32] Decimal<S>: wire::Decimal<P, S> = Form::Decimal { scale: S, fixed: None };
    [const N: usize, const P: u32, const S: u32] Decimal<S>: wire::DecimalFixed<N, P, S> = Form::Decimal { scale: S, fixed: Some(N) };
}

/// Its digits were counted when it was checked.
impl<'b, const S: u32> Item<'b> for Decimal<S> {
    #[inline(always)]
    fn least(form: &Form) -> usize {
        least_bytes(form)
    }

    #[inline(always)]
    fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
        let Some(number) = unscaled(bytes(form, reader)?) else {
            other_form()
        };
        Ok(Decimal(number))
    }
}

/// Rust types that are read from a few wire types, each in its own way.
macro_rules! nth {
    ($($ty:ty: $($number:literal $wire:ty),+;)*) => {$(
        impl<'b> Item<'b> for $ty {
            #[inline(always)]
            fn least(form: &Form) -> usize {
                match form {
                    $(Form::Nth($number) => <Self as FromAvro<'b, $wire>>::MIN,)+
                    _ => other_form(),
                }
            }

            #[inline(always)]
            fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
                match form {
                    $(Form::Nth($number) => <Self as FromAvro<'b, $wire>>::read(reader),)+
                    _ => other_form(),
                }
            }
        }

        forms! { $([] $ty: $wire = Form::Nth($number);)+ }
    )*};
}

nth! {
    Uuid: 0 wire::Uuid, 1 wire::UuidFixed;
}

#[cfg(feature = "uuid")]
nth! {
    uuid::Uuid: 0 wire::Uuid, 1 wire::UuidFixed;
}

#[cfg(feature = "chrono")]
nth! {
    chrono::NaiveTime: 0 wire::TimeMillis, 1 wire::TimeMicros;
    chrono::DateTime<chrono::Utc>: 0 wire::TimestampMillis, 1 wire::TimestampMicros, 2 wire::TimestampNanos;
    chrono::NaiveDateTime: 0 wire::LocalTimestampMillis, 1 wire::LocalTimestampMicros, 2 wire::LocalTimestampNanos;
}

#[cfg(feature = "time")]
nth! {
    time::Time: 0 wire::TimeMillis, 1 wire::TimeMicros;
    time::OffsetDateTime: 0 wire::TimestampMillis, 1 wire::TimestampMicros, 2 wire::TimestampNanos;
    time::PrimitiveDateTime: 0 wire::LocalTimestampMillis, 1 wire::LocalTimestampMicros, 2 wire::LocalTimestampNanos;
}

#[cfg(feature = "rust-decimal")]
mod rust_decimal {
    use ::rust_decimal::Decimal;

    use super::*;

    impl<'b> Item<'b> for Decimal {
        #[inline(always)]
        fn least(form: &Form) -> usize {
            least_bytes(form)
        }

        #[inline]
        fn read_item(form: &'static Form, reader: &mut Reader<'b>) -> Result<Self, AvroError> {
            let Form::Decimal { scale, .. } = form else {
                return <Self as FromAvro<'b, wire::BigDecimal>>::read(reader);
            };
            let number = unscaled(bytes(form, reader)?);
            match number.map(|number| Decimal::try_from_i128_with_scale(number, *scale)) {
                Some(Ok(decimal)) => Ok(decimal),
                _ => other_form(),
            }
        }
    }

    forms! {
        [] Decimal: wire::BigDecimal = Form::Plain;
        [const P: u32, const S: u32] Decimal: wire::Decimal<P, S> = Form::Decimal { scale: S, fixed: None };
        [const N: usize, const P: u32, const S: u32] Decimal: wire::DecimalFixed<N, P, S> = Form::Decimal { scale: S, fixed: Some(N) };
    }
}
