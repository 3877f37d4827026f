//! Dates, times of the day and points in time: thin names for numbers, so that their units cannot be mixed up.

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Scalar};

macro_rules! times {
    ($($(#[$doc:meta])* $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub $number);

        impl From<$name> for $number {
            fn from(value: $name) -> $number {
                value.0
            }
        }

        from_wire! {
            [] $name, $name(0), |value: $number| $name(value), wire::$name;
        }
    )*};
}

times! {
    /// A day as days since 1970-01-01: what a `date` holds.
    Date(i32);
    /// A time of the day in milliseconds after midnight: what a `time-millis` holds. A writer may have put any number there.
    TimeMillis(i32);
    /// A time of the day in microseconds after midnight: what a `time-micros` holds. A writer may have put any number there.
    TimeMicros(i64);
    /// A point in time in milliseconds since the Unix epoch: what a `timestamp-millis` holds.
    TimestampMillis(i64);
    /// A point in time in microseconds since the Unix epoch: what a `timestamp-micros` holds.
    TimestampMicros(i64);
    /// A point in time in nanoseconds since the Unix epoch: what a `timestamp-nanos` holds.
    TimestampNanos(i64);
    /// Date and time of an unnamed time zone, in milliseconds since 1970-01-01T00:00 there: what a `local-timestamp-millis` holds.
    LocalTimestampMillis(i64);
    /// Date and time of an unnamed time zone, in microseconds since 1970-01-01T00:00 there: what a `local-timestamp-micros` holds.
    LocalTimestampMicros(i64);
    /// Date and time of an unnamed time zone, in nanoseconds since 1970-01-01T00:00 there: what a `local-timestamp-nanos` holds.
    LocalTimestampNanos(i64);
}

from_wire! {
    [] i32, 0, |value: i32| value, wire::Date, wire::TimeMillis;
    [] i64, 0, |value: i32| i64::from(value), wire::Date, wire::TimeMillis;
    [] i64, 0, |value: i64| value, wire::TimeMicros, wire::TimestampMillis, wire::TimestampMicros, wire::TimestampNanos,
        wire::LocalTimestampMillis, wire::LocalTimestampMicros, wire::LocalTimestampNanos;
}
