//! The value type of `duration`.

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Scalar};

/// A `duration`: three amounts that are never converted into each other, because months and days have no fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    /// Months.
    pub months: u32,
    /// Days.
    pub days: u32,
    /// Milliseconds.
    pub millis: u32,
}

impl Duration {
    #[inline(always)]
    pub(crate) fn from_bytes(bytes: &[u8; 12]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Duration {
            months: u32::from_le_bytes([a, b, c, d]),
            days: u32::from_le_bytes([e, f, g, h]),
            millis: u32::from_le_bytes([i, j, k, l]),
        }
    }
}

from_wire! {
    [] Duration, Duration::default(), |value: &'b [u8; 12]| Duration::from_bytes(value), wire::Duration;
    [] [u8; 12], [0; 12], |value: &'b [u8; 12]| *value, wire::Duration;
    [] &'b [u8; 12], &[0; 12], |value: &'b [u8; 12]| value, wire::Duration;
    [] &'b [u8], &[], |value: &'b [u8; 12]| value, wire::Duration;
    [] Vec<u8>, Vec::new(), |value: &'b [u8; 12]| value.to_vec(), wire::Duration;
}
