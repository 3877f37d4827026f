//! The value type of `timestamp-millis`.

/// A point in time in milliseconds since the Unix epoch: what a `timestamp-millis` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TimestampMillis(pub i64);

impl From<TimestampMillis> for i64 {
    fn from(timestamp: TimestampMillis) -> i64 {
        timestamp.0
    }
}
