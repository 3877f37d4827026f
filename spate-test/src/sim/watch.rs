//! Between the engine and the scripted doubles: every call is logged and checked against the truth at its moment.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::failure::FailureSlot;
use spate_runtime::machines::Deadline;
use spate_runtime::record::{Batch, Partition};
use spate_runtime::sink::{Block, ShardWriter, SinkFuture};
use spate_runtime::source::{Commit, Fetched, LaneId, Source, SourceEvent, SourceLane};
use spate_runtime::time::Time;

use super::truth::Truth;
use crate::scripted::ScriptedSource;

/// The source of one process.
pub(super) struct WatchedSource {
    pub(super) inner: Box<dyn Source>,
    pub(super) handle: ScriptedSource,
    pub(super) truth: Truth,
    pub(super) process: u32,
    /// The process ends when it is set.
    pub(super) deadline: Arc<Deadline>,
    /// How long it may take to give a partition back, if nothing that is drawn can be in its way.
    pub(super) prompt: Option<Duration>,
}

impl WatchedSource {
    fn told(&self, what: &str, lanes: &[LaneId], result: &Result<(), ConnectorError>) {
        let error = result.as_ref().err();
        let error = error.map_or(String::new(), |error| format!(": {error}"));
        self.truth
            .log(format_args!("p{} {what} {lanes:?}{error}", self.process));
    }
}

impl Source for WatchedSource {
    fn start(&mut self, now: Time) -> Result<(), ConnectorError> {
        self.inner.start(now)
    }

    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        let event = self.inner.poll(now).inspect_err(|error| {
            let mut truth = self.truth.state();
            truth.note(format_args!("p{} polls: {error}", self.process));
            if !error.is_retryable() {
                truth.cause(self.process, "source");
            }
        })?;
        let process = self.process;
        match event {
            Some(SourceEvent::Assigned(lanes)) => {
                let mut watched: Vec<Box<dyn SourceLane>> = Vec::new();
                for inner in lanes {
                    let (id, partition) = (inner.id(), inner.partition().number);
                    let (start, _) = self.handle.progress(id).unwrap_or_default();
                    let mut truth = self.truth.state();
                    truth.note(format_args!(
                        "p{process} is assigned {partition} from {start}: {id:?}"
                    ));
                    truth.lane_begins(process, id, partition as usize, start);
                    drop(truth);
                    watched.push(Box::new(WatchedLane {
                        inner,
                        truth: self.truth.clone(),
                        process,
                    }));
                }
                return Ok(Some(SourceEvent::Assigned(watched)));
            }
            Some(SourceEvent::Revoking(ref lanes)) => {
                let mut truth = self.truth.state();
                truth.note(format_args!("p{process} is asked to give back {lanes:?}"));
                lanes.iter().for_each(|lane| truth.lane_goes(*lane, false));
            }
            Some(SourceEvent::Lost(ref lanes)) => {
                let mut truth = self.truth.state();
                truth.note(format_args!("p{process} learns that it lost {lanes:?}"));
                lanes.iter().for_each(|lane| truth.lane_goes(*lane, true));
            }
            Some(SourceEvent::Committed { id, ref result }) => {
                let text = match result {
                    Ok(()) => "taken".to_owned(),
                    Err(error) => error.to_string(),
                };
                let mut truth = self.truth.state();
                truth.note(format_args!("p{process} commit {id}: {text}"));
                if result.as_ref().is_err_and(|error| !error.is_retryable()) {
                    truth.cause(process, "source");
                }
            }
            Some(SourceEvent::Ended) => self.truth.log(format_args!("p{process} source ended")),
            Some(SourceEvent::Trouble(_)) | None => {}
        }
        Ok(event)
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        self.truth.state().commits(self.process, offsets);
        self.inner.commit(id, offsets).inspect_err(|error| {
            let process = self.process;
            self.truth
                .log(format_args!("p{process} commit {id} not begun: {error}"));
        })
    }

    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let result = self.inner.pause(lanes);
        self.told("pauses", lanes, &result);
        result
    }

    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let result = self.inner.resume(lanes);
        self.told("resumes", lanes, &result);
        result
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let result = self.inner.release(lanes);
        self.told("gives back", lanes, &result);
        let ending = self.deadline.get().is_some();
        let mut truth = self.truth.state();
        for lane in lanes.iter().filter(|_| result.is_ok()) {
            truth.lane_released(*lane, ending, self.prompt);
        }
        drop(truth);
        result
    }

    fn close(&mut self) {
        self.truth.log(format_args!("p{} closes", self.process));
        self.inner.close();
    }
}

