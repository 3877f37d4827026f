//! The batches of one lane in delivery order, and the watermark that follows from their acks.
//!
//! 1. The driver registers each batch before the kernel runs and gets the batch's first ack.
//! 2. Acks settle in any order, from any thread, without touching the tracker.
//! 3. The checkpointer takes settled batches off the front; the watermark is the next offset of the last one taken.
//! 4. A failed batch at the front stops the watermark for good (invariant 1).
//!
//! Synchronous, one short lock per batch; no clock, channel or async runtime (invariant 3).

use std::collections::VecDeque;

use crate::ack::{Ack, AckCell, AckState};
use crate::record::Partition;
use crate::source::LaneId;
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, PoisonError};

/// A lane delivered a batch that does not lie behind the one before: its source is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{partition}: a batch from offset {first} came after offset {delivered} had been delivered"
)]
pub struct OutOfOrder {
    partition: Partition,
    first: i64,
    delivered: i64,
}

/// How a lane stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The next offset to read after everything that is settled without a gap; `None` before the first batch is.
    pub watermark: Option<i64>,
    /// Batches that are registered and not yet behind the watermark.
    pub pending: usize,
    /// The first offset of the oldest of them.
    pub waits_for: Option<i64>,
    /// Whether a batch failed: the watermark will not move past it.
    pub failed: bool,
    /// Whether the oldest batch failed: the watermark will not move any more.
    pub stopped: bool,
}

impl Progress {
    /// Whether nothing is in flight that could still move the watermark.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.pending == 0 || self.stopped
    }
}

struct PendingBatch {
    first: i64,
    next_offset: i64,
    cell: Arc<AckCell>,
}

#[derive(Default)]
struct Inner {
    pending: VecDeque<PendingBatch>,
    delivered: Option<i64>,
    watermark: Option<i64>,
}

/// The tracker of one lane; shared by its driver and the controller.
pub struct PartitionTracker {
    lane: LaneId,
    partition: Partition,
    max_pending: usize,
    failed: Arc<AtomicBool>,
    inner: Mutex<Inner>,
}

impl PartitionTracker {
    /// A tracker that takes at most `max_pending` batches in flight.
    ///
    /// # Panics
    /// If `max_pending` is zero.
    #[must_use]
    pub fn new(lane: LaneId, partition: Partition, max_pending: usize) -> Self {
        assert!(max_pending > 0, "a lane needs room for one batch");
        PartitionTracker {
            lane,
            partition,
            max_pending,
            failed: Arc::default(),
            inner: Mutex::default(),
        }
    }

    /// The lane.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// Its partition.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // No code that could panic runs under the lock, so a poisoned one is still consistent.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another batch may be registered: asked before a lane is fetched, a hard bound.
    pub fn has_room(&self) -> bool {
        let mut inner = self.inner();
        if inner.pending.len() < self.max_pending {
            return true;
        }
        inner.advance();
        inner.pending.len() < self.max_pending
    }

    /// Registers the next batch, from the offset `first` to before `next_offset`.
    ///
    /// # Errors
    /// The batch does not lie behind the one before.
    pub fn register(&self, first: i64, next_offset: i64) -> Result<Ack, OutOfOrder> {
        let mut inner = self.inner();
        if let Some(delivered) = inner
            .delivered
            .filter(|&delivered| first < delivered || next_offset <= delivered)
        {
            return Err(OutOfOrder {
                partition: self.partition.clone(),
                first,
                delivered,
            });
        }
        assert!(
            inner.pending.len() < self.max_pending,
            "a batch was fetched without room for it"
        );
        let (cell, ack) = AckCell::new(Arc::clone(&self.failed));
        inner.delivered = Some(next_offset);
        inner.pending.push_back(PendingBatch {
            first,
            next_offset,
            cell,
        });
        Ok(ack)
    }

    /// Passes offsets without a record, up to before `next_offset`: the watermark moves over them with what lies before.
    pub fn pass(&self, next_offset: i64) {
        let delivered = self.inner().delivered;
        let first = delivered.unwrap_or(next_offset);
        if (first < next_offset || delivered.is_none())
            && let Ok(ack) = self.register(first, next_offset)
        {
            ack.delivered();
        }
    }

    /// Moves the watermark over what has settled and tells where the lane stands.
    pub fn advance(&self) -> Progress {
        let mut inner = self.inner();
        inner.advance();
        let oldest = inner.pending.front();
        let stopped = oldest.is_some_and(|batch| batch.cell.state() == AckState::Failed);
        Progress {
            watermark: inner.watermark,
            pending: inner.pending.len(),
            waits_for: oldest.map(|batch| batch.first),
            // Read last: a cell whose failure was seen has set it before.
            failed: self.failed.load(Ordering::Relaxed),
            stopped,
        }
    }
}

impl Inner {
    fn advance(&mut self) {
        while let Some(front) = self.pending.front() {
            if front.cell.state() != AckState::Delivered {
                break;
            }
            let next = front.next_offset;
            assert!(
                self.watermark.is_none_or(|before| next > before),
                "the watermark moved backwards"
            );
            self.watermark = Some(next);
            self.pending.pop_front();
        }
    }
}
