//! What a lane is, in a few lines: batches in delivery order, and the watermark behind the longest prefix of stored ones.

use crate::ack::Ack;
use crate::checkpoint::Progress;

#[derive(Debug, Default)]
pub(super) struct Model {
    batches: Vec<Batch>,
}

#[derive(Debug)]
struct Batch {
    first: i64,
    next: i64,
    unsettled: usize,
    failed: bool,
}

impl Batch {
    fn is_stored(&self) -> bool {
        self.unsettled == 0 && !self.failed
    }
}

impl Model {
    /// Where the next batch may begin at the earliest.
    pub(super) fn delivered(&self) -> Option<i64> {
        self.batches.last().map(|batch| batch.next)
    }

    /// A batch with so many shares; its number.
    pub(super) fn deliver(&mut self, first: i64, next: i64, shares: usize) -> usize {
        self.batches.push(Batch {
            first,
            next,
            unsettled: shares,
            failed: false,
        });
        self.batches.len() - 1
    }

    /// A share settles, in the model and for real.
    pub(super) fn settle(&mut self, batch: usize, ack: Ack, stored: bool) {
        let batch = &mut self.batches[batch];
        batch.unsettled -= 1;
        batch.failed |= !stored;
        if stored {
            ack.delivered();
        } else {
            drop(ack);
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let stored = self.batches.iter().take_while(|b| b.is_stored()).count();
        let oldest = self.batches.get(stored);
        Progress {
            watermark: self.batches[..stored].last().map(|batch| batch.next),
            pending: self.batches.len() - stored,
            waits_for: oldest.map(|batch| batch.first),
            failed: self.batches.iter().any(|batch| batch.failed),
            stopped: oldest.is_some_and(|batch| batch.unsettled == 0),
        }
    }
}
