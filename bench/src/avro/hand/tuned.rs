//! Tuned: varints from one load of eight bytes, text that is ASCII looked at once, rows stored behind one capacity check.

use super::{FIRST_MILLIS, LAST_MILLIS, Refused, Row, Store, Wire};
use crate::avro::shared::{store, text};

super::passes!(Tuned, Reserved);

pub(in crate::avro) struct Tuned<'b> {
    rest: &'b [u8],
}

/// The top bit of each byte, which a varint's last byte has not.
const ENDS: u64 = 0x8080_8080_8080_8080;

impl<'b> Tuned<'b> {
    #[inline(never)]
    fn byte_by_byte(bytes: &'b [u8]) -> Result<(u64, &'b [u8]), Refused> {
        let mut value = 0u64;
        for (n, byte) in bytes.iter().take(10).enumerate() {
            if n == 9 && *byte > 1 {
                return Err(Refused);
            }
            value |= u64::from(byte & 0x7f) << (7 * n);
            if *byte < 0x80 {
                return Ok((value, &bytes[n + 1..]));
            }
        }
        Err(Refused)
    }

    #[inline(always)]
    fn slow(&mut self) -> Result<i64, Refused> {
        let (value, rest) = Self::byte_by_byte(self.rest)?;
        self.rest = rest;
        Ok(signed(value))
    }
}

#[inline(always)]
fn signed(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

impl<'b> Wire<'b> for Tuned<'b> {
    #[inline(always)]
    fn new(rest: &'b [u8]) -> Self {
        Tuned { rest }
    }

    #[inline(always)]
    fn rest(&self) -> &'b [u8] {
        self.rest
    }

    #[inline(always)]
    fn long(&mut self) -> Result<i64, Refused> {
        if let Some(chunk) = self.rest.first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            let ends = !word & ENDS;
            if ends != 0 {
                self.rest = &self.rest[(ends.trailing_zeros() / 8 + 1) as usize..];
                // The bits up to the end, without the top bits between them.
                let word = word & (ends ^ (ends - 1));
                let word = ((word & 0x7f00_7f00_7f00_7f00) >> 1) | (word & 0x007f_007f_007f_007f);
                let word = ((word & 0xffff_0000_ffff_0000) >> 2) | (word & 0x0000_ffff_0000_ffff);
                let word = ((word & 0xffff_ffff_0000_0000) >> 4) | (word & 0x0000_0000_ffff_ffff);
                return Ok(signed(word));
            }
        }
        self.slow()
    }

    #[inline(always)]
    fn small(&mut self) -> Result<i64, Refused> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(signed(u64::from(*byte)))
            }
            _ => self.slow(),
        }
    }

    #[inline(always)]
    fn bytes(&mut self) -> Result<&'b [u8], Refused> {
        let length = usize::try_from(self.small()?).map_err(|_| Refused)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Refused)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline(always)]
    fn text(&mut self) -> Result<&'b str, Refused> {
        text(self.bytes()?).ok_or(Refused)
    }

    /// Most `int`s are one byte.
    #[inline(always)]
    fn int(&mut self) -> Result<i32, Refused> {
        i32::try_from(self.small()?).map_err(|_| Refused)
    }
}

struct Reserved;

impl Store for Reserved {
    #[inline(always)]
    fn store(row: &Row<'_>, out: &mut Vec<u8>) -> Result<(), Refused> {
        if !(FIRST_MILLIS..=LAST_MILLIS).contains(&row.placed_at) {
            return Err(Refused);
        }
        store(row, out);
        Ok(())
    }
}
