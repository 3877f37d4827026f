//! Dates, times of the day and points in time.

use spate_runtime::value::{
    Date, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos, TimeMicros, TimeMillis,
    TimestampMicros, TimestampMillis, TimestampNanos,
};

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Scalar};

macro_rules! times {
    ($($name:ident: $number:ty;)*) => {
        from_wire! {
            $([] $name, $name(0), |value: $number| $name(value), wire::$name;)*
        }
    };
}

times! {
    Date: i32;
    TimeMillis: i32;
    TimeMicros: i64;
    TimestampMillis: i64;
    TimestampMicros: i64;
    TimestampNanos: i64;
    LocalTimestampMillis: i64;
    LocalTimestampMicros: i64;
    LocalTimestampNanos: i64;
}

from_wire! {
    [] i32, 0, |value: i32| value, wire::Date, wire::TimeMillis;
    [] i64, 0, |value: i32| i64::from(value), wire::Date, wire::TimeMillis;
    [] i64, 0, |value: i64| value, wire::TimeMicros, wire::TimestampMillis, wire::TimestampMicros, wire::TimestampNanos,
        wire::LocalTimestampMillis, wire::LocalTimestampMicros, wire::LocalTimestampNanos;
}
