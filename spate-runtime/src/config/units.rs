//! Settings with a unit: durations (`5s`), sizes in bytes (`64KiB`), and [`Secret`] texts that are never shown.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A text that must not be shown: a password, a token, a private key.
///
/// `Debug` prints `<secret>`; there is no `Display`.
///
/// ```
/// let secret = spate_runtime::config::Secret::new("hunter2");
/// assert_eq!(format!("{secret:?}"), "<secret>");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Secret)
    }
}

/// A number of bytes: `64KiB`, `1GiB`, `10MB`, or a plain number.
///
/// `KiB`, `MiB`, `GiB`, `TiB` count by 1024, `kB`, `MB`, `GB`, `TB` by 1000; upper and lower case are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// So many bytes.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        ByteSize(bytes)
    }

    /// So many times 1024 bytes.
    #[must_use]
    pub const fn kib(kib: u64) -> Self {
        ByteSize(kib.saturating_mul(1 << 10))
    }

    /// So many times 1024 x 1024 bytes.
    #[must_use]
    pub const fn mib(mib: u64) -> Self {
        ByteSize(mib.saturating_mul(1 << 20))
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes; the largest `usize` where that is smaller.
    #[must_use]
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        const UNITS: &str =
            "expected a size in bytes such as `64KiB`, `1GiB`, `10MB` or a plain number";
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(text.len());
        let number: u64 = text[..end].replace('_', "").parse().map_err(|_| UNITS)?;
        let unit: u64 = match text[end..].trim_start().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return Err(UNITS),
        };
        number
            .checked_mul(unit)
            .map(ByteSize)
            .ok_or("a size of more bytes than can be counted")
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size in bytes such as `64KiB`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        ByteSize::parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<ByteSize, E> {
        Ok(ByteSize(bytes))
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SizeVisitor)
    }
}

/// `#[serde(with = "spate_runtime::config::byte_size")]` for a `usize` that is written like a [`ByteSize`].
pub mod byte_size {
    use serde::de::{Deserialize, Deserializer};

    use super::ByteSize;

    /// Reads the number of bytes.
    ///
    /// # Errors
    /// It is no size.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
        ByteSize::deserialize(deserializer).map(ByteSize::as_usize)
    }
}

/// `#[serde(with = "spate_runtime::config::duration")]` for a [`Duration`](std::time::Duration) written with its unit:
/// `250ms`, `5s`, `2m`, `1h`, `7d`. A number without a unit is an error, and so is more than 365 days.
pub mod duration {
    use std::fmt;
    use std::time::Duration;

    use serde::de::{self, Deserializer, Visitor};

    /// The longest duration of a setting: adding it to a point in time never overflows.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

    /// Reads the duration.
    ///
    /// # Errors
    /// It is no duration, has no unit or is too long.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        deserializer.deserialize_str(DurationVisitor)
    }

    /// `#[serde(with = "spate_runtime::config::duration::option")]` for an `Option<Duration>`.
    pub mod option {
        use serde::{Deserialize, Deserializer};

        use super::Duration;

        #[derive(Deserialize)]
        struct Wrapped(#[serde(deserialize_with = "super::deserialize")] Duration);

        /// Reads the duration, if one is set.
        ///
        /// # Errors
        /// It is no duration, has no unit or is too long.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Duration>, D::Error> {
            Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
        }
    }

    struct DurationVisitor;

    impl Visitor<'_> for DurationVisitor {
        type Value = Duration;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a duration such as `5s`")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
            parse(text).map_err(E::custom)
        }
    }

    fn parse(text: &str) -> Result<Duration, &'static str> {
        const UNITS: &str = "expected a whole number with a unit (`ms`, `s`, `m`, `h`, `d`) such as `250ms` or `5s`";
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(text.len());
        if end == 0 {
            return Err(UNITS);
        }
        let unit = match text[end..].trim_start() {
            "" => {
                return Err(
                    "a duration without its unit; write `ms`, `s`, `m`, `h` or `d` after the number",
                );
            }
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            "d" => Duration::from_secs(24 * 3600),
            _ => return Err(UNITS),
        };
        let number = text[..end].replace('_', "").parse().ok();
        let duration = number.and_then(|number| unit.checked_mul(number));
        duration
            .filter(|duration| *duration <= LONGEST)
            .ok_or("a duration longer than 365 days")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_duration_has_a_unit() {
            assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
            assert_eq!(parse(" 5 s "), Ok(Duration::from_secs(5)));
            assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
            assert_eq!(parse("1h"), Ok(Duration::from_secs(3600)));
            assert_eq!(parse("0s"), Ok(Duration::ZERO));
            assert_eq!(parse("365d"), Ok(LONGEST));
            assert!(parse("5").is_err_and(|message| message.contains("without its unit")));
            for text in [
                "",
                "s",
                "5x",
                "-5s",
                "1.5s",
                "5S",
                "5 s s",
                "366d",
                "99999999999999999999s",
                "4294967296s",
            ] {
                assert!(parse(text).is_err(), "{text}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_counted_in_bytes() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("64KiB", 65_536),
            ("64 kib", 65_536),
            ("1GiB", 1 << 30),
            ("10MB", 10_000_000),
            ("1_000kB", 1_000_000),
        ] {
            assert_eq!(ByteSize::parse(text), Ok(ByteSize(bytes)), "{text}");
        }
        for text in [
            "",
            "KiB",
            "64K",
            "64Ki",
            "-1",
            "1.5GiB",
            "99999999999TiB",
            "184467440737095516160",
        ] {
            assert!(ByteSize::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(
            format!("{:?} {:#?}", Secret::new("hunter2"), Some(Secret::new("x"))),
            "<secret> Some(\n    <secret>,\n)"
        );
    }
}
