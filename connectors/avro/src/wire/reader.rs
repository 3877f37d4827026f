//! The reader: a cursor over one payload.

use super::text::utf8;
use super::{MAX_DEPTH, MAX_EMPTY_ITEMS, MAX_NESTED};
use crate::error::{AvroError, AvroErrorKind};

/// A cursor over the bytes of one record.
#[derive(Clone, Debug)]
pub struct Reader<'b> {
    rest: &'b [u8],
    /// The payload's size, framing included: positions of errors count from its start.
    size: usize,
    bounds: Bounds,
}

/// How much of what no byte pays for may still come. One word, because every record inside another takes it along: the depth
/// below, the values in each other above it, then the items without bytes.
#[derive(Clone, Copy, Debug)]
struct Bounds(u64);

impl Bounds {
    const START: Bounds =
        Bounds((MAX_EMPTY_ITEMS as u64) << 32 | (MAX_NESTED as u64) << 16 | MAX_DEPTH as u64);

    #[inline(always)]
    fn depth(self) -> u32 {
        u32::from(self.0 as u16)
    }

    #[inline(always)]
    fn nested(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline(always)]
    fn empty_items(self) -> u64 {
        self.0 >> 32
    }
}

/// A block of an array or a map.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Items in it; zero at the end.
    pub count: usize,
    /// Its size in bytes, where the writer wrote one.
    size: Option<(i64, usize)>,
}

