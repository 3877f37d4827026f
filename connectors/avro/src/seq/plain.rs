//! Items whose Rust type tells how they are written.

use super::{ItemOf, PlainItem};
use crate::logical::{
    BigDecimal, Date, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos,
};
use crate::record::AvroRecord;
use crate::wire;

impl<'b, T: AvroRecord<'b>> PlainItem<'b> for T {
    type Wire = wire::Record;
}

macro_rules! plain {
    ($([$($generics:tt)*] $ty:ty: $wire:ty;)*) => {$(
        impl<'b, $($generics)*> PlainItem<'b> for $ty {
            type Wire = $wire;
        }
        impl<'b, $($generics)*> ItemOf<'b, $wire> for $ty {}
    )*};
}

/// Wire types that are written like the item's own.
macro_rules! alike {
    ($([$($generics:tt)*] $ty:ty: $wire:ty;)*) => {$(
        impl<'b, $($generics)*> ItemOf<'b, $wire> for $ty {}
    )*};
}

plain! {
    [] (): wire::Null;
    [] bool: wire::Boolean;
    [] i32: wire::Int;
    [] i64: wire::Long;
    [] f32: wire::Float;
    [] f64: wire::Double;
    [] Date: wire::Date;
    [] TimeMillis: wire::TimeMillis;
    [] TimeMicros: wire::TimeMicros;
    [] TimestampMillis: wire::TimestampMillis;
    [] TimestampMicros: wire::TimestampMicros;
    [] TimestampNanos: wire::TimestampNanos;
    [] LocalTimestampMillis: wire::LocalTimestampMillis;
    [] LocalTimestampMicros: wire::LocalTimestampMicros;
    [] LocalTimestampNanos: wire::LocalTimestampNanos;
    [] BigDecimal: wire::BigDecimal;
    [] Duration: wire::Duration;
    [const N: usize] [u8; N]: wire::Fixed<N>;
    [const N: usize] &'b [u8; N]: wire::Fixed<N>;
}

alike! {
    [T: AvroRecord<'b>] T: wire::Record;
    [] i32: wire::Date;
    [] i32: wire::TimeMillis;
    [] i64: wire::Int;
    [] i64: wire::Date;
    [] i64: wire::TimeMillis;
    [] i64: wire::TimeMicros;
    [] i64: wire::TimestampMillis;
    [] i64: wire::TimestampMicros;
    [] i64: wire::TimestampNanos;
    [] i64: wire::LocalTimestampMillis;
    [] i64: wire::LocalTimestampMicros;
    [] i64: wire::LocalTimestampNanos;
    [] [u8; 12]: wire::Duration;
    [] &'b [u8; 12]: wire::Duration;
    [] [u8; 16]: wire::UuidFixed;
    [] &'b [u8; 16]: wire::UuidFixed;
    [const N: usize, const P: u32, const S: u32] [u8; N]: wire::DecimalFixed<N, P, S>;
    [const N: usize, const P: u32, const S: u32] &'b [u8; N]: wire::DecimalFixed<N, P, S>;
}

#[cfg(feature = "chrono")]
plain! {
    [] chrono::NaiveDate: wire::Date;
}

#[cfg(feature = "time")]
plain! {
    [] time::Date: wire::Date;
}
