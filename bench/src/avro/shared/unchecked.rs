//! The two places where the tuned code leaves out a check that it made before.
#![allow(
    unsafe_code,
    reason = "what code by hand could gain is measured with it"
)]

use super::Row;

/// The bytes as text, if they are UTF-8; bytes that are all ASCII are looked at once only.
#[inline(always)]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    if is_ascii(bytes) {
        // SAFETY: every byte is below 0x80, and such bytes are UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    slow(bytes)
}

#[inline(never)]
fn slow(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Whole words, then the last word again, overlapping what was seen.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<8>() {
        let mut bits = u64::from_le_bytes(*last);
        for word in bytes.as_chunks::<8>().0 {
            bits |= u64::from_le_bytes(*word);
        }
        return bits & 0x8080_8080_8080_8080 == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_le_bytes(*first) | u32::from_le_bytes(*last)) & 0x8080_8080 == 0;
    }
    bytes.iter().fold(0, |bits, byte| bits | byte) < 0x80
}

/// Stores a row in RowBinary behind one check of the capacity.
#[inline(always)]
pub(crate) fn store(row: &Row<'_>, out: &mut Vec<u8>) {
    let region = row.region.as_bytes();
    out.reserve(8 + MOST_OF_LENGTH + region.len() + 8 + 8 + 4);
    let mut end = Ends {
        start: out.as_mut_ptr(),
        at: out.len(),
    };
    // SAFETY: what is stored is at most what was reserved: four numbers, the text, and a length of at most ten groups of seven bits.
    // All of it up to `at` is written when the length is set.
    unsafe {
        end.store(&row.order_id.to_le_bytes());
        let mut rest = region.len();
        while rest >= 0x80 {
            end.store(&[rest as u8 | 0x80]);
            rest >>= 7;
        }
        end.store(&[rest as u8]);
        end.store(region);
        end.store(&row.total_cents.to_le_bytes());
        end.store(&row.placed_at.to_le_bytes());
        end.store(&row.n_lines.to_le_bytes());
        out.set_len(end.at);
    }
}

/// Ten groups of seven bits.
const MOST_OF_LENGTH: usize = 10;

/// The end of a `Vec`, running ahead of its length.
struct Ends {
    start: *mut u8,
    at: usize,
}

impl Ends {
    /// # Safety
    /// There is room for the bytes, and they are not the `Vec`'s own.
    #[inline(always)]
    unsafe fn store(&mut self, bytes: &[u8]) {
        // SAFETY: promised by the caller.
        unsafe {
            self.start
                .add(self.at)
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        self.at += bytes.len();
    }
}
