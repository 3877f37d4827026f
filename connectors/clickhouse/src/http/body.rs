//! A request's body: pieces that are sent one after the other without being copied, their total length known, and a
//! record of how far the connection has taken them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

/// Pieces are handed on in slices of this size, so that a slow connection shows progress within one.
const MAX_FRAME: usize = 256 * 1024;

/// How much of a body the connection has taken.
#[derive(Debug, Default)]
pub(super) struct Progress {
    left: AtomicU64,
    end: Notify,
}

impl Progress {
    /// The number of bytes that were not taken yet.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Acquire)
    }

    /// Ends when everything was taken. For one waiter at a time.
    pub(super) async fn ended(&self) {
        while self.left() > 0 {
            self.end.notified().await;
        }
    }
}

/// The pieces that are left to send.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: std::vec::IntoIter<Bytes>,
    current: Bytes,
    progress: Arc<Progress>,
}

impl Pieces {
    pub(super) fn new(pieces: Vec<Bytes>) -> (Self, Arc<Progress>) {
        let length = pieces.iter().map(|piece| piece.len() as u64).sum();
        let progress = Arc::new(Progress {
            left: AtomicU64::new(length),
            end: Notify::new(),
        });
        (
            Pieces {
                pieces: pieces.into_iter(),
                current: Bytes::new(),
                progress: progress.clone(),
            },
            progress,
        )
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        while self.current.is_empty() {
            match self.pieces.next() {
                Some(piece) => self.current = piece,
                None => return Poll::Ready(None),
            }
        }
        let length = self.current.len().min(MAX_FRAME);
        let frame = self.current.split_to(length);
        if self
            .progress
            .left
            .fetch_sub(length as u64, Ordering::AcqRel)
            == length as u64
        {
            self.progress.end.notify_one();
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.progress.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.progress.left())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(body: &mut Pieces) -> Vec<Bytes> {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        std::iter::from_fn(|| match Pin::new(&mut *body).poll_frame(&mut cx) {
            Poll::Ready(frame) => frame.map(|frame| {
                frame
                    .ok()
                    .and_then(|f| f.into_data().ok())
                    .unwrap_or_default()
            }),
            Poll::Pending => None,
        })
        .collect()
    }

    #[test]
    fn pieces_are_sent_in_order_without_a_copy_and_large_ones_in_slices() {
        let large = Bytes::from(vec![7; MAX_FRAME + 1]);
        let (mut body, progress) = Pieces::new(vec![
            Bytes::from_static(b"head"),
            Bytes::new(),
            large.clone(),
        ]);
        assert_eq!(body.size_hint().exact(), Some(4 + large.len() as u64));
        assert!(!body.is_end_stream());
        let sent = frames(&mut body);
        assert_eq!(
            sent.iter().map(Bytes::len).collect::<Vec<_>>(),
            [4, MAX_FRAME, 1]
        );
        assert_eq!(sent[1].as_ptr(), large.as_ptr());
        assert!(body.is_end_stream());
        assert_eq!(progress.left(), 0);
    }

    #[test]
    fn nothing_to_send_has_ended_at_once() {
        let (body, progress) = Pieces::new(Vec::new());
        assert!(body.is_end_stream());
        assert_eq!((body.size_hint().exact(), progress.left()), (Some(0), 0));
    }
}
