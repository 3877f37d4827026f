//! Calls into a writer: what panics in it is an answer like any other, and a writer that panicked is not used again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::ShardWriter;
use crate::failure::panic_text;

/// Makes a writer of one shard.
pub type MakeWriter = Box<dyn FnMut() -> Box<dyn ShardWriter> + Send>;

/// The text of a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Panicked(pub(super) String);

/// A writer that is made when it is needed first, and again after a panic: its state may be torn.
pub(super) struct Writer {
    make: MakeWriter,
    made: Option<Box<dyn ShardWriter>>,
}

impl Writer {
    pub(super) fn new(make: MakeWriter) -> Self {
        Writer { make, made: None }
    }

    /// Calls the writer.
    pub(super) fn call<T>(
        &mut self,
        f: impl FnOnce(&mut dyn ShardWriter) -> T,
    ) -> Result<T, Panicked> {
        let Writer { make, made } = self;
        let answer = caught(|| f(&mut **made.get_or_insert_with(make)));
        if answer.is_err() {
            self.renew();
        }
        answer
    }

    /// The next call gets a new writer.
    pub(super) fn renew(&mut self) {
        let torn = self.made.take();
        // A second panic of the same writer tells nothing new.
        let _ = caught(|| drop(torn));
    }

    /// Where a replica is.
    pub(super) fn place(&mut self, replica: usize) -> String {
        self.call(|writer| writer.place(replica))
            .unwrap_or_else(|_| format!("replica {replica}"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.renew();
    }
}

/// A future of a writer; it is dropped before it tells its answer, and what panics in its drop counts like a panic in it.
pub(super) struct Running<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> Running<T> {
    pub(super) fn new(future: Pin<Box<dyn Future<Output = T> + Send>>) -> Self {
        Running(Some(future))
    }

    /// Polls it; its answer, and whether it panicked when it was dropped afterwards.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer<T>> {
        let future = self.0.as_mut().expect("it is not polled after its end");
        let value = match caught(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(panicked) => Err(panicked),
        };
        let dropped = self.stop();
        Poll::Ready(Answer { value, dropped })
    }

    /// Drops it.
    pub(super) fn stop(&mut self) -> Result<(), Panicked> {
        let future = self.0.take();
        caught(|| drop(future))
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// How a future ended.
pub(super) struct Answer<T> {
    pub(super) value: Result<T, Panicked>,
    pub(super) dropped: Result<(), Panicked>,
}

fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| Panicked(panic_text(&*panic)))
}
