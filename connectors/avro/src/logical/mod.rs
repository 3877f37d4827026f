//! Values of the logical types, and what else they are read into.
//!
//! Each has a wire type of its own ([`wire`](crate::wire)), so that days are never taken for milliseconds; the plain number, text or bytes
//! below is always an answer too. Types of other crates stand behind features.

#[cfg(feature = "chrono")]
mod chrono;
mod decimal;
mod duration;
#[cfg(feature = "rust-decimal")]
mod rust_decimal;
#[cfg(feature = "time")]
mod time;
mod times;
mod uuid;

pub(crate) use decimal::unscaled;
#[cfg(feature = "value")]
pub(crate) use decimal::{big_decimal, number_of};
pub use duration::Duration;
pub use spate_runtime::value::{
    BigDecimal, Date, Decimal, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, Uuid,
};
