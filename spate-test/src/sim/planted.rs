//! Bugs that are planted on purpose, one at a time, between the engine and its doubles: the simulator has to find each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spate_runtime::error::ConnectorError;
use spate_runtime::record::{Batch, Partition};
use spate_runtime::sink::{Block, ShardWriter, SinkFuture};
use spate_runtime::source::{Commit, Fetched, LaneId, Source, SourceEvent, SourceLane};
use spate_runtime::time::Time;

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The store says that it has a block, and does not have it.
    StoreLosesABlock,
    /// The store leaves out the last chunk of a block.
    StoreLosesAChunk,
    /// A writer says that a block is durable before it is.
    WriterAnswersEarly,
    /// A writer takes an error for a success.
    WriterSwallowsErrors,
    /// A block is written again under another token.
    TokenChanges,
    /// Two blocks are written under one token.
    TokenComesTwice,
    /// Bytes of a block are changed on the way.
    BytesChange,
    /// Every commit is one too far.
    CommitsOneTooFar,
    /// Every commit is one short.
    CommitsOneShort,
    /// An old offset is committed again.
    CommitsGoBack,
    /// A commit is made after its partitions were given back.
    CommitsAfterRelease,
    /// A refused commit passes for a taken one.
    RefusalPassesForTaken,
    /// Partitions are given back before they are settled.
    ReleasesAtOnce,
    /// Lanes outlive their assignment.
    LanesOutlive,
    /// A batch is let go without having been run.
    BatchIsSkipped,
    /// A batch is run twice.
    BatchComesTwice,
    /// Paused lanes are never resumed.
    ResumeIsForgotten,
    /// An assigned partition is never read.
    AssignmentIsForgotten,
    /// The kernel's state is not made anew when partitions go.
    StateIsKept,
    /// A record that is dropped is not counted.
    DropIsNotCounted,
}

impl Planted {
    /// All bugs.
    pub const ALL: &[Planted] = &[
        Planted::StoreLosesABlock,
        Planted::StoreLosesAChunk,
        Planted::WriterAnswersEarly,
        Planted::WriterSwallowsErrors,
        Planted::TokenChanges,
        Planted::TokenComesTwice,
        Planted::BytesChange,
        Planted::CommitsOneTooFar,
        Planted::CommitsOneShort,
        Planted::CommitsGoBack,
        Planted::CommitsAfterRelease,
        Planted::RefusalPassesForTaken,
        Planted::ReleasesAtOnce,
        Planted::LanesOutlive,
        Planted::BatchIsSkipped,
        Planted::BatchComesTwice,
        Planted::ResumeIsForgotten,
        Planted::AssignmentIsForgotten,
        Planted::StateIsKept,
        Planted::DropIsNotCounted,
    ];

    pub(super) fn writer(bug: Option<Self>, inner: Box<dyn ShardWriter>) -> Box<dyn ShardWriter> {
        match bug {
            Some(bug) => Box::new(BadWriter {
                bug,
                inner,
                writes: 0,
            }),
            None => inner,
        }
    }

    pub(super) fn source(bug: Option<Self>, inner: Box<dyn Source>) -> Box<dyn Source> {
        match bug {
            Some(bug) => Box::new(BadSource {
                bug,
                inner,
                held: None,
                old: None,
                kept: Vec::new(),
            }),
            None => inner,
        }
    }
}

/// One of so many is enough: a bug that comes always is found by anything.
const NOW_AND_THEN: u64 = 5;

struct BadWriter {
    bug: Planted,
    inner: Box<dyn ShardWriter>,
    writes: u64,
}

impl ShardWriter for BadWriter {
    fn replicas(&self) -> usize {
        self.inner.replicas()
    }

    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture {
        self.writes += 1;
        let chunks = block.chunks().to_vec();
        if self.bug == Planted::TokenComesTwice {
            // A counter that begins anew with every run.
            let token = block.token().replace(|c: char| c.is_ascii_digit(), "");
            return self
                .inner
                .write(replica, &Block::for_test(chunks, block.rows(), token));
        }
        if !self.writes.is_multiple_of(NOW_AND_THEN) {
            return self.inner.write(replica, block);
        }
        match self.bug {
            Planted::StoreLosesABlock => Box::pin(std::future::ready(Ok(()))),
            Planted::StoreLosesAChunk => {
                let kept = chunks[..chunks.len() - 1].to_vec();
                if kept.is_empty() {
                    return self.inner.write(replica, block);
                }
                let block = Block::for_test(kept, block.rows(), block.token());
                self.inner.write(replica, &block)
            }
            Planted::WriterAnswersEarly => {
                // The write goes on for a moment, but the answer does not wait for it.
                drop(self.inner.write(replica, block));
                Box::pin(std::future::ready(Ok(())))
            }
            Planted::WriterSwallowsErrors => {
                let write = self.inner.write(replica, block);
                Box::pin(async move {
                    // This is the bug.
                    let _ = write.await;
                    Ok(())
                })
            }
            Planted::TokenChanges => {
                let token = format!("{}-{}", block.token(), self.writes);
                self.inner
                    .write(replica, &Block::for_test(chunks, block.rows(), token))
            }
            Planted::BytesChange => {
                let mut data = chunks.concat();
                let middle = data.len() / 2;
                data[middle] ^= 1;
                let block = Block::for_test(vec![data.into()], block.rows(), block.token());
                self.inner.write(replica, &block)
            }
            _ => self.inner.write(replica, block),
        }
    }
}

