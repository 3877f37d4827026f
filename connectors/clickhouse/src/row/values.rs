//! Value types for columns that hold a number with a meaning: their names keep seconds from being taken for days.

/// A day, as days since 1970-01-01: what a `Date` column holds (until 2149-06-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Date(pub u16);

/// A second, as seconds since the Unix epoch: what a `DateTime` column holds (until 2106-02-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DateTime(pub u32);

/// A millisecond, as milliseconds since the Unix epoch: what a `DateTime64(3)` column holds.
///
/// The server knows the years 1900 to 2299; a row with another one is refused when it is encoded, because the server
/// would store some other time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DateTime64Millis(pub i64);

impl DateTime64Millis {
    /// The first millisecond of 1900.
    pub const MIN: DateTime64Millis = DateTime64Millis(-2_208_988_800_000);

    /// The last millisecond of 2299.
    pub const MAX: DateTime64Millis = DateTime64Millis(10_413_791_999_999);
}

impl From<i64> for DateTime64Millis {
    fn from(millis: i64) -> Self {
        DateTime64Millis(millis)
    }
}
