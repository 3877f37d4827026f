//! The batches of one lane in delivery order, and the watermark that follows from their acks.
//!
//! 1. The driver registers each batch before the kernel runs and gets the batch's first ack.
//! 2. Acks settle in any order, from any thread, without touching the tracker.
//! 3. The checkpointer takes settled batches off the front; the watermark is the next offset of the last one taken.
//! 4. A failed batch at the front stops the watermark for good (invariant 1).
//!
//! Synchronous, one short lock per batch; no clock, channel or async runtime (invariant 3).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ack::{Ack, AckCell, AckState};
use crate::record::Partition;
use crate::source::LaneId;

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
    /// Whether a batch failed: the watermark will not move any more.
    pub failed: bool,
}

impl Progress {
    /// Whether nothing is in flight that could still move the watermark.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.pending == 0 || self.failed
    }
}

struct PendingBatch {
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

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
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
        inner.pending.push_back(PendingBatch { next_offset, cell });
        Ok(ack)
    }

    /// Moves the watermark over what has settled and tells where the lane stands.
    pub fn advance(&self) -> Progress {
        let mut inner = self.inner();
        inner.advance();
        let failed = self.failed.load(Ordering::Relaxed);
        Progress {
            watermark: inner.watermark,
            pending: inner.pending.len(),
            failed,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker(max: usize) -> PartitionTracker {
        PartitionTracker::new(LaneId(1), Partition::new("orders", 0), max)
    }

    fn batch(t: &PartitionTracker, first: i64, next: i64) -> Ack {
        t.register(first, next).expect("in order")
    }

    #[test]
    fn the_watermark_is_the_next_offset_to_read() {
        let t = tracker(8);
        batch(&t, 0, 10).delivered();
        assert_eq!(t.advance().watermark, Some(10));
    }

    #[test]
    fn a_later_success_never_passes_an_earlier_batch_in_flight() {
        let t = tracker(8);
        let first = batch(&t, 0, 10);
        batch(&t, 10, 20).delivered();
        assert_eq!(
            t.advance(),
            Progress {
                watermark: None,
                pending: 2,
                failed: false
            }
        );
        first.delivered();
        assert_eq!(
            t.advance(),
            Progress {
                watermark: Some(20),
                pending: 0,
                failed: false
            }
        );
    }

    #[test]
    fn a_failed_batch_stops_the_watermark_for_good() {
        let t = tracker(8);
        batch(&t, 0, 10).delivered();
        drop(batch(&t, 10, 20));
        batch(&t, 20, 30).delivered();
        assert_eq!(
            t.advance(),
            Progress {
                watermark: Some(10),
                pending: 2,
                failed: true
            }
        );
        assert_eq!(t.advance().watermark, Some(10));
    }

    #[test]
    fn gaps_from_compaction_do_not_hold_the_watermark() {
        let t = tracker(8);
        batch(&t, 0, 5).delivered();
        batch(&t, 90, 120).delivered();
        assert_eq!(t.advance().watermark, Some(120));
    }

    #[test]
    fn an_ack_of_an_earlier_assignment_moves_nothing() {
        let old = tracker(8);
        let held = batch(&old, 0, 100);
        let new = PartitionTracker::new(LaneId(2), Partition::new("orders", 0), 8);
        batch(&new, 500, 501).delivered();
        held.delivered();
        assert_eq!(new.advance().watermark, Some(501));
    }

    #[test]
    fn the_number_of_pending_batches_is_a_hard_bound() {
        let t = tracker(2);
        let first = batch(&t, 0, 1);
        let second = batch(&t, 1, 2);
        assert!(!t.has_room());
        second.delivered();
        assert!(
            !t.has_room(),
            "the second is settled, but the first still holds its place"
        );
        first.delivered();
        assert!(t.has_room());
    }

    #[test]
    fn a_batch_that_goes_back_is_refused_and_settles_nothing() {
        let t = tracker(8);
        batch(&t, 0, 10).delivered();
        assert!(t.register(9, 12).is_err());
        assert_eq!(
            t.advance(),
            Progress {
                watermark: Some(10),
                pending: 0,
                failed: false
            }
        );
    }
}
