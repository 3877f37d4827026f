//! UTF-8 with a fast path for short ASCII text: the crate's one unsafe line.
//!
//! Measured by instructions on a record of seven fields with four short texts: a third of the whole decoder was
//! `str::from_utf8`, whose set-up is made for long texts. Every byte is still looked at; only where all are below 0x80 is
//! the second look saved.
#![allow(
    unsafe_code,
    reason = "a text of ASCII bytes is UTF-8, and the standard library has no stable safe way to say so"
)]

const HIGH: u64 = 0x8080_8080_8080_8080;
const HIGH_HALF: u32 = 0x8080_8080;

/// The bytes as text, if they are UTF-8.
#[inline(always)]
pub(super) fn utf8(bytes: &[u8]) -> Option<&str> {
    if is_ascii(bytes) {
        // SAFETY: every byte is below 0x80, and such bytes are UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    checked(bytes)
}

#[inline(never)]
fn checked(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Whether every byte is below 0x80: whole words, then the last word again, overlapping what was seen.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<8>() {
        let words = bytes.as_chunks::<8>().0;
        let bits = words.iter().fold(u64::from_le_bytes(*last), |bits, word| {
            bits | u64::from_le_bytes(*word)
        });
        return bits & HIGH == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_le_bytes(*first) | u32::from_le_bytes(*last)) & HIGH_HALF == 0;
    }
    bytes.iter().fold(0, |bits, byte| bits | byte) < 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_high_byte_anywhere_is_seen_at_every_length() {
        for length in 0..40 {
            let mut bytes = vec![0x7f; length];
            assert!(is_ascii(&bytes), "{length}");
            assert_eq!(utf8(&bytes).map(str::len), Some(length));
            for position in 0..length {
                bytes[position] = 0x80;
                assert!(!is_ascii(&bytes), "{position} of {length}");
                assert_eq!(utf8(&bytes), None, "a lone continuation byte");
                bytes[position] = 0x7f;
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_the_standard_library(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40), text in ".{0,20}") {
            assert_eq!(utf8(&bytes), std::str::from_utf8(&bytes).ok());
            assert_eq!(utf8(text.as_bytes()), Some(text.as_str()));
        }
    }
}
