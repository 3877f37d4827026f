//! The contract of a source: a control plane that the controller polls, and lanes that drivers read.
//!
//! A source never blocks, never sleeps and never starts a thread that calls back into the engine: it answers when it
//! is asked. What it has to say arrives as [`SourceEvent`]s from [`Source::poll`].

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{OpenError, Section};
use crate::error::ConnectorError;
use crate::record::{Batch, Partition};
use crate::time::Time;

/// One assignment of one partition: never used again, also when the same partition comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneId(pub u64);

/// What a source has to say to the controller.
pub enum SourceEvent {
    /// Partitions were assigned; each comes with the lane that reads it.
    Assigned(Vec<Box<dyn SourceLane>>),
    /// Partitions will be taken away: the engine settles what is in flight, commits, then calls [`Source::release`].
    /// Until then they are still this process's.
    Revoking(Vec<LaneId>),
    /// Partitions are already gone: nothing of them can be committed any more.
    /// The engine drops their lanes and calls [`Source::release`].
    Lost(Vec<LaneId>),
    /// A commit that was begun with [`Source::commit`] ended.
    Committed {
        /// The number that was given to `commit`.
        id: u64,
        /// Whether the store took it.
        result: Result<(), ConnectorError>,
    },
    /// Every lane of a bounded source has come to its end and no more will be assigned.
    Ended,
    /// Something went wrong that may pass (a broker is down): logged, and quoted when a deadline ends the pipeline.
    Trouble(ConnectorError),
}

/// How long [`Source::close`] may take.
pub const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// An offset to commit: the next one to read of a lane's partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The lane whose watermark this is.
    pub lane: LaneId,
    /// Its partition.
    pub partition: Partition,
    /// The next offset to read.
    pub offset: i64,
    /// A text kept beside the offset, where the store can keep one.
    pub metadata: Option<String>,
}

/// The control plane of a source. Every call returns at once (a few milliseconds at most).
///
/// # Errors
/// A retryable error is logged and the call made again later; a fatal one ends the pipeline.
pub trait Source: Send {
    /// Begins to join (subscribe, list, connect). Called once, before the first `poll`.
    fn start(&mut self, now: Time) -> Result<(), ConnectorError>;

    /// Serves the client and returns the next event, if there is one. The controller calls it all the time, also while
    /// lanes are paused and during a drain.
    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError>;

    /// Begins to commit; the end is told by [`SourceEvent::Committed`] with the same `id`.
    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError>;

    /// Stops fetching for these lanes; what their lanes already hold can still be read.
    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError>;

    /// Fetches again.
    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError>;

    /// Gives revoked or lost lanes back. Their [`SourceLane`]s have been dropped before.
    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError>;

    /// How many records of each assigned partition are still to be read, where that is known. Asked at the commit interval;
    /// no request may be made for it.
    fn lag(&self) -> Vec<(Partition, i64)> {
        Vec::new()
    }

    /// Leaves. All lanes have been dropped before; nothing is called afterwards. It may wait, but no longer than
    /// [`CLOSE_LIMIT`]: the drain's budget counts on it.
    fn close(&mut self);
}

/// What [`SourceLane::fetch`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// Nothing now.
    Empty,
    /// A batch is current and can be read.
    Batch,
    /// There is no record before this offset, and none will be: no batch is current. A partition may end like this, for
    /// aborted transactions, the markers of all of them and what compaction removed take offsets too.
    Passed(i64),
    /// The lane has come to its end (bounded sources); nothing will follow.
    End,
}

/// The data plane of one assigned partition; it lives on one driver thread.
///
/// The current batch stays readable until [`finish`](SourceLane::finish): a batch that has to wait for a schema is held
/// by not finishing it.
pub trait SourceLane: Send {
    /// This assignment.
    fn id(&self) -> LaneId;

    /// The partition.
    fn partition(&self) -> &Partition;

    /// Makes the next batch of at most `max_records` current, without waiting. Only called when no batch is current.
    ///
    /// # Errors
    /// As for [`Source`]: a retryable error is logged and the lane fetched again, a fatal one ends the pipeline.
    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError>;

    /// Shows the current batch to `f`, once. Payloads live until `f` returns.
    fn read(&self, f: &mut dyn FnMut(&Batch<'_>));

    /// Lets the current batch go.
    fn finish(&mut self);
}

/// What a stage keeps beside the pipeline from its construction on, such as the memory source's handle.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// What a connector gets to open itself.
#[derive(Clone)]
pub struct OpenContext {
    /// The pipeline's name.
    pub pipeline: String,
    /// The number of driver threads.
    pub threads: usize,
    /// The runtime on which asynchronous work may be spawned; `None` under `--check`.
    pub tokio: Option<tokio::runtime::Handle>,
    /// What [`SourceKind::attach`] or [`SinkKind::attach`](crate::sink::SinkKind::attach) made for this stage.
    pub attachment: Option<Attachment>,
}

/// A source as the pipeline language knows it: a marker type that opens the source from its config section.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of a pipeline",
    label = "not a source",
    note = "a source of your own is a type that implements `spate::connector::source::SourceKind`"
)]
pub trait SourceKind: 'static {
    /// The stage's name: `kafka`.
    const KIND: &'static str;

    /// Makes what the stage keeps beside the pipeline; most sources keep nothing.
    fn attach() -> Option<Attachment> {
        None
    }

    /// Checks the section and opens the source, without a connection: `--check` does it too.
    ///
    /// # Errors
    /// What is wrong with the section, with its dotted path.
    fn open(section: &Section, context: &OpenContext) -> Result<Box<dyn Source>, OpenError>;
}
