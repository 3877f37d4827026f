//! Types of `chrono` (feature `chrono`): a value that they cannot hold is an error of its record.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, checked};
use crate::wire;

checked! {
    NaiveDate, NaiveDate::default(), |value| NaiveDate::from_epoch_days(value), wire::Date;
    NaiveTime, NaiveTime::default(), |value| {
        let millis = u32::try_from(value).ok()?;
        NaiveTime::from_num_seconds_from_midnight_opt(millis / 1_000, millis % 1_000 * 1_000_000)
    }, wire::TimeMillis;
    NaiveTime, NaiveTime::default(), |value| {
        let micros = u64::try_from(value).ok()?;
        let seconds = u32::try_from(micros / 1_000_000).ok()?;
        NaiveTime::from_num_seconds_from_midnight_opt(seconds, (micros % 1_000_000) as u32 * 1_000)
    }, wire::TimeMicros;
    DateTime<Utc>, DateTime::UNIX_EPOCH, |value| DateTime::from_timestamp_millis(value), wire::TimestampMillis;
    DateTime<Utc>, DateTime::UNIX_EPOCH, |value| DateTime::from_timestamp_micros(value), wire::TimestampMicros;
    DateTime<Utc>, DateTime::UNIX_EPOCH, |value| Some(DateTime::from_timestamp_nanos(value)), wire::TimestampNanos;
    NaiveDateTime, NaiveDateTime::default(), |value| DateTime::from_timestamp_millis(value).map(|time| time.naive_utc()), wire::LocalTimestampMillis;
    NaiveDateTime, NaiveDateTime::default(), |value| DateTime::from_timestamp_micros(value).map(|time| time.naive_utc()), wire::LocalTimestampMicros;
    NaiveDateTime, NaiveDateTime::default(), |value| Some(DateTime::from_timestamp_nanos(value).naive_utc()), wire::LocalTimestampNanos;
}
