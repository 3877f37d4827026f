//! Values with a meaning, as decoders make them, in the columns that hold it. Hot path.
//!
//! Nothing is rounded, wrapped or cut: a unit that is finer than the column's has no implementation, one that is coarser is multiplied
//! exactly, and what the column cannot hold is an error of its row.

use spate_runtime::value::{Date, Decimal, TimestampMicros, TimestampMillis, TimestampNanos, Uuid};

use super::slots::Slots;
use super::stored::{StoreError, StoredAs, stored};
use super::types::{self, DateTime64, Nullable};

/// The first day of 1900 and the last one of 2299.
const DATE32: (i32, i32) = (-25_567, 120_529);

/// The years 1900 to 2299 in seconds; the end is the first second of 2300.
const YEARS: (i64, i64) = (-2_208_988_800, 10_413_792_000);

/// A point in time in the column's unit, of which the value's has `factor`.
#[inline(always)]
fn ticks<const P: u8>(value: i64, unit: &'static str, factor: i64) -> Result<i64, StoreError> {
    // In nanoseconds 64 bits end before the years do.
    let (first, end) = const {
        let second = 10i64.pow(P as u32);
        (YEARS.0 * second, YEARS.1.saturating_mul(second))
    };
    match value.checked_mul(factor) {
        Some(ticks) if first <= ticks && ticks < end => Ok(ticks),
        _ => Err(StoreError::Timestamp {
            value,
            unit,
            precision: P,
        }),
    }
}

macro_rules! timestamps {
    ($($ty:ident $unit:literal: $($precision:literal $factor:literal),+;)*) => {
        stored! {$($(
            [] $ty, DateTime64<$precision>, |value, out| 8, out.put(&ticks::<$precision>(value.0, $unit, $factor)?.to_le_bytes());
        )+)*}
    };
}

timestamps! {
    TimestampMillis "ms": 3 1, 4 10, 5 100, 6 1_000, 7 10_000, 8 100_000, 9 1_000_000;
    TimestampMicros "us": 6 1, 7 10, 8 100, 9 1_000;
    TimestampNanos "ns": 9 1;
}

stored! {
    [] Date, types::Date32, |value, out| 4, {
        let (first, last) = DATE32;
        if !(first..=last).contains(&value.0) {
            return Err(StoreError::Date { days: value.0, first, last });
        }
        out.put(&value.0.to_le_bytes());
    };
    [] Date, types::Date, |value, out| 2, {
        let Ok(days) = u16::try_from(value.0) else {
            return Err(StoreError::Date { days: value.0, first: 0, last: i32::from(u16::MAX) });
        };
        out.put(&days.to_le_bytes());
    };
    // Two numbers of 64 bits, each little endian.
    [] Uuid, types::UUID, |value, out| 16, {
        let number = u128::from_be_bytes(value.0);
        out.put(&((number >> 64) as u64).to_le_bytes());
        out.put(&(number as u64).to_le_bytes());
    };
    [const P: u32, const S: u32] Decimal<S>, types::Decimal<P, S>, |value, out| const { width(P) }, {
        if const { 10u128.checked_pow(P) }.is_some_and(|limit| value.0.unsigned_abs() >= limit) {
            return Err(StoreError::Decimal { unscaled: value.0, precision: P });
        }
        let bytes = value.0.to_le_bytes();
        match bytes.get(..const { width(P) }) {
            // What is above the width repeats the sign.
            Some(bytes) => out.put(bytes),
            None => {
                out.put(&bytes);
                out.put(&[if value.0 < 0 { 0xff } else { 0 }; 16]);
            }
        }
    };
}

/// How many bytes a decimal of so many digits takes.
const fn width(precision: u32) -> usize {
    match precision {
        0..=9 => 4,
        10..=18 => 8,
        19..=38 => 16,
        _ => 32,
    }
}
