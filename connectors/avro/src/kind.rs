//! The `avro` stage: opened from the `deserializer` section, called per record. Hot path.

use std::any::Any;
use std::sync::Arc;

use spate_runtime::config::{OpenError, Section};
use spate_runtime::decode::{Decode, DecoderKind, Gate, Reader, SharedDecoder};
use spate_runtime::error::{ConnectorError, DecodeError};
use spate_runtime::record::Record;
use spate_runtime::scratch::Scratch;
use spate_runtime::source::OpenContext;

use crate::config::DecoderConfig;
use crate::framing::{Framing, FramingError, confluent, has_id_in_header, is_id, single_object};
use crate::gate::IdGate;
use crate::record::{AvroRecord, decode_body};
use crate::registry::Client;
use crate::resolve::Room;
use crate::schemas::{KnownIds, KnownPlans, Schemas, Verdict};

/// The `avro` decoder: payloads to records with `#[derive(AvroRecord)]`.
///
/// Its section is `deserializer`:
///
/// - `framing`: `confluent` (default), `raw` or `single_object`.
/// - `registry.url`: `http://host:port` or `https://..`, asked for the writer schemas that payloads name; or `registry.urls`, which are asked
///   in turn. Also `registry.username` and `registry.password`, or `registry.token`; `registry.tls` (`ca`, `cert`, `key`: PEM files; feature
///   `avro-tls`); `registry.timeout` (of a request, 10s), `registry.give_up_after` (2m; then the pipeline stops).
/// - `registry.subject`: its latest schema is compared with the compiled one before the first batch runs.
/// - `schema_ids`: ids that are trusted to be the compiled schema, without or beside a registry.
#[derive(Debug)]
pub struct Avro;

/// What one thread keeps between records.
#[derive(Debug)]
pub struct AvroThread {
    pub(crate) framing: Framing,
    /// Of the compiled schema, as the single-object encoding has it.
    fingerprint: u64,
    known: KnownIds,
    pub(crate) schemas: Arc<Schemas>,
    /// How records of other schemas are read.
    plans: KnownPlans,
    room: Room,
    #[cfg(feature = "value")]
    pub(crate) values: crate::value::Values,
}

pub(crate) struct AvroDecoder {
    pub(crate) framing: Framing,
    pub(crate) schemas: Arc<Schemas>,
    /// For values whose schema is configured.
    #[cfg(feature = "value")]
    pub(crate) configured: Option<crate::value::ValueReader>,
}

impl SharedDecoder for AvroDecoder {
    fn gate(&self) -> Option<Box<dyn Gate>> {
        match self.framing {
            Framing::Confluent => Some(Box::new(IdGate::new(Arc::clone(&self.schemas)))),
            Framing::Raw | Framing::SingleObject => None,
        }
    }
}

impl DecoderKind for Avro {
    const KIND: &'static str = "avro";
    const CONFIGURED: bool = true;
    type Thread = AvroThread;

    fn open(
        section: &Section,
        reader: Reader,
        context: &OpenContext,
    ) -> Result<Arc<dyn SharedDecoder>, OpenError> {
        #[cfg(feature = "value")]
        if reader.schema.is_none() {
            return crate::value::open(section, reader.record, context);
        }
        let config = DecoderConfig::read(section)?;
        // `--check` has no runtime: nothing is asked then.
        let registry = config.registry.map(Client::new).zip(context.tokio.clone());
        let schema = reader.schema.unwrap_or_default();
        let schemas =
            Schemas::new(reader.record, schema, &config.schema_ids, registry).map_err(|error| {
                ConnectorError::fatal(format!(
                    "the compiled schema of `{}` cannot be used: {error}",
                    reader.record
                ))
            })?;
        Ok(Arc::new(AvroDecoder {
            framing: config.framing,
            schemas,
            #[cfg(feature = "value")]
            configured: None,
        }))
    }

