//! From the bytes of a record to its value, by one writer's schema.

use std::fmt;
use std::sync::Arc;

use super::Value;
use super::layout::Layout;
use super::library::Library;
use crate::error::AvroError;
use crate::wire::Reader;
use spate_avro_schema::{Canonical, SchemaError, parse_with};

/// Reads records of one writer's schema into [`Value`]s.
///
/// It is what `avro::<avro::Value>` makes for each schema by itself, for those who read Avro otherwise.
pub struct ValueReader {
    canonical: Arc<Canonical>,
    layout: Layout,
    library: Arc<Library>,
}

/// Why a record has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not one of the schema: which field, which byte, what is wrong.
    #[error(transparent)]
    Payload(#[from] AvroError),
    /// The library failed where the record was found to be right; it is not read then.
    #[error("{reason}")]
    Library {
        /// What the library says.
        reason: String,
    },
}

impl ValueReader {
    /// A reader of records of a schema text.
    ///
    /// # Errors
    /// The text is no schema, or the library does not take it.
    pub fn new(schema: &str) -> Result<Self, SchemaError> {
        Self::with(schema, &[])
    }

    /// The same for a text that uses types of others.
    pub(crate) fn with(schema: &str, others: &[String]) -> Result<Self, SchemaError> {
        let canonical = parse_with(schema, others)?;
        let layout = Layout::new(&canonical).map_err(SchemaError::new)?;
        let library = Library::new(&layout).map_err(SchemaError::new)?;
        Ok(ValueReader {
            canonical: Arc::new(canonical),
            layout,
            library: Arc::new(library),
        })
    }

    /// One for another thread. It shares no names: threads would pass the counts of their users to and fro with each value.
    pub(crate) fn for_thread(&self) -> Self {
        ValueReader {
            canonical: Arc::clone(&self.canonical),
            layout: self.layout.apart(),
            library: Arc::clone(&self.library),
        }
    }

    /// The record that fills `body`.
    ///
    /// # Errors
    /// It is not one of the schema, or something is left behind it.
    pub fn read(&self, body: &[u8]) -> Result<Value, ReadError> {
        self.read_framed(body, body.len())
    }

    /// The same for the end of a payload of `size` bytes, from which errors count.
    pub(crate) fn read_framed(&self, body: &[u8], size: usize) -> Result<Value, ReadError> {
        let mut reader = Reader::new(body, size);
        let nested = self.layout.check(&mut reader)?;
        reader.finish()?;
        self.library
            .decode(&self.layout, body, nested)
            .map_err(|reason| ReadError::Library { reason })
    }

    /// The record at the front of a reader, which goes on behind it.
    #[cfg(feature = "container")]
    pub(crate) fn next(&self, reader: &mut Reader<'_>) -> Result<Value, ReadError> {
        let before = reader.rest();
        let nested = self.layout.check(reader)?;
        let body = &before[..before.len() - reader.rest().len()];
        self.library
            .decode(&self.layout, body, nested)
            .map_err(|reason| ReadError::Library { reason })
    }

    /// The schema's fingerprint by the specification.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.canonical.fingerprint()
    }
}

/// Readers of equal schemas are equal.
impl PartialEq for ValueReader {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for ValueReader {}

impl fmt::Debug for ValueReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueReader")
            .field("schema", &self.canonical.describe())
            .finish_non_exhaustive()
    }
}
