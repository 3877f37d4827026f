//! The wire types that have no other types inside: how a value is read, before anything is made of it.
//!
//! A value comes as the wire has it, borrowed ([`Scalar::Value`]); what a field makes of it is said by
//! [`FromWire`], once per Rust type. So whatever else yields such a value (a writer's `int` where the reader has a `long`) ends in the
//! same conversion.

use std::marker::PhantomData;

use super::{Reader, Skip};
use crate::error::AvroError;
use crate::from_avro::FromAvro;
use crate::from_wire::FromWire;

/// A wire type without other types inside.
pub trait Scalar: Skip {
    /// Its values, as the wire has them.
    type Value<'b>;

    /// Reads a value.
    ///
    /// # Errors
    /// The payload is not such a value.
    fn read<'b>(reader: &mut Reader<'b>) -> Result<Self::Value<'b>, AvroError>;
}

/// The marker's traits: how a value is passed over, how it is read, and that whatever is made of its values can be a field.
///
/// One implementation of `FromAvro` for each marker, not one for all of them: where a type does not fit, rustc then names the marker and the
/// type.
macro_rules! scalar {
    ([$($generics:tt)*] $marker:ty, $least:expr, $value:ty, |$reader:ident| $skip:expr, $read:expr) => {
        impl<$($generics)*> Skip for $marker {
            const MIN: usize = $least;

            #[inline(always)]
            fn skip($reader: &mut Reader<'_>) -> Result<(), AvroError> {
                $skip
            }
        }

        impl<$($generics)*> Scalar for $marker {
            type Value<'b> = $value;

            #[inline(always)]
            fn read<'b>($reader: &mut Reader<'b>) -> Result<$value, AvroError> {
                $read
            }
        }

        impl<'b, T: FromWire<'b, $marker>, $($generics)*> FromAvro<'b, $marker> for T {
            const MIN: usize = <$marker as Skip>::MIN;
            const DERIVED: u64 = T::ENUM;

            #[inline(always)]
            fn placeholder() -> Self {
                T::placeholder()
            }

            #[inline(always)]
            fn read(reader: &mut Reader<'b>) -> Result<Self, AvroError> {
                match T::from_wire(<$marker as Scalar>::read(reader)?) {
                    Ok(value) => Ok(value),
                    Err(kind) => Err(reader.error(kind)),
                }
            }

            #[inline(always)]
            fn check(reader: &mut Reader<'b>) -> Result<(), AvroError> {
                match T::check(<$marker as Scalar>::read(reader)?) {
                    Ok(()) => Ok(()),
                    Err(kind) => Err(reader.error(kind)),
                }
            }
        }
    };
}

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident, $least:literal, $value:ty, |$reader:ident| $skip:expr, $read:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        scalar! { [] $name, $least, $value, |$reader| $skip, $read }
    )*};
}

scalars! {
    /// `null`: no bytes.
    Null, 0, (), |_reader| Ok(()), Ok(());
    /// `boolean`.
    Boolean, 1, bool, |reader| reader.boolean().map(drop), reader.boolean();
    /// `int`.
    Int, 1, i32, |reader| reader.int().map(drop), reader.int();
    /// `long`.
    Long, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `float`.
    Float, 4, f32, |reader| reader.skip(4), reader.float();
    /// `double`.
    Double, 8, f64, |reader| reader.skip(8), reader.double();
    /// `bytes`.
    Bytes, 1, &'b [u8], |reader| reader.bytes().map(drop), reader.bytes();
    /// `bytes` with the logical type `big-decimal`.
    BigDecimal, 1, &'b [u8], |reader| reader.bytes().map(drop), reader.bytes();
    /// `int` with the logical type `date`.
    Date, 1, i32, |reader| reader.int().map(drop), reader.int();
    /// `int` with the logical type `time-millis`.
    TimeMillis, 1, i32, |reader| reader.int().map(drop), reader.int();
    /// `long` with the logical type `time-micros`.
    TimeMicros, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `timestamp-millis`.
    TimestampMillis, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `timestamp-micros`.
    TimestampMicros, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `timestamp-nanos`.
    TimestampNanos, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `local-timestamp-millis`.
    LocalTimestampMillis, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `local-timestamp-micros`.
    LocalTimestampMicros, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `long` with the logical type `local-timestamp-nanos`.
    LocalTimestampNanos, 1, i64, |reader| reader.skip_long(), reader.long();
    /// `fixed` of 16 bytes with the logical type `uuid`.
    UuidFixed, 16, &'b [u8; 16], |reader| reader.skip(16), reader.array();
    /// `fixed` of 12 bytes with the logical type `duration`.
    Duration, 12, &'b [u8; 12], |reader| reader.skip(12), reader.array();
    /// `string` with the logical type `uuid`.
    Uuid, 1, &'b str, |reader| reader.bytes().map(drop), reader.str();
    /// `string`.
    Str, 1, &'b str, |reader| reader.bytes().map(drop), reader.str();
}

/// `fixed` of `N` bytes.
#[derive(Debug)]
pub struct Fixed<const N: usize>;

scalar! { [const N: usize] Fixed<N>, N, &'b [u8; N], |reader| reader.skip(N), reader.array() }

/// `bytes` with the logical type `decimal`: `PRECISION` digits, `SCALE` of them behind the point.
#[derive(Debug)]
pub struct Decimal<const PRECISION: u32, const SCALE: u32>;

scalar! { [const P: u32, const S: u32] Decimal<P, S>, 1, &'b [u8], |reader| reader.bytes().map(drop), reader.bytes() }

/// `fixed` of `N` bytes with the logical type `decimal`.
#[derive(Debug)]
pub struct DecimalFixed<const N: usize, const PRECISION: u32, const SCALE: u32>;

scalar! { [const N: usize, const P: u32, const S: u32] DecimalFixed<N, P, S>, N, &'b [u8; N], |reader| reader.skip(N), reader.array() }

/// The symbols of an enum in the order of the schema.
pub trait Symbols {
    /// The symbols.
    const SYMBOLS: &'static [&'static str];
}

/// `enum` with the symbols of `S`.
#[derive(Debug)]
pub struct Enum<S>(PhantomData<S>);

/// A value of an enum: the number of its symbol, which is in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolOf(pub usize);

scalar! { [S: Symbols] Enum<S>, 1, SymbolOf, |reader| reader.symbol(S::SYMBOLS.len()).map(drop), reader.symbol(S::SYMBOLS.len()).map(SymbolOf) }
