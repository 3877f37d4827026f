//! `avro::<avro::Value>`: the stage without a compiled schema.

use std::path::Path;
use std::sync::Arc;

use spate_runtime::config::{ConfigError, OpenError, Section};
use spate_runtime::decode::{Decode, Reader, SharedDecoder};
use spate_runtime::error::DecodeError;
use spate_runtime::record::Record;
use spate_runtime::scratch::Scratch;
use spate_runtime::source::OpenContext;

use super::{ReadError, Value, ValueReader};
use crate::config::{DecoderConfig, Reads};
use crate::framing::{Framing, FramingError, confluent, has_id_in_header, is_id, single_object};
use crate::kind::{Avro, AvroDecoder, AvroThread};
use crate::limits;
use crate::registry::Client;
use crate::schemas::{Schemas, Verdict};

/// What one thread keeps between records.
#[derive(Debug)]
pub(crate) struct Values {
    /// By the configured schema, of this fingerprint.
    configured: Option<(u64, ValueReader)>,
    /// By the schemas of ids; the last one that was used first.
    by_id: Vec<(u32, ValueReader)>,
}

impl Values {
    pub(crate) fn new(configured: Option<&ValueReader>) -> Self {
        Values {
            configured: configured.map(|reader| (reader.fingerprint(), reader.for_thread())),
            by_id: Vec::new(),
        }
    }
}

/// Opens the stage.
///
/// # Errors
/// What is wrong with the section, or with the schema that it names.
pub(crate) fn open(
    section: &Section,
    record: &'static str,
    context: &OpenContext,
) -> Result<Arc<dyn SharedDecoder>, OpenError> {
    let config = DecoderConfig::read_for(section, Reads::Values)?;
    let configured = config.schema.as_deref().map(|path| file(section, path));
    // `--check` has no runtime: nothing is asked then.
    let registry = config.registry.map(Client::new).zip(context.tokio.clone());
    Ok(Arc::new(AvroDecoder {
        framing: config.framing,
        schemas: Schemas::of_values(record, registry),
        configured: configured.transpose()?,
    }))
}

fn file(section: &Section, path: &Path) -> Result<ValueReader, ConfigError> {
    let wrong = |error: String| section.error("schema", format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    ValueReader::new(&text).map_err(|error| wrong(error.to_string()))
}

/// A record of an id's schema that has no value.
#[derive(Debug, thiserror::Error)]
#[error("schema id {id}, {error}")]
struct OfId {
    id: u32,
    error: ReadError,
}

impl<'b> Decode<'b, Value> for Avro {
    fn reader() -> Reader {
        Reader {
            record: "avro::Value",
            schema: None,
        }
    }

    fn decode(
        thread: &mut AvroThread,
        record: &Record<'b>,
        _: &'b Scratch,
    ) -> Result<Value, DecodeError> {
        let payload = record.payload();
        let size = payload.len();
        let body = match thread.framing {
            Framing::Confluent => {
                let (id, body) = confluent(payload).map_err(|error| {
                    DecodeError::new(match has_id_in_header(record) {
                        true => FramingError::Header,
                        false => error,
                    })
                })?;
                let value = thread.reader_of(id, record)?.read_framed(body, size);
                return value.map_err(|error| DecodeError::new(OfId { id, error }));
            }
            Framing::Raw => payload,
            Framing::SingleObject => {
                let (found, body) = single_object(payload).map_err(DecodeError::new)?;
                let expected = thread.configured()?.0;
                if found != expected {
                    return Err(DecodeError::new(format!(
                        "the payload was written with the schema of fingerprint {found:016x}; that of `deserializer.schema` is {expected:016x}"
                    )));
                }
                body
            }
        };
        let value = thread.configured()?.1.read_framed(body, size);
        value.map_err(DecodeError::new)
    }
}

impl AvroThread {
    fn configured(&self) -> Result<&(u64, ValueReader), DecodeError> {
        let missing = || DecodeError::new("no `deserializer.schema` is set");
        self.values.configured.as_ref().ok_or_else(missing)
    }

    /// The reader of an id's records.
    fn reader_of(&mut self, id: u32, record: &Record<'_>) -> Result<&ValueReader, DecodeError> {
        match self.values.by_id.iter().position(|(known, _)| *known == id) {
            Some(place) => self.values.by_id.swap(0, place),
            None => self.make_reader(id, record)?,
        }
        Ok(&self.values.by_id[0].1)
    }

    /// Puts the reader of a new id in front.
    #[cold]
    fn make_reader(&mut self, id: u32, record: &Record<'_>) -> Result<(), DecodeError> {
        if has_id_in_header(record) {
            return Err(DecodeError::new(FramingError::Header));
        }
        if !is_id(id) {
            return Err(DecodeError::new(FramingError::Id { id }));
        }
        match self.schemas.verdict(id) {
            Verdict::Values(reader) => {
                let by_id = &mut self.values.by_id;
                by_id.truncate(limits::IDS_PER_THREAD - 1);
                by_id.insert(0, (id, reader.for_thread()));
                Ok(())
            }
            Verdict::Refused(reason) => Err(DecodeError::new(reason.to_string())),
            Verdict::Same | Verdict::Resolve(_) => unreachable!("a table of values"),
        }
    }
}
