//! Values that decoders make and sinks store: thin names for numbers and bytes, so that units and meanings cannot be mixed up on the way.
//!
//! They stand here because connectors do not know each other: Avro's decoder reads them, ClickHouse's rows store them.

use std::fmt;

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

/// A `decimal` with `SCALE` digits behind the point, which has to be the schema's: `Decimal(-1230)` with a scale of 2 is -12.30.
///
/// It holds up to 38 digits. A value that needs more than 128 bits, or more digits than the schema's precision, is an error
/// of its record. A value of no bytes is zero: some writers write zero so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Decimal<const SCALE: u32>(pub i128);

impl<const SCALE: u32> From<Decimal<SCALE>> for i128 {
    /// All digits as one number.
    fn from(decimal: Decimal<SCALE>) -> i128 {
        decimal.0
    }
}

/// A `big-decimal`: a number that brings its scale with it. `unscaled` times ten to the power of `-scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct BigDecimal {
    /// All digits as one number.
    pub unscaled: i128,
    /// How many of them stand behind the point; below zero, how many zeros follow.
    pub scale: i32,
}

/// As it is written: `-12.30`.
impl<const SCALE: u32> fmt::Display for Decimal<SCALE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        written(self.0, SCALE as usize, f)
    }
}

/// As it is written, `-12.30`; with a scale below zero or of more than 64 as `-1230e2`: the writer chooses the scale.
impl fmt::Display for BigDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 64;
        match usize::try_from(self.scale) {
            Ok(scale) if scale <= LONGEST => written(self.unscaled, scale, f),
            _ => write!(f, "{}e{}", self.unscaled, -i64::from(self.scale)),
        }
    }
}

fn written(unscaled: i128, scale: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits = unscaled.unsigned_abs().to_string();
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, behind) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    match behind {
        "" => write!(f, "{sign}{whole}"),
        behind => write!(f, "{sign}{whole}.{behind}"),
    }
}

impl<const SCALE: u32> fmt::Debug for Decimal<SCALE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A UUID: what a `uuid` holds, as text of 36 characters or as a fixed of 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// Reads `67e55044-10b1-426f-9247-bb680e5fe0c8`, in small or capital letters; nothing else is a UUID's text (RFC 4122).
    #[must_use]
    #[inline]
    pub fn parse(text: &str) -> Option<Uuid> {
        let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
        let dashes = [text[8], text[13], text[18], text[23]] == *b"----";
        let (mut bytes, mut all) = ([0; 16], 0);
        for (byte, at) in bytes.iter_mut().zip(DIGITS_AT) {
            let high = DIGITS[usize::from(text[at])];
            let low = DIGITS[usize::from(text[at + 1])];
            all |= high | low;
            *byte = high << 4 | low;
        }
        (dashes && all < 16).then_some(Uuid(bytes))
    }
}

/// Where the two digits of each byte stand in a UUID's text.
const DIGITS_AT: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/// What each character stands for as a hexadecimal digit; a number that is none for the others.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut digit = 0;
    while digit < 16 {
        digits[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digits[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// As text of 36 characters in small letters.
impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            if matches!(n, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Uuid> for [u8; 16] {
    fn from(uuid: Uuid) -> [u8; 16] {
        uuid.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_with_their_point() {
        assert_eq!(Decimal::<2>(-1230).to_string(), "-12.30");
        assert_eq!(Decimal::<2>(-5).to_string(), "-0.05");
        assert_eq!(Decimal::<0>(7).to_string(), "7");
        assert_eq!(Decimal::<3>(0).to_string(), "0.000");
        assert_eq!(
            Decimal::<38>(i128::MIN).to_string(),
            "-1.70141183460469231731687303715884105728"
        );
        let big = |unscaled, scale| BigDecimal { unscaled, scale }.to_string();
        assert_eq!(big(-1230, 2), "-12.30");
        assert_eq!(big(12, 0), "12");
        assert_eq!(big(12, -3), "12e3");
        assert_eq!(big(12, i32::MAX), "12e-2147483647", "no room for its zeros");
    }

    #[test]
    fn text_is_read_as_it_is_written_and_in_capitals() {
        let text = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        let uuid = Uuid::parse(text).expect("a UUID");
        assert_eq!(uuid.0[..3], [0x67, 0xe5, 0x50]);
        assert_eq!(uuid.to_string(), text);
        assert_eq!(Uuid::parse(&text.to_uppercase()), Some(uuid));
    }

    #[test]
    fn every_other_text_is_refused() {
        for text in [
            "",
            "67e5504410b1426f9247bb680e5fe0c8",
            "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
            "67e55044-10b1-426f-9247-bb680e5fe0c",
            "67e55044-10b1-426f-9247-bb680e5fe0c8 ",
            "67e55044-10b1-426f-9247-bb680e5fe0g8",
            "67e55044-10b1-426f-9247+bb680e5fe0c8",
            "67e55044010b1-426f-9247-bb680e5fe0c8",
            "67e55044-10b1-426f-9247-bb680e5fe\u{e9}8",
        ] {
            assert_eq!(Uuid::parse(text), None, "{text}");
        }
    }
}
