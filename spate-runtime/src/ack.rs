//! Acknowledgement of one batch: an atomic count, a failed flag, and shares of them that cannot be forgotten.
//!
//! The driver holds one [`Ack`] while the kernel runs; every chunk that got rows of the batch holds another. An ack ends
//! by [`Ack::delivered`]; dropped in any other way (error, panic, abandoned block) it marks the batch failed. There is no
//! queue of acks: completion is a store that the tracker reads (invariants 3 and 4).

use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering};

/// How a batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckState {
    /// Some of its rows are not durable yet.
    Pending,
    /// All of it is durable, or dropped on purpose.
    Delivered,
    /// Something of it was given up.
    Failed,
}

#[derive(Debug)]
pub(crate) struct AckCell {
    outstanding: AtomicUsize,
    failed: AtomicBool,
    /// Set with `failed`, so that the tracker sees a failure behind its front without a search.
    lane_failed: Arc<AtomicBool>,
}

impl AckCell {
    /// A new batch and the first share of its ack.
    pub(crate) fn new(lane_failed: Arc<AtomicBool>) -> (Arc<AckCell>, Ack) {
        let cell = Arc::new(AckCell {
            outstanding: AtomicUsize::new(1),
            failed: AtomicBool::new(false),
            lane_failed,
        });
        (
            Arc::clone(&cell),
            Ack {
                cell,
                delivered: false,
            },
        )
    }

    pub(crate) fn state(&self) -> AckState {
        // Acquire pairs with the release in `settle`: whoever sees zero sees every failure mark, and what is stored.
        if self.outstanding.load(Ordering::Acquire) != 0 {
            AckState::Pending
        } else if self.failed.load(Ordering::Relaxed) {
            AckState::Failed
        } else {
            AckState::Delivered
        }
    }

    fn settle(&self) {
        let before = self.outstanding.fetch_sub(1, Ordering::Release);
        debug_assert!(before > 0, "an ack was settled twice");
    }
}

/// One share of a batch's ack.
#[derive(Debug)]
#[must_use = "a dropped ack fails its batch"]
pub struct Ack {
    cell: Arc<AckCell>,
    delivered: bool,
}

impl Ack {
    /// Another share: the batch is settled when both are.
    pub fn share(&self) -> Ack {
        // Relaxed: this share keeps the count above zero.
        self.cell.outstanding.fetch_add(1, Ordering::Relaxed);
        Ack {
            cell: Arc::clone(&self.cell),
            delivered: false,
        }
    }

    /// What this share stands for is durable.
    pub fn delivered(mut self) {
        self.delivered = true;
    }
}

impl Drop for Ack {
    fn drop(&mut self) {
        if !self.delivered {
            // Relaxed: `settle` releases both marks.
            self.cell.failed.store(true, Ordering::Relaxed);
            self.cell.lane_failed.store(true, Ordering::Relaxed);
        }
        self.cell.settle();
    }
}
