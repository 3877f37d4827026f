//! Plain safe code: varints byte by byte, the standard library's UTF-8 check, pushes to a `Vec`.

use super::{FIRST_MILLIS, LAST_MILLIS, Refused, Row, Store, Wire};

super::passes!(Plain, Pushes);

struct Plain<'b> {
    rest: &'b [u8],
}

impl<'b> Wire<'b> for Plain<'b> {
    #[inline(always)]
    fn new(rest: &'b [u8]) -> Self {
        Plain { rest }
    }

    #[inline(always)]
    fn rest(&self) -> &'b [u8] {
        self.rest
    }

    #[inline(always)]
    fn long(&mut self) -> Result<i64, Refused> {
        let mut value = 0u64;
        for (n, byte) in self.rest.iter().take(10).enumerate() {
            if n == 9 && *byte > 1 {
                return Err(Refused);
            }
            value |= u64::from(byte & 0x7f) << (7 * n);
            if *byte < 0x80 {
                self.rest = &self.rest[n + 1..];
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(Refused)
    }

    #[inline(always)]
    fn small(&mut self) -> Result<i64, Refused> {
        self.long()
    }

    #[inline(always)]
    fn bytes(&mut self) -> Result<&'b [u8], Refused> {
        let length = usize::try_from(self.long()?).map_err(|_| Refused)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Refused)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline(always)]
    fn text(&mut self) -> Result<&'b str, Refused> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Refused)
    }
}

struct Pushes;

impl Store for Pushes {
    #[inline(always)]
    fn store(row: &Row<'_>, out: &mut Vec<u8>) -> Result<(), Refused> {
        out.extend_from_slice(&row.order_id.to_le_bytes());
        let mut rest = row.region.len();
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
        out.extend_from_slice(row.region.as_bytes());
        out.extend_from_slice(&row.total_cents.to_le_bytes());
        if !(FIRST_MILLIS..=LAST_MILLIS).contains(&row.placed_at) {
            return Err(Refused);
        }
        out.extend_from_slice(&row.placed_at.to_le_bytes());
        out.extend_from_slice(&row.n_lines.to_le_bytes());
        Ok(())
    }
}
