//! Types of `time` (feature `time`): a value that they cannot hold is an error of its record.

use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, checked};
use crate::wire;

/// The Julian day of 1970-01-01.
const EPOCH_DAY: i32 = 2_440_588;

const EPOCH: PrimitiveDateTime =
    PrimitiveDateTime::new(OffsetDateTime::UNIX_EPOCH.date(), Time::MIDNIGHT);

fn of_day(nanos: Option<i64>) -> Option<Time> {
    let nanos = u64::try_from(nanos?).ok()?;
    let (seconds, nanos) = (nanos / 1_000_000_000, (nanos % 1_000_000_000) as u32);
    let hour = u8::try_from(seconds / 3_600).ok()?;
    Time::from_hms_nano(hour, (seconds / 60 % 60) as u8, (seconds % 60) as u8, nanos).ok()
}

fn point(nanos: i128) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()
}

fn local(nanos: i128) -> Option<PrimitiveDateTime> {
    point(nanos).map(|time| PrimitiveDateTime::new(time.date(), time.time()))
}

checked! {
    Date, EPOCH.date(), |value| Date::from_julian_day(value.checked_add(EPOCH_DAY)?).ok(), wire::Date;
    Time, Time::MIDNIGHT, |value| of_day(Some(i64::from(value) * 1_000_000)), wire::TimeMillis;
    Time, Time::MIDNIGHT, |value| of_day(value.checked_mul(1_000)), wire::TimeMicros;
    OffsetDateTime, OffsetDateTime::UNIX_EPOCH, |value| point(i128::from(value) * 1_000_000), wire::TimestampMillis;
    OffsetDateTime, OffsetDateTime::UNIX_EPOCH, |value| point(i128::from(value) * 1_000), wire::TimestampMicros;
    OffsetDateTime, OffsetDateTime::UNIX_EPOCH, |value| point(i128::from(value)), wire::TimestampNanos;
    PrimitiveDateTime, EPOCH, |value| local(i128::from(value) * 1_000_000), wire::LocalTimestampMillis;
    PrimitiveDateTime, EPOCH, |value| local(i128::from(value) * 1_000), wire::LocalTimestampMicros;
    PrimitiveDateTime, EPOCH, |value| local(i128::from(value)), wire::LocalTimestampNanos;
}
