//! Object container files: a header with the writer's schema, then blocks of records, each compressed as a whole.
//!
//! In: bytes of a file, front to back. Out: one block after the other, decompressed into the caller's buffer, from which records borrow.
//! Nothing is believed that the bytes do not show: a size makes no room by itself, a block ends with the file's mark, and
//! what a block expands to is bounded.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#object-container-files>

mod codec;
mod error;
mod records;

use std::collections::HashMap;
use std::io::{BufRead, Read};

pub use codec::Codec;
pub use error::ContainerError;
#[cfg(feature = "value")]
pub use records::Values;
pub use records::{Block, Records, Resolved};

use crate::AvroRecord;
use crate::Resolution;
#[cfg(feature = "value")]
use crate::value::ValueReader;
use spate_avro_schema::parse;

/// How a file begins.
const MAGIC: [u8; 4] = *b"Obj\x01";

/// The most that the header's metadata may take.
const HEADER_BYTES: u64 = 16 << 20;

/// The most that a block may take in the file, and decompressed.
const BLOCK_BYTES: u64 = 256 << 20;

/// A container file that is read block by block.
///
/// ```
/// use spate_avro::AvroRecord;
/// use spate_avro::container::{Container, ContainerError};
///
/// fn count<'b, R: AvroRecord<'b>>(file: impl std::io::BufRead, buffer: &'b mut Vec<u8>) -> Result<u64, ContainerError> {
///     let mut container = Container::open(file)?;
///     container.expect::<R>()?;
///     let Some(block) = container.next_block(buffer)? else { return Ok(0) };
///     Ok(block.count())
/// }
/// ```
///
/// A file of another writer is read by the [`resolution`](Container::resolution) of its schema:
///
/// ```
/// use spate_avro::AvroRecord;
/// use spate_avro::container::{Container, ContainerError};
/// use spate_runtime::scratch::Scratch;
///
/// fn read<'b, R: AvroRecord<'b>>(
///     file: impl std::io::BufRead,
///     buffer: &'b mut Vec<u8>,
///     scratch: &'b Scratch,
/// ) -> Result<Vec<R>, Box<dyn std::error::Error>> {
///     let mut container = Container::open(file)?;
///     let mut resolution = container.resolution::<R>()?;
///     let Some(block) = container.next_block(buffer)? else { return Ok(Vec::new()) };
///     Ok(block.resolved(&mut resolution, scratch).collect::<Result<_, _>>()?)
/// }
/// ```
#[derive(Debug)]
pub struct Container<I> {
    input: I,
    /// Bytes read so far.
    position: u64,
    schema: String,
    codec: Codec,
    mark: [u8; 16],
    compressed: Vec<u8>,
}

impl<I: BufRead> Container<I> {
    /// Reads the header.
    ///
    /// # Errors
    /// The input cannot be read, is no container file, or names a codec that is unknown or not built in.
    pub fn open(input: I) -> Result<Self, ContainerError> {
        let mut container = Container {
            input,
            position: 0,
            schema: String::new(),
            codec: Codec::Null,
            mark: [0; 16],
            compressed: Vec::new(),
        };
        if container.array::<4>("the magic bytes")? != MAGIC {
            return Err(ContainerError::NoContainer);
        }
        let metadata = container.metadata()?;
        container.mark = container.array("the file's mark")?;
        container.codec = match metadata.get("avro.codec") {
            None => Codec::Null,
            Some(name) => Codec::of(name)?,
        };
        let schema = metadata
            .get("avro.schema")
            .ok_or(ContainerError::NoSchema)?;
        container.schema =
            String::from_utf8(schema.clone()).map_err(|_| ContainerError::NoSchema)?;
        Ok(container)
    }

    /// The schema that the file was written with, as JSON.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// How blocks are compressed.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Whether the file was written with the schema of `R`, logical types included.
    ///
    /// # Errors
    /// It was not, or its schema is not valid: says what differs, by the field's path.
    pub fn expect<'b, R: AvroRecord<'b>>(&self) -> Result<(), ContainerError> {
        let other = |message: String| ContainerError::OtherSchema {
            record: R::NAME,
            message,
        };
        let writer = parse(&self.schema).map_err(|error| other(error.to_string()))?;
        let reader = parse(R::SCHEMA).map_err(|error| other(error.to_string()))?;
        match writer.difference(&reader) {
            None => Ok(()),
            Some(difference) => Err(other(format!("it differs {difference}"))),
        }
    }