struct BadSource {
    bug: Planted,
    inner: Box<dyn Source>,
    held: Option<(u64, Vec<Commit>)>,
    old: Option<Vec<Commit>>,
    kept: Vec<Box<dyn SourceLane>>,
}

impl BadSource {
    fn assigned(&mut self, mut lanes: Vec<Box<dyn SourceLane>>) -> Vec<Box<dyn SourceLane>> {
        match self.bug {
            Planted::AssignmentIsForgotten if lanes.len() > 1 => {
                // Somebody holds it and nobody reads it.
                self.kept.extend(lanes.pop());
                lanes
            }
            Planted::BatchIsSkipped | Planted::BatchComesTwice | Planted::LanesOutlive => {
                let bad = |inner| {
                    Box::new(BadLane {
                        bug: self.bug,
                        inner: Some(inner),
                        batches: Arc::default(),
                    }) as Box<dyn SourceLane>
                };
                lanes.into_iter().map(bad).collect()
            }
            _ => lanes,
        }
    }
}

impl Source for BadSource {
    fn start(&mut self, now: Time) -> Result<(), ConnectorError> {
        self.inner.start(now)
    }

    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        Ok(match self.inner.poll(now)? {
            Some(SourceEvent::Assigned(lanes)) => Some(SourceEvent::Assigned(self.assigned(lanes))),
            Some(SourceEvent::Revoking(lanes)) if self.bug == Planted::ReleasesAtOnce => {
                self.inner.release(&lanes)?;
                Some(SourceEvent::Revoking(lanes))
            }
            Some(SourceEvent::Committed { id, result }) => {
                let result = match self.bug {
                    Planted::RefusalPassesForTaken => Ok(()),
                    _ => result,
                };
                Some(SourceEvent::Committed { id, result })
            }
            event => event,
        })
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        let moved = |by: i64| {
            let moved = offsets.iter().map(|commit| Commit {
                offset: commit.offset + by,
                ..commit.clone()
            });
            moved.collect::<Vec<_>>()
        };
        match self.bug {
            Planted::CommitsOneTooFar => self.inner.commit(id, &moved(1)),
            Planted::CommitsOneShort => self.inner.commit(id, &moved(-1)),
            Planted::CommitsGoBack => match self.old.replace(offsets.to_vec()) {
                Some(old) if id.is_multiple_of(NOW_AND_THEN) => self.inner.commit(id, &old),
                _ => self.inner.commit(id, offsets),
            },
            Planted::CommitsAfterRelease if self.held.is_none() => {
                self.held = Some((id, offsets.to_vec()));
                Ok(())
            }
            _ => self.inner.commit(id, offsets),
        }
    }

    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.inner.pause(lanes)
    }

    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        match self.bug {
            Planted::ResumeIsForgotten => Ok(()),
            _ => self.inner.resume(lanes),
        }
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        if self.bug == Planted::ReleasesAtOnce {
            return Ok(());
        }
        self.inner.release(lanes)?;
        match self.held.take() {
            Some((id, offsets)) => self.inner.commit(id, &offsets),
            None => Ok(()),
        }
    }

    fn close(&mut self) {
        self.kept.clear();
        self.inner.close();
    }
}

struct BadLane {
    bug: Planted,
    inner: Option<Box<dyn SourceLane>>,
    batches: Arc<AtomicU64>,
}

impl BadLane {
    fn inner(&self) -> &dyn SourceLane {
        &**self.inner.as_ref().expect("until it is dropped")
    }

    fn now(&self) -> bool {
        let batches = self.batches.fetch_add(1, Ordering::Relaxed) + 1;
        batches.is_multiple_of(NOW_AND_THEN)
    }
}

impl SourceLane for BadLane {
    fn id(&self) -> LaneId {
        self.inner().id()
    }

    fn partition(&self) -> &Partition {
        self.inner().partition()
    }

    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError> {
        let skips = self.bug == Planted::BatchIsSkipped && self.now();
        let inner = self.inner.as_mut().expect("until it is dropped");
        let fetched = inner.fetch(max_records)?;
        if skips && fetched == Fetched::Batch {
            inner.finish();
            return Ok(Fetched::Empty);
        }
        Ok(fetched)
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        self.inner().read(f);
        if self.bug == Planted::BatchComesTwice && self.now() {
            self.inner().read(f);
        }
    }

    fn finish(&mut self) {
        self.inner.as_mut().expect("until it is dropped").finish();
    }
}

impl Drop for BadLane {
    fn drop(&mut self) {
        if self.bug == Planted::LanesOutlive {
            // Somebody still holds it.
            std::mem::forget(self.inner.take());
        }
    }
}
