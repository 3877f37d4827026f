//! The records of a block.

use std::marker::PhantomData;

use spate_runtime::scratch::Scratch;

use crate::error::{AvroError, AvroErrorKind};
use crate::record::AvroRecord;
use crate::resolve::Resolution;
#[cfg(feature = "value")]
use crate::value::{ReadError, Value, ValueReader};
use crate::wire::{MAX_EMPTY_ITEMS, Reader};

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
            walk: self.walk(),
            records: PhantomData,
        }
    }

    /// The same for a file of another writer, by the resolution of its schema; `scratch` holds what the writer's bytes do not have.
    pub fn resolved<'r, R: AvroRecord<'b>>(
        &self,
        resolution: &'r mut Resolution,
        scratch: &'b Scratch,
    ) -> Resolved<'r, 'b, R> {
        Resolved {
            walk: self.walk(),
            resolution,
            scratch,
            records: PhantomData,
        }
    }

    /// The same as values, by the reader of the file's schema.
    #[cfg(feature = "value")]
    pub fn values<'r>(&self, reader: &'r ValueReader) -> Values<'r, 'b> {
        Values {
            walk: self.walk(),
            reader,
        }
    }

    fn walk(&self) -> Walk<'b> {
        Walk {
            reader: Reader::new(self.bytes, self.bytes.len()),
            bytes: self.bytes.len(),
            left: self.count,
            empty: 0,
            ended: false,
        }
    }
}

/// The records of a [`Block`] of the compiled schema.
#[derive(Debug)]
pub struct Records<'b, R> {
    walk: Walk<'b>,
    records: PhantomData<fn() -> R>,
}

impl<'b, R: AvroRecord<'b>> Iterator for Records<'b, R> {
    type Item = Result<R, AvroError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.next(R::decode)
    }
}

/// The records of a [`Block`] of another writer's schema.
#[derive(Debug)]
pub struct Resolved<'r, 'b, R> {
    walk: Walk<'b>,
    resolution: &'r mut Resolution,
    scratch: &'b Scratch,
    records: PhantomData<fn() -> R>,
}

impl<'b, R: AvroRecord<'b>> Iterator for Resolved<'_, 'b, R> {
    type Item = Result<R, AvroError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (resolution, scratch) = (&mut *self.resolution, self.scratch);
        self.walk.next(|reader| resolution.next(reader, scratch))
    }
}

/// The values of a [`Block`].
#[cfg(feature = "value")]
#[derive(Debug)]
pub struct Values<'r, 'b> {
    walk: Walk<'b>,
    reader: &'r ValueReader,
}

#[cfg(feature = "value")]
impl Iterator for Values<'_, '_> {
    type Item = Result<Value, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let by = self.reader;
        self.walk.next(|reader| by.next(reader))
    }
}

/// Goes through the records of a block, however they are read.
#[derive(Debug)]
struct Walk<'b> {
    reader: Reader<'b>,
    /// Of the whole block.
    bytes: usize,
    left: u64,
    /// Records so far that have no bytes.
    empty: u64,
    ended: bool,
}

impl<'b> Walk<'b> {
    fn next<T, E: From<AvroError>>(
        &mut self,
        read: impl FnOnce(&mut Reader<'b>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        if self.ended {
            return None;
        }
        if self.left == 0 {
            self.ended = true;
            return self.reader.finish().err().map(|error| Err(error.into()));
        }
        self.left -= 1;
        let before = self.reader.rest().len();
        // What no byte pays for is bounded for each record, as in a payload of its own.
        self.reader = Reader::new(self.reader.rest(), self.bytes);
        let mut record = read(&mut self.reader);
        // Records without bytes: a count alone must not keep anybody busy for ever.
        self.empty += u64::from(self.reader.rest().len() == before);
        if self.empty > u64::from(MAX_EMPTY_ITEMS) {
            let count = self.left;
            record = Err(self
                .reader
                .error(AvroErrorKind::TooManyEmptyItems { count })
                .into());
        }
        self.ended = record.is_err();
        Some(record)
    }
}
