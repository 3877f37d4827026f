//! The records of a block.

use std::marker::PhantomData;

use crate::error::{AvroError, AvroErrorKind};
use crate::record::AvroRecord;
use crate::wire::Reader;

/// A decompressed block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    count: u64,
    bytes: &'b [u8],
}

impl<'b> Block<'b> {
    pub(super) fn new(count: u64, bytes: &'b [u8]) -> Self {
        Block { count, bytes }
    }

    /// How many records the block says that it has.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The records' bytes, one behind the other.
    #[must_use]
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// The records in turn. Where one ends is known only once it is decoded, so the first error is the last item; bytes that are left
    /// behind the last record are an error as well.
    #[must_use]
    pub fn records<R: AvroRecord<'b>>(&self) -> Records<'b, R> {
        Records {
            reader: Reader::new(self.bytes, self.bytes.len()),
            left: self.count,
            ended: false,
            records: PhantomData,
        }
    }
}

/// The records of a [`Block`].
#[derive(Debug)]
pub struct Records<'b, R> {
    reader: Reader<'b>,
    left: u64,
    ended: bool,
    records: PhantomData<fn() -> R>,
}

impl<'b, R: AvroRecord<'b>> Iterator for Records<'b, R> {
    type Item = Result<R, AvroError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.left == 0 {
            self.ended = true;
            return self.reader.finish().err().map(Err);
        }
        self.left -= 1;
        // Records without bytes: a count alone must not keep anybody busy for ever.
        let empty = R::MIN_SIZE == 0 && self.left > crate::wire::MAX_EMPTY_ITEMS as u64;
        let record = match empty {
            true => Err(AvroError::new(
                AvroErrorKind::TooManyItems {
                    count: self.left,
                    left: self.reader.rest().len(),
                },
                0,
                0,
            )),
            false => R::decode(&mut self.reader),
        };
        self.ended = record.is_err();
        Some(record)
    }
}
