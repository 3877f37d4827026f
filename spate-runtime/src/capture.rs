//! The `capture` sink: keeps what a store would get, for tests and embedding programs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::config::{OpenError, Section};
use crate::error::{ConnectorError, RowError};
use crate::sink::{Block, RowEncoder, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind};
use crate::source::{Attachment, OpenContext};

/// The `capture` sink stage. Its rows are bytes or text.
#[derive(Debug)]
pub struct Capture;

impl SinkKind for Capture {
    const KIND: &'static str = "capture";
    const CONFIGURED: bool = false;

    fn attach() -> Option<Attachment> {
        Some(Arc::new(CaptureSink::default()))
    }

    fn open(_: &Section, _: RowInfo, context: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        let handle = context
            .attachment
            .as_ref()
            .and_then(|a| a.downcast_ref::<CaptureSink>())
            .cloned();
        Ok(Box::new(handle.unwrap_or_default()))
    }
}

/// A row that the `capture` sink keeps as bytes.
#[diagnostic::on_unimplemented(
    message = "`capture` keeps bytes or text, not `{Self}`",
    note = "map the record to a `String` or bytes first: `map(|r| format!(\"{{}}\", r.id))`"
)]
pub trait CaptureRow {
    /// The row's bytes.
    fn bytes(&self) -> &[u8];
}

macro_rules! capture_rows {
    ($($ty:ty),*) => { $(impl CaptureRow for $ty {
        #[inline]
        fn bytes(&self) -> &[u8] {
            self.as_ref()
        }
    })* };
}
capture_rows!([u8], str, String, Vec<u8>);

impl<T: CaptureRow + ?Sized> CaptureRow for &T {
    #[inline]
    fn bytes(&self) -> &[u8] {
        (**self).bytes()
    }
}

impl<R: CaptureRow> RowEncoder<R> for Capture {
    fn row() -> RowInfo {
        RowInfo {
            row: "bytes",
            columns: &[],
        }
    }

    #[inline]
    fn encode(row: &R, out: &mut Vec<u8>) -> Result<(), RowError> {
        let bytes = row.bytes();
        let length = u32::try_from(bytes.len())
            .map_err(|_| RowError::new("a captured row has more than 4 GiB"))?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
        Ok(())
    }
}

/// One write that the sink took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureWrite {
    /// The block's deduplication token.
    pub token: String,
    /// The rows, in order.
    pub rows: Vec<Vec<u8>>,
}

#[derive(Default)]
struct State {
    writes: Vec<CaptureWrite>,
    attempts: Vec<String>,
    failures: VecDeque<ConnectorError>,
    hold: bool,
    held: Vec<Waker>,
}

/// The handle of a `capture` sink. Clones are the same sink.
#[derive(Clone, Default)]
pub struct CaptureSink(Arc<Mutex<State>>);

impl CaptureSink {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writes that succeeded, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<CaptureWrite> {
        self.state().writes.clone()
    }

    /// The rows of all writes that succeeded, as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let state = self.state();
        let rows = state.writes.iter().flat_map(|write| &write.rows);
        rows.map(|row| String::from_utf8_lossy(row).into_owned())
            .collect()
    }

    /// The tokens of all attempts, failed ones included.
    #[must_use]
    pub fn attempts(&self) -> Vec<String> {
        self.state().attempts.clone()
    }

    /// The next write fails like this.
    pub fn fail_next(&self, error: ConnectorError) {
        self.state().failures.push_back(error);
    }

    /// While held, writes neither succeed nor fail.
    pub fn hold(&self, hold: bool) {
        let mut state = self.state();
        state.hold = hold;
        if !hold {
            state.held.drain(..).for_each(Waker::wake);
        }
    }
}

impl Sink for CaptureSink {
    fn shards(&self) -> usize {
        1
    }

    fn writer(&self, _: usize) -> Box<dyn ShardWriter> {
        Box::new(self.clone())
    }
}

impl ShardWriter for CaptureSink {
    fn write(&mut self, _: usize, block: &Block) -> SinkFuture {
        let write = CaptureWrite {
            token: block.token().to_owned(),
            rows: rows(block),
        };
        let handle = self.clone();
        handle.state().attempts.push(write.token.clone());
        Box::pin(async move {
            std::future::poll_fn(|cx| {
                let mut state = handle.state();
                if state.hold {
                    state.held.push(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(())
            })
            .await;
            let mut state = handle.state();
            match state.failures.pop_front() {
                Some(error) => Err(error),
                None => {
                    state.writes.push(write);
                    Ok(())
                }
            }
        })
    }
}

/// Takes the length-prefixed rows of a block apart.
fn rows(block: &Block) -> Vec<Vec<u8>> {
    let mut rows = Vec::with_capacity(block.rows());
    for chunk in block.chunks() {
        let mut rest: &[u8] = chunk;
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let (row, after) = after.split_at(length);
            rows.push(row.to_vec());
            rest = after;
        }
    }
    assert_eq!(
        rows.len(),
        block.rows(),
        "a captured block holds other rows than it says"
    );
    rows
}