    fn thread(shared: &dyn SharedDecoder) -> AvroThread {
        let shared: &dyn Any = shared;
        let Some(decoder) = shared.downcast_ref::<AvroDecoder>() else {
            unreachable!("the engine hands back the decoder that `open` made")
        };
        AvroThread {
            framing: decoder.framing,
            fingerprint: decoder.schemas.fingerprint(),
            known: KnownIds::new(),
            schemas: Arc::clone(&decoder.schemas),
            plans: KnownPlans::default(),
            room: Room::default(),
            #[cfg(feature = "value")]
            values: crate::value::Values::new(decoder.configured.as_ref()),
        }
    }
}

impl<'b, R: AvroRecord<'b>> Decode<'b, R> for Avro {
    fn reader() -> Reader {
        Reader {
            record: R::NAME,
            schema: Some(R::SCHEMA),
        }
    }

    #[inline(always)]
    fn decode(
        thread: &mut AvroThread,
        record: &Record<'b>,
        scratch: &'b Scratch,
    ) -> Result<R, DecodeError> {
        let size = record.payload().len();
        match thread.body(record)? {
            (body, None) => decode_body(body, size).map_err(DecodeError::new),
            (body, Some(plan)) => thread.resolve(plan, body, size, scratch),
        }
    }
}

impl AvroThread {
    /// The record behind the framing, and where the plan is by which it is read if it is not one of the compiled schema.
    #[inline(always)]
    pub(crate) fn body<'b>(
        &mut self,
        record: &Record<'b>,
    ) -> Result<(&'b [u8], Option<usize>), DecodeError> {
        let payload = record.payload();
        match self.framing {
            Framing::Raw => Ok((payload, None)),
            Framing::SingleObject => match single_object(payload) {
                Ok((found, body)) if found == self.fingerprint => Ok((body, None)),
                Ok((found, _)) => Err(DecodeError::new(FramingError::Fingerprint {
                    found,
                    compiled: self.fingerprint,
                })),
                Err(error) => Err(DecodeError::new(error)),
            },
            Framing::Confluent => match confluent(payload) {
                Ok((id, body)) if self.known.is_last(id) => Ok((body, None)),
                Ok((id, body)) => Ok((body, self.turn_to(id, record)?)),
                Err(_) if has_id_in_header(record) => Err(DecodeError::new(FramingError::Header)),
                Err(error) => Err(DecodeError::new(error)),
            },
        }
    }

    /// Reads a record of another schema.
    #[cold]
    pub(crate) fn resolve<'b, R: AvroRecord<'b>>(
        &mut self,
        plan: usize,
        body: &'b [u8],
        size: usize,
        scratch: &'b Scratch,
    ) -> Result<R, DecodeError> {
        let record = self
            .plans
            .at(plan)
            .decode(body, size, &mut self.room, scratch);
        record.map_err(DecodeError::new)
    }

    /// Another id than the last record's: where its plan is, or none for one of the compiled schema's.
    fn turn_to(&mut self, id: u32, record: &Record<'_>) -> Result<Option<usize>, DecodeError> {
        match self.plans.find(id) {
            None if self.known.contains(id) => Ok(None),
            None => self.look_up(id, record),
            plan => Ok(plan),
        }
    }

    #[cold]
    fn look_up(&mut self, id: u32, record: &Record<'_>) -> Result<Option<usize>, DecodeError> {
        if has_id_in_header(record) {
            return Err(DecodeError::new(FramingError::Header));
        }
        if !is_id(id) {
            return Err(DecodeError::new(FramingError::Id { id }));
        }
        match self.schemas.verdict(id) {
            Verdict::Same => {
                self.known.add(id);
                Ok(None)
            }
            Verdict::Resolve(plan) => Ok(Some(self.plans.add(id, plan))),
            #[cfg(feature = "value")]
            Verdict::Values(_) => unreachable!("the table of a compiled schema"),
            Verdict::Refused(reason) => Err(DecodeError::new(reason.to_string())),
        }
    }
}
