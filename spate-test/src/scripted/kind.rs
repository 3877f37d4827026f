//! The stages as the pipeline language knows them.

use std::sync::Arc;

use spate_runtime::capture::CaptureRow;
use spate_runtime::config::{OpenError, Section};
use spate_runtime::error::RowError;
use spate_runtime::sink::{RowEncoder, RowInfo, Sink, SinkKind};
use spate_runtime::source::{Attachment, OpenContext, Source, SourceKind};

use super::{ScriptedSink, ScriptedSource, Topic};

/// The stage of a scripted source or sink: `spate_test::scripted::Scripted` in a `pipeline!` block.
///
/// The handles are `pipeline.source_handle::<ScriptedSource>()` and `pipeline.sink_handle::<ScriptedSink>("scripted")`. Rows
/// are bytes or text, as for `capture`. Neither reads a configuration section.
#[derive(Debug)]
pub struct Scripted;

impl SourceKind for Scripted {
    const KIND: &'static str = "scripted";

    fn attach() -> Option<Attachment> {
        Some(Arc::new(ScriptedSource::new(&Topic::new("scripted"))))
    }

    fn open(section: &Section, context: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        if !section.is_empty() {
            let text = "the `scripted` source has no settings; remove the section";
            return Err(section.error("", text).into());
        }
        let handle = context.attachment.as_ref();
        let handle = handle.and_then(|a| a.downcast_ref::<ScriptedSource>());
        let handle = handle.cloned();
        Ok(handle
            .unwrap_or_else(|| ScriptedSource::new(&Topic::new("scripted")))
            .source())
    }
}

impl SinkKind for Scripted {
    const KIND: &'static str = "scripted";
    const CONFIGURED: bool = false;

    fn attach() -> Option<Attachment> {
        Some(Arc::new(ScriptedSink::default()))
    }

    fn open(_: &Section, _: RowInfo, context: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        let handle = context.attachment.as_ref();
        let handle = handle.and_then(|a| a.downcast_ref::<ScriptedSink>());
        Ok(Box::new(handle.cloned().unwrap_or_default()))
    }
}

impl<R: CaptureRow> RowEncoder<R> for Scripted {
    fn row() -> RowInfo {
        RowInfo {
            row: "bytes",
            columns: &[],
        }
    }

    /// The row's length as four bytes, then its bytes.
    #[inline]
    fn encode(row: &R, out: &mut Vec<u8>) -> Result<(), RowError> {
        let bytes = row.bytes();
        let length = u32::try_from(bytes.len())
            .map_err(|_| RowError::new("a scripted row has more than 4 GiB"))?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
        Ok(())
    }
}
