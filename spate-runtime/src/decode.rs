//! The contract of a decoder: one object per process, a state per thread, a call per record.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::config::{OpenError, Section};
use crate::error::{ConnectorError, DecodeError};
use crate::record::{Batch, Record};
use crate::scratch::Scratch;
use crate::source::OpenContext;
use crate::thread::Thread;

/// What start-up knows of the records that a pipeline reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// The record's name.
    pub record: &'static str,
    /// The schema it was compiled from, as text; `None` for decoders without one.
    pub schema: Option<&'static str>,
}

/// Whether a batch may run.
#[derive(Debug)]
pub enum Admit {
    /// Everything that its records need is here.
    Ready,
    /// Something is still being looked up: the lane holds the batch, other lanes go on.
    Hold,
    /// It will never be here (rejected credentials): the pipeline stops.
    Stop(ConnectorError),
}

/// Asked once per batch, before the kernel sees it.
pub trait Gate: Send {
    /// Looks through the batch for what decoding needs; never waits.
    fn admit(&mut self, batch: &Batch<'_>) -> Admit;
}

/// A decoder's part that all threads share.
pub trait SharedDecoder: Any + Send + Sync {
    /// A gate for one thread; `None` if every batch may run.
    fn gate(&self) -> Option<Box<dyn Gate>> {
        None
    }
}

/// A decoder as the pipeline language knows it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a decoder of a pipeline",
    label = "not a decoder",
    note = "a decoder of your own is a type that implements `spate::connector::decode::DecoderKind`"
)]
pub trait DecoderKind: 'static {
    /// The stage's name: `avro`.
    const KIND: &'static str;

    /// Whether the decoder reads the `deserializer` section; if not, the section is refused.
    const CONFIGURED: bool;

    /// The state of one thread.
    type Thread;

    /// Checks the section and opens the decoder.
    ///
    /// # Errors
    /// What is wrong with the section, with its dotted path.
    fn open(
        section: &Section,
        reader: Reader,
        context: &OpenContext,
    ) -> Result<Arc<dyn SharedDecoder>, OpenError>;

    /// The state for one thread.
    fn thread(shared: &dyn SharedDecoder) -> Self::Thread;
}

/// Decodes a payload into a record of type `R` that may borrow from it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a decoder of `{R}`",
    label = "no decoder of such records",
    note = "`avro` reads structs with `#[derive(AvroRecord)]`, `bytes` a `&[u8]`",
    note = "a decoder of your own is a type that implements `spate::connector::decode::DecoderKind` and `Decode`"
)]
pub trait Decode<'b, R>: DecoderKind {
    /// What start-up knows of `R`.
    fn reader() -> Reader;

    /// Decodes one record. It may borrow from the payload, and from bytes that are kept in `scratch`.
    ///
    /// # Errors
    /// The payload is not what the schema says; the stage's `on_error` decides.
    fn decode(
        thread: &mut Self::Thread,
        record: &Record<'b>,
        scratch: &'b Scratch,
    ) -> Result<R, DecodeError>;
}

/// A witness of the record type: lets start-up read its schema although only a closure names it.
///
/// It is covariant in `R`, so the one made outside the loop serves every lifetime inside.
pub struct Decoder<D, R>(PhantomData<fn() -> (D, R)>);

impl<D, R> Clone for Decoder<D, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, R> Copy for Decoder<D, R> {}

/// The witness of a decoder stage. What is no decoder is refused where the pipeline is built: rustc would say it twice.
#[must_use]
pub fn decoder<D, R>() -> Decoder<D, R> {
    Decoder(PhantomData)
}

impl<D: DecoderKind, R> Decoder<D, R> {
    /// The state of this thread.
    pub fn open(self, thread: &Thread) -> D::Thread {
        D::thread(&*thread.decoder)
    }

    pub(crate) fn reader<'b>(self) -> Reader
    where
        D: Decode<'b, R>,
    {
        D::reader()
    }
}

/// The `bytes` decoder: the payload as it is.
#[derive(Debug)]
pub struct Bytes;

/// The `bytes` decoder remembers nothing.
#[derive(Debug)]
pub struct NoState;

struct NoDecoder;

impl SharedDecoder for NoDecoder {}

impl DecoderKind for Bytes {
    const KIND: &'static str = "bytes";
    const CONFIGURED: bool = false;
    type Thread = NoState;

    fn open(_: &Section, _: Reader, _: &OpenContext) -> Result<Arc<dyn SharedDecoder>, OpenError> {
        Ok(Arc::new(NoDecoder))
    }

    fn thread(_: &dyn SharedDecoder) -> NoState {
        NoState
    }
}

impl<'b> Decode<'b, &'b [u8]> for Bytes {
    fn reader() -> Reader {
        Reader {
            record: "bytes",
            schema: None,
        }
    }

    #[inline(always)]
    fn decode(
        _: &mut NoState,
        record: &Record<'b>,
        _: &'b Scratch,
    ) -> Result<&'b [u8], DecodeError> {
        Ok(record.payload())
    }
}