    /// How records of the file become records of `R`, for [`Block::resolved`]: the file may have been written with an older or newer schema. Where it is the very
    /// schema ([`expect`](Container::expect)), [`Block::records`] is faster.
    ///
    /// # Errors
    /// No record of the file can be read as `R`: says why, by the field's path.
    pub fn resolution<'b, R: AvroRecord<'b>>(&self) -> Result<Resolution, ContainerError> {
        Resolution::new::<R>(&self.schema).map_err(|error| ContainerError::OtherSchema {
            record: R::NAME,
            message: error.to_string(),
        })
    }

    /// Reads records of the file into values, for [`Block::values`], whatever its schema is.
    ///
    /// # Errors
    /// The schema is not valid.
    #[cfg(feature = "value")]
    pub fn value_reader(&self) -> Result<ValueReader, ContainerError> {
        Ok(ValueReader::new(&self.schema)?)
    }

    /// Reads the next block into `buffer`; `None` at the end of the file. Blocks without records are passed over.
    ///
    /// # Errors
    /// The input cannot be read, ends inside a block, or the block is damaged. Nothing behind it can be read then.
    pub fn next_block<'b>(
        &mut self,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<Block<'b>>, ContainerError> {
        loop {
            let at = self.position;
            if self.input.fill_buf()?.is_empty() {
                return Ok(None);
            }
            let count = self.long("a block's count")?;
            let size = self.long("a block's size")?;
            let count = u64::try_from(count).map_err(|_| self.damaged(at, "a negative count"))?;
            let size = match u64::try_from(size) {
                Ok(size) if size <= BLOCK_BYTES => size,
                _ => return Err(self.damaged(at, "a size that no block has")),
            };
            let mut compressed = std::mem::take(&mut self.compressed);
            compressed.clear();
            let read = self
                .input
                .by_ref()
                .take(size)
                .read_to_end(&mut compressed)?;
            self.position += read as u64;
            self.compressed = compressed;
            if read as u64 != size {
                return Err(ContainerError::Truncated {
                    position: self.position,
                    what: "a block",
                });
            }
            if self.array::<16>("a block's mark")? != self.mark {
                return Err(self.damaged(at, "another mark than the file's"));
            }
            if count == 0 {
                continue;
            }
            buffer.clear();
            self.codec
                .decompress(&self.compressed, BLOCK_BYTES, buffer)
                .map_err(|reason| ContainerError::Compressed {
                    position: at,
                    codec: self.codec,
                    reason,
                })?;
            return Ok(Some(Block::new(count, buffer)));
        }
    }

    fn damaged(&self, position: u64, what: &'static str) -> ContainerError {
        ContainerError::Damaged { position, what }
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ContainerError> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => {
                self.position += N as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(ContainerError::Truncated {
                    position: self.position,
                    what,
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn long(&mut self, what: &'static str) -> Result<i64, ContainerError> {
        let at = self.position;
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>(what)?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(self.damaged(at, "a number that does not end"))
    }

    /// The header's map of bytes.
    fn metadata(&mut self) -> Result<HashMap<String, Vec<u8>>, ContainerError> {
        let mut entries = HashMap::new();
        loop {
            let at = self.position;
            let count = self.long("the header")?;
            if count == 0 {
                return Ok(entries);
            }
            if count < 0 {
                // The block's size: it is read entry by entry all the same.
                self.long("the header")?;
            }
            for _ in 0..count.unsigned_abs() {
                let key = self.bytes()?;
                let value = self.bytes()?;
                // Twice the same key: the last one counts, as in any map.
                let key = String::from_utf8(key)
                    .map_err(|_| self.damaged(at, "a key that is not UTF-8"))?;
                entries.insert(key, value);
            }
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, ContainerError> {
        let at = self.position;
        let length = self.long("the header")?;
        let length = match u64::try_from(length) {
            Ok(length) if self.position + length <= HEADER_BYTES => length,
            _ => return Err(self.damaged(at, "a header that is too long")),
        };
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        self.position += read as u64;
        match read as u64 == length {
            true => Ok(bytes),
            false => Err(ContainerError::Truncated {
                position: self.position,
                what: "the header",
            }),
        }
    }
}
