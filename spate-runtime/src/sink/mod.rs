//! The contract of a sink: rows are encoded on the driver threads, blocks are written by one worker per shard.

mod block;
mod breaker;
mod queue;
mod retry;
mod rotation;
mod start;
mod worker;
mod writer;

use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

pub use block::{Block, Chunk};
pub use breaker::{Breaker, Told};
pub use queue::ShardQueue;
pub use retry::Backoff;
pub use rotation::Rotation;
pub(crate) use start::{StartCheck, StartSink, StartStep};
pub use worker::{SinkWorker, WorkerShared, WorkerStep, WorkerWatch};
pub use writer::MakeWriter;

use crate::config::{OpenError, Section};
use crate::error::{ConnectorError, RowError};
use crate::source::{Attachment, OpenContext};

/// What start-up knows of the rows that a pipeline writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowInfo {
    /// The row type's name.
    pub row: &'static str,
    /// The columns in the order in which they are encoded; empty for sinks without columns.
    pub columns: &'static [Column],
}

/// A column as the table definition names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: &'static str,
    /// The column's type in the store's own spelling: `Nullable(Float64)`.
    pub ty: &'static str,
}

/// An attempt to write a block, boxed once per attempt.
pub type SinkFuture = Pin<Box<dyn Future<Output = Result<(), ConnectorError>> + Send>>;

/// A look at a replica before the run.
pub type CheckFuture = Pin<Box<dyn Future<Output = Result<Checked, ConnectorError>> + Send>>;

/// What a look at a replica found, beside that blocks can be written to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// What an operator should know, one sentence each; logged once at start.
    pub warnings: Vec<String>,
}

/// An opened sink.
pub trait Sink: Send + Sync {
    /// How many shards rows are spread over; at least one.
    fn shards(&self) -> usize;

    /// The longest time that one attempt may take by the timeouts that the configuration sets for the sink itself, if it
    /// sets any; a `retry.attempt_timeout` that is shorter is refused.
    fn slowest_attempt(&self) -> Option<Duration> {
        None
    }

    /// A writer of one shard. Called for the start-up check, for the run, and again after a panic in a writer.
    fn writer(&self, shard: usize) -> Box<dyn ShardWriter>;
}

/// Writes blocks to one shard.
///
/// A replica is a server that has, or gets, all rows of the shard: a block is written to one of them. Its number is below
/// [`replicas`](ShardWriter::replicas). A panic in any of these calls or in a future costs the block that was written and
/// no other; the writer is then made anew.
pub trait ShardWriter: Send {
    /// How many replicas the shard has, at least one; always the same.
    fn replicas(&self) -> usize {
        1
    }

    /// Where a replica is, for messages: its address without credentials.
    fn place(&self, replica: usize) -> String {
        format!("replica {replica}")
    }

    /// Looks at a replica before the run: reachable, the table there, its columns as compiled. Repeated while the error is
    /// retryable, until `pipeline.startup_timeout`.
    fn check(&mut self, replica: usize) -> CheckFuture {
        let _ = replica;
        Box::pin(std::future::ready(Ok(Checked::default())))
    }

    /// Begins one attempt to write the block to a replica; the future ends when it is durable.
    ///
    /// After a retryable error the worker writes the same block with the same token again, to the next replica. A fatal
    /// error is about the block: no replica takes it. The future is dropped at `retry.attempt_timeout` and at the drain's
    /// deadline; nothing of it may reach the next attempt. Futures run on a thread and a tokio runtime of their shard.
    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture;
}

/// A sink as the pipeline language knows it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sink of a pipeline",
    label = "not a sink",
    note = "a sink of your own is a type that implements `spate::connector::sink::SinkKind`"
)]
pub trait SinkKind: 'static {
    /// The stage's name: `clickhouse`.
    const KIND: &'static str;

    /// Whether the sink reads a config section; if not, the section is refused.
    const CONFIGURED: bool;

    /// Makes what the stage keeps beside the pipeline; most sinks keep nothing.
    fn attach() -> Option<Attachment> {
        None
    }

    /// Checks the section and opens the sink, without a connection.
    ///
    /// # Errors
    /// What is wrong with the section, with its dotted path.
    fn open(
        section: &Section,
        row: RowInfo,
        context: &OpenContext,
    ) -> Result<Box<dyn Sink>, OpenError>;
}

/// Encodes a row of type `R` for the sink.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sink of `{R}`",
    label = "no sink of such rows",
    note = "map the record to a type that the sink takes; for `clickhouse` derive `Row`, for `capture` yield bytes or text",
    note = "if a closure returns a `Result`, use `try_map(.., on_error = ..)` in place of `map`",
    note = "a sink of your own is a type that implements `spate::connector::sink::SinkKind` and `RowEncoder`"
)]
pub trait RowEncoder<R>: SinkKind {
    /// What start-up knows of `R`.
    fn row() -> RowInfo;

    /// Appends one row. What was appended before an error is taken back by the caller.
    ///
    /// # Errors
    /// The row cannot be expressed; the sink's `on_error` decides. Never for lack of room.
    fn encode(row: &R, out: &mut Vec<u8>) -> Result<(), RowError>;
}

/// A witness of the row type; see [`Decoder`](crate::decode::Decoder).
pub struct SinkWitness<S, R>(PhantomData<fn() -> (S, R)>);

impl<S, R> Clone for SinkWitness<S, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, R> Copy for SinkWitness<S, R> {}

/// The witness of a sink stage. What is no sink is refused where the pipeline is built: rustc would say it twice.
#[must_use]
pub fn sink<S, R>() -> SinkWitness<S, R> {
    SinkWitness(PhantomData)
}

impl<S, R> SinkWitness<S, R>
where
    S: RowEncoder<R>,
{
    pub(crate) fn row(self) -> RowInfo {
        S::row()
    }
}
