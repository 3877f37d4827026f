//! The value type of `uuid`, and the one of the `uuid` crate.

use std::fmt;

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Scalar};

/// A UUID: what a `uuid` holds, as text of 36 characters or as a fixed of 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// Reads `67e55044-10b1-426f-9247-bb680e5fe0c8`, in small or capital letters; nothing else is a UUID's text (RFC 4122).
    #[must_use]
    pub fn parse(text: &str) -> Option<Uuid> {
        let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
        let mut bytes = [0; 16];
        let mut at = 0;
        for (n, byte) in bytes.iter_mut().enumerate() {
            if matches!(n, 4 | 6 | 8 | 10) {
                if text[at] != b'-' {
                    return None;
                }
                at += 1;
            }
            *byte = digit(text[at])? << 4 | digit(text[at + 1])?;
            at += 2;
        }
        Some(Uuid(bytes))
    }
}

#[inline(always)]
fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

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

impl<'b> FromWire<'b, wire::Uuid> for Uuid {
    #[inline(always)]
    fn placeholder() -> Self {
        Uuid([0; 16])
    }

    #[inline]
    fn from_wire(text: &'b str) -> Result<Self, AvroErrorKind> {
        Uuid::parse(text).ok_or(AvroErrorKind::Uuid)
    }
}

#[cfg(feature = "uuid")]
impl<'b> FromWire<'b, wire::Uuid> for ::uuid::Uuid {
    #[inline(always)]
    fn placeholder() -> Self {
        ::uuid::Uuid::nil()
    }

    #[inline]
    fn from_wire(text: &'b str) -> Result<Self, AvroErrorKind> {
        <Uuid as FromWire<wire::Uuid>>::from_wire(text).map(|uuid| ::uuid::Uuid::from_bytes(uuid.0))
    }
}

#[cfg(feature = "uuid")]
from_wire! {
    [] ::uuid::Uuid, ::uuid::Uuid::nil(), |value: &'b [u8; 16]| ::uuid::Uuid::from_bytes(*value), wire::UuidFixed;
}

from_wire! {
    [] Uuid, Uuid([0; 16]), |value: &'b [u8; 16]| Uuid(*value), wire::UuidFixed;
    [] [u8; 16], [0; 16], |value: &'b [u8; 16]| *value, wire::UuidFixed;
    [] &'b [u8; 16], &[0; 16], |value: &'b [u8; 16]| value, wire::UuidFixed;
    [] &'b [u8], &[], |value: &'b [u8; 16]| value, wire::UuidFixed;
    [] Vec<u8>, Vec::new(), |value: &'b [u8; 16]| value.to_vec(), wire::UuidFixed;
    [] &'b str, "", |value: &'b str| value, wire::Uuid;
    [] String, String::new(), |value: &'b str| value.to_owned(), wire::Uuid;
}

#[cfg(test)]
mod tests {
    use super::*;

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
