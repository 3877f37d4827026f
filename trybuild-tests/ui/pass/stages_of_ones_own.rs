//! A path that is no stage of ours is the user's: functions, sources, decoders and sinks by the public traits.

use std::sync::Arc;

use spate::connector::{OpenError, Section};
use spate::connector::decode::{Decode, DecoderKind, Reader, SharedDecoder};
use spate::connector::error::{ConnectorError, DecodeError, RowError};
use spate::connector::record::Record;
use spate::connector::scratch::Scratch;
use spate::connector::sink::{RowEncoder, RowInfo, Sink, SinkKind};
use spate::connector::source::{OpenContext, Source, SourceKind};

/// A source.
pub struct Files;

impl SourceKind for Files {
    const KIND: &'static str = "files";

    fn open(_: &Section, _: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        Err(ConnectorError::fatal("no files").into())
    }
}

/// A decoder.
pub struct Text;

/// It remembers nothing.
pub struct Shared;

impl SharedDecoder for Shared {}

impl DecoderKind for Text {
    const KIND: &'static str = "text";
    const CONFIGURED: bool = false;
    type Thread = ();

    fn open(_: &Section, _: Reader, _: &OpenContext) -> Result<Arc<dyn SharedDecoder>, OpenError> {
        Ok(Arc::new(Shared))
    }

    fn thread(_: &dyn SharedDecoder) {}
}

impl<'b> Decode<'b, &'b str> for Text {
    fn reader() -> Reader {
        Reader { record: "text", schema: None }
    }

    fn decode(_: &mut (), record: &Record<'b>, _: &'b Scratch) -> Result<&'b str, DecodeError> {
        std::str::from_utf8(record.payload()).map_err(DecodeError::new)
    }
}

/// A sink.
pub struct Printer;

impl SinkKind for Printer {
    const KIND: &'static str = "printer";
    const CONFIGURED: bool = false;

    fn open(_: &Section, _: RowInfo, _: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        Err(ConnectorError::fatal("no paper").into())
    }
}

impl RowEncoder<String> for Printer {
    fn row() -> RowInfo {
        RowInfo { row: "line", columns: &[] }
    }

    fn encode(row: &String, out: &mut Vec<u8>) -> Result<(), RowError> {
        out.extend(row.as_bytes());
        Ok(())
    }
}

/// A stage with arguments.
pub fn cut(text: &str, most: usize) -> &str {
    text.get(..most).unwrap_or(text)
}

spate::pipeline! {
    pub lines {
        self::Files -> crate::Text(on_error = skip) -> cut(80) -> map(str::to_owned) -> crate::Printer
    }
}
