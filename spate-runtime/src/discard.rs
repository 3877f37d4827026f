//! The `discard` sink: counts rows and forgets them, for measurements and dry runs.

use crate::config::{OpenError, Section};
use crate::error::RowError;
use crate::sink::{Block, RowEncoder, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind};
use crate::source::OpenContext;

/// The `discard` sink stage. It takes rows of every type.
#[derive(Debug)]
pub struct Discard;

impl SinkKind for Discard {
    const KIND: &'static str = "discard";
    const CONFIGURED: bool = false;

    fn open(_: &Section, _: RowInfo, _: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        Ok(Box::new(Discard))
    }
}

impl<R> RowEncoder<R> for Discard {
    fn row() -> RowInfo {
        RowInfo {
            row: "any",
            columns: &[],
        }
    }

    #[inline(always)]
    fn encode(_: &R, _: &mut Vec<u8>) -> Result<(), RowError> {
        Ok(())
    }
}

impl Sink for Discard {
    fn shards(&self) -> usize {
        1
    }

    fn writer(&self, _: usize) -> Box<dyn ShardWriter> {
        Box::new(Discard)
    }
}

impl ShardWriter for Discard {
    fn write(&mut self, _: usize, _: &Block) -> SinkFuture {
        Box::pin(std::future::ready(Ok(())))
    }
}