struct WatchedLane {
    inner: Box<dyn SourceLane>,
    truth: Truth,
    process: u32,
}

impl SourceLane for WatchedLane {
    fn id(&self) -> LaneId {
        self.inner.id()
    }

    fn partition(&self) -> &Partition {
        self.inner.partition()
    }

    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError> {
        let fetched = self.inner.fetch(max_records);
        if let Err(error) = &fetched {
            let mut truth = self.truth.state();
            let partition = self.inner.partition();
            truth.note(format_args!(
                "p{} fetches {partition}: {error}",
                self.process
            ));
            if !error.is_retryable() {
                truth.cause(self.process, format!("source, partition {partition}"));
            }
        }
        fetched
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        self.truth.state().reading(Some((self.process, self.id())));
        self.inner.read(f);
        self.truth.state().reading(None);
    }

    fn finish(&mut self) {
        self.inner.finish();
    }
}

/// The writer of one shard of one process.
pub(super) struct WatchedWriter {
    pub(super) inner: Box<dyn ShardWriter>,
    pub(super) truth: Truth,
    /// Process, sink, shard.
    pub(super) at: (u32, usize, usize),
    pub(super) failure: Arc<FailureSlot>,
}

impl ShardWriter for WatchedWriter {
    fn replicas(&self) -> usize {
        self.inner.replicas()
    }

    fn place(&self, replica: usize) -> String {
        self.inner.place(replica)
    }

    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture {
        let data = block.chunks().concat();
        let mut truth = self.truth.state();
        if self.failure.is_set() {
            truth.gives_up(self.at.0);
        }
        let (process, sink, shard) = self.at;
        let (token, rows) = (block.token(), block.rows());
        truth.note(format_args!(
            "p{process} writes {token}: {rows} rows to {sink}/{shard}"
        ));
        truth.write_begins(self.at, token, &data);
        drop(truth);
        // From here on the attempt counts as running, also if the call panics.
        let mut write = WatchedWrite {
            inner: None,
            truth: self.truth.clone(),
            at: self.at,
            token: token.to_owned(),
            rows,
            again: true,
        };
        write.inner = Some(self.inner.write(replica, block));
        Box::pin(write)
    }
}

struct WatchedWrite {
    inner: Option<SinkFuture>,
    truth: Truth,
    at: (u32, usize, usize),
    token: String,
    rows: usize,
    /// Whether the block is to be written again when this attempt ends now.
    again: bool,
}

impl Future for WatchedWrite {
    type Output = Result<(), ConnectorError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(inner) = &mut self.inner else {
            return Poll::Pending;
        };
        let poll = inner.as_mut().poll(cx);
        if let Poll::Ready(result) = &poll {
            let (process, sink, _) = self.at;
            let mut truth = self.truth.state();
            match result {
                Ok(()) => {
                    truth.note(format_args!("p{process} {}: stored", self.token));
                    let written = &mut truth.process(process).written;
                    written.resize(written.len().max(sink + 1), 0);
                    written[sink] += self.rows as u64;
                }
                Err(error) => truth.note(format_args!("p{process} {}: {error}", self.token)),
            }
            drop(truth);
            self.again = result.as_ref().is_err_and(ConnectorError::is_retryable);
        }
        poll
    }
}

impl Drop for WatchedWrite {
    fn drop(&mut self) {
        let mut truth = self.truth.state();
        truth.write_dropped(self.at);
        if self.again && !std::thread::panicking() {
            let token = std::mem::take(&mut self.token);
            truth.write_again(self.at, &token);
        }
    }
}