impl<'b> Reader<'b> {
    /// A reader of `body`, the end of a payload of `size` bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(body: &'b [u8], size: usize) -> Self {
        Reader {
            rest: body,
            size,
            bounds: Bounds::START,
        }
    }

    /// A copy to read a record with. A decoder that works on its own copy keeps it in registers; through a reference it
    /// would write every step back to memory, for the errors' sake (a tenth of all instructions, measured).
    #[inline(always)]
    #[must_use]
    pub fn fork(&self) -> Self {
        Reader {
            rest: self.rest,
            size: self.size,
            bounds: self.bounds,
        }
    }

    /// Goes on where the copy is.
    #[inline(always)]
    pub fn join(&mut self, copy: &Self) {
        self.rest = copy.rest;
        self.bounds = copy.bounds;
    }

    /// What has not been read yet.
    #[inline(always)]
    #[must_use]
    pub fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Goes on in other bytes, the end of a payload of `size` bytes.
    #[inline(always)]
    pub(crate) fn turn_to(&mut self, rest: &'b [u8], size: usize) {
        self.rest = rest;
        self.size = size;
    }

    /// How many bytes of the payload were read.
    pub(crate) fn position(&self) -> usize {
        self.size.saturating_sub(self.rest.len())
    }

    /// The payload's size.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Goes on elsewhere in the same payload: where this is what has not been read yet.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, rest: &'b [u8]) {
        self.rest = rest;
    }

    /// The end of the record: nothing may be left.
    ///
    /// # Errors
    /// Something is left.
    #[inline(always)]
    pub fn finish(&self) -> Result<(), AvroError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(self.error(AvroErrorKind::Trailing { left })),
        }
    }

    #[inline(always)]
    pub(crate) fn error(&self, kind: AvroErrorKind) -> AvroError {
        AvroError::new(kind, self.position(), self.size)
    }

    /// The next `N` bytes, as a `fixed` has them.
    ///
    /// # Errors
    /// The payload has fewer.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self) -> Result<&'b [u8; N], AvroError> {
        match self.rest.split_first_chunk::<N>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(chunk)
            }
            None => Err(self.error(AvroErrorKind::Truncated {
                needed: (N - self.rest.len()) as u64,
            })),
        }
    }

    /// A boolean.
    ///
    /// # Errors
    /// The payload ends, or the byte is neither 0 nor 1.
    #[inline(always)]
    pub fn boolean(&mut self) -> Result<bool, AvroError> {
        match self.rest {
            [byte @ (0 | 1), rest @ ..] => {
                self.rest = rest;
                Ok(*byte == 1)
            }
            [byte, ..] => Err(self.error(AvroErrorKind::Boolean { byte: *byte })),
            [] => Err(self.error(AvroErrorKind::Truncated { needed: 1 })),
        }
    }

    /// A `long`.
    ///
    /// # Errors
    /// The payload ends, or the number has more than 64 bits.
    #[inline(always)]
    pub fn long(&mut self) -> Result<i64, AvroError> {
        // Eight bytes at once hold any number of up to 56 bits; only the last bytes of a payload and huge numbers take
        // the loop.
        if let Some((chunk, _)) = self.rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            let ends = !word & 0x8080_8080_8080_8080;
            if ends != 0 {
                let length = (ends.trailing_zeros() / 8 + 1) as usize;
                // Keeps the bits up to and with the first end mark's byte.
                let word = word & (ends ^ (ends - 1));
                self.rest = &self.rest[length..];
                return Ok(zigzag(squeeze(word)));
            }
        }
        self.long_at_the_end()
    }

    /// A `long` that is probably small, as lengths, branch numbers and counts are.
    ///
    /// # Errors
    /// As for [`long`](Reader::long).
    #[inline(always)]
    pub fn small(&mut self) -> Result<i64, AvroError> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(zigzag(u64::from(*byte)))
            }
            _ => self.long_at_the_end(),
        }
    }

    #[inline(always)]
    fn long_at_the_end(&mut self) -> Result<i64, AvroError> {
        match bytewise(self.rest) {
            Ok((value, rest)) => {
                self.rest = rest;
                Ok(zigzag(value))
            }
            Err(kind) => Err(self.error(kind)),
        }
    }

    /// An `int`.
    ///
    /// # Errors
    /// As for [`long`](Reader::long), or the number has more than 32 bits.
    #[inline(always)]
    pub fn int(&mut self) -> Result<i32, AvroError> {
        // Counts, codes and quantities: most are one byte, and the last one of a payload has no eight bytes to load.
        if let [byte, rest @ ..] = self.rest
            && *byte < 0x80
        {
            self.rest = rest;
            return Ok(zigzag(u64::from(*byte)) as i32);
        }
        let value = self.long()?;
        match i32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => Err(self.error(AvroErrorKind::IntRange { value })),
        }
    }

    /// A `float`.
    ///
    /// # Errors
    /// The payload ends.
    #[inline(always)]
    pub fn float(&mut self) -> Result<f32, AvroError> {
        self.array().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// A `double`.
    ///
    /// # Errors
    /// The payload ends.
    #[inline(always)]
    pub fn double(&mut self) -> Result<f64, AvroError> {
        self.array().map(|bytes| f64::from_le_bytes(*bytes))
    }

    /// `bytes`: a length and that many bytes.
    ///
    /// # Errors
    /// The length is negative, or the payload has fewer bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'b [u8], AvroError> {
        let length = self.small()?;
        match usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
        {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.bad_length(length)),
        }
    }

    #[inline(always)]
    fn bad_length(&self, length: i64) -> AvroError {
        self.error(match u64::try_from(length) {
            Ok(needed) => AvroErrorKind::Truncated {
                needed: needed.saturating_sub(self.rest.len() as u64),
            },
            Err(_) => AvroErrorKind::NegativeLength { length },
        })
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// The payload has fewer.
    #[inline(always)]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], AvroError> {
        match self.rest.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.bad_length(length as i64)),
        }
    }

    /// A `string`.
    ///
    /// # Errors
    /// As for [`bytes`](Reader::bytes), or it is not UTF-8.
    #[inline(always)]
    pub fn str(&mut self) -> Result<&'b str, AvroError> {
        let bytes = self.bytes()?;
        match utf8(bytes) {
            Some(text) => Ok(text),
            None => Err(self.error(AvroErrorKind::Utf8)),
        }
    }

    /// Passes over `length` bytes.
    ///
    /// # Errors
    /// The payload has fewer.
    #[inline(always)]
    pub fn skip(&mut self, length: usize) -> Result<(), AvroError> {
        match self.rest.get(length..) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.bad_length(length as i64)),
        }
    }

    /// Passes over a number.
    ///
    /// # Errors
    /// As for [`long`](Reader::long).
    #[inline(always)]
    pub fn skip_long(&mut self) -> Result<(), AvroError> {
        if let Some((chunk, _)) = self.rest.split_first_chunk::<8>() {
            let ends = !u64::from_le_bytes(*chunk) & 0x8080_8080_8080_8080;
            if ends != 0 {
                self.rest = &self.rest[(ends.trailing_zeros() / 8 + 1) as usize..];
                return Ok(());
            }
        }
        self.long_at_the_end().map(drop)
    }

    /// The branch number of a union of `branches`.
    ///
    /// # Errors
    /// It is out of range, or as for [`long`](Reader::long).
    #[inline(always)]
    pub fn branch(&mut self, branches: usize) -> Result<usize, AvroError> {
        let branch = self.small()?;
        match usize::try_from(branch) {
            Ok(number) if number < branches => Ok(number),
            _ => Err(self.error(AvroErrorKind::Branch { branch, branches })),
        }
    }

    /// The symbol number of an enum of `symbols`.
    ///
    /// # Errors
    /// It is out of range, or as for [`long`](Reader::long).
    #[inline(always)]
    pub fn symbol(&mut self, symbols: usize) -> Result<usize, AvroError> {
        let symbol = self.small()?;
        match usize::try_from(symbol) {
            Ok(number) if number < symbols => Ok(number),
            _ => Err(self.error(AvroErrorKind::Symbol { symbol, symbols })),
        }
    }

    /// The head of the next block of items that take at least `least` bytes each.
    ///
    /// # Errors
    /// More items than the payload has bytes for, a bad size, or as for [`long`](Reader::long).
    #[inline(always)]
    pub fn block(&mut self, least: usize) -> Result<Block, AvroError> {
        let count = self.small()?;
        let size = match count < 0 {
            true => Some((self.long()?, self.rest.len())),
            false => None,
        };
        if let Some((said, left)) = size
            && usize::try_from(said).ok().is_none_or(|said| said > left)
        {
            return Err(self.error(AvroErrorKind::BlockSize { said }));
        }
        let count = count.unsigned_abs();
        if least == 0 {
            return self.empty_items(count, size);
        }
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() / least => Ok(Block { count, size }),
            _ => Err(self.error(AvroErrorKind::TooManyItems {
                count,
                left: self.rest.len(),
            })),
        }
    }

    /// A block of items that take no bytes: they are counted over the whole payload, because nothing else bounds them.
    #[inline]
    fn empty_items(&mut self, count: u64, size: Option<(i64, usize)>) -> Result<Block, AvroError> {
        match self.bounds.empty_items().checked_sub(count) {
            Some(_) => {
                self.bounds.0 -= count << 32;
                let count = count as usize;
                Ok(Block { count, size })
            }
            None => Err(self.error(AvroErrorKind::TooManyEmptyItems { count })),
        }
    }

    /// The end of a block: its items must have taken the size that the writer wrote.
    ///
    /// # Errors
    /// They did not.
    #[inline(always)]
    pub fn end_block(&self, block: Block) -> Result<(), AvroError> {
        match block.size {
            Some((said, before)) if before - self.rest.len() != said as usize => {
                Err(self.error(AvroErrorKind::BlockSize { said }))
            }
            _ => Ok(()),
        }
    }

    /// Passes over the block by the size that the writer wrote; `false` if it wrote none.
    #[inline(always)]
    pub fn skip_block(&mut self, block: Block) -> bool {
        // The size was compared with what is left when the block's head was read.
        match block
            .size
            .and_then(|(said, _)| self.rest.get(said as usize..))
        {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// One level deeper into a record that can contain itself.
    ///
    /// # Errors
    /// Deeper than [`MAX_DEPTH`].
    #[inline]
    pub fn enter(&mut self) -> Result<(), AvroError> {
        match self.bounds.depth() {
            0 => Err(self.error(AvroErrorKind::TooDeep)),
            _ => {
                self.bounds.0 -= 1;
                Ok(())
            }
        }
    }

    /// Back out of it.
    #[inline]
    pub fn leave(&mut self) {
        debug_assert!(
            self.bounds.depth() < MAX_DEPTH,
            "left without having entered"
        );
        self.bounds.0 += 1;
    }

    /// One level deeper into a value that a schema says which is not compiled: it can have any number of types in each other.
    ///
    /// # Errors
    /// Deeper than [`MAX_NESTED`].
    #[inline(always)]
    pub(crate) fn nest(&mut self) -> Result<(), AvroError> {
        match self.bounds.nested() {
            0 => Err(self.error(AvroErrorKind::TooNested {
                most: usize::from(MAX_NESTED),
            })),
            _ => {
                self.bounds.0 -= 1 << 16;
                Ok(())
            }
        }
    }

    /// Back out of it.
    #[inline(always)]
    pub(crate) fn unnest(&mut self) {
        self.bounds.0 += 1 << 16;
    }
}

#[inline(always)]
fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Takes the top bit out of each of eight bytes and closes the gaps.
#[inline(always)]
fn squeeze(word: u64) -> u64 {
    let word = ((word & 0x7f00_7f00_7f00_7f00) >> 1) | (word & 0x007f_007f_007f_007f);
    let word = ((word & 0xffff_0000_ffff_0000) >> 2) | (word & 0x0000_ffff_0000_ffff);
    ((word & 0xffff_ffff_0000_0000) >> 4) | (word & 0x0000_0000_ffff_ffff)
}

/// A varint byte by byte: right everywhere, needed near the end of a payload and for numbers above 56 bits.
#[inline(never)]
fn bytewise(bytes: &[u8]) -> Result<(u64, &[u8]), AvroErrorKind> {
    /// Ten groups of seven bits hold 64.
    const MOST: usize = 10;
    let mut value = 0u64;
    for (n, byte) in bytes.iter().take(MOST).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if n == MOST - 1 && *byte > 1 {
            return Err(AvroErrorKind::Varint);
        }
        value |= bits << (7 * n);
        if *byte < 0x80 {
            return Ok((value, &bytes[n + 1..]));
        }
    }
    match bytes.len() < MOST {
        true => Err(AvroErrorKind::Truncated { needed: 1 }),
        false => Err(AvroErrorKind::Varint),
    }
}
