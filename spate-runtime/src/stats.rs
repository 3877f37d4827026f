//! Counters of a run. Drivers add to them once a batch, so that the hot path has plain integers only.
//!
//! They exist before the first record (invariant 8), and they add up: see [`Totals::unaccounted`] (invariant 7).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::ConnectorError;

/// What one stage did with records.
#[derive(Debug, Default)]
pub struct StageStats {
    pub(crate) dropped: AtomicU64,
    pub(crate) skipped: AtomicU64,
    pub(crate) tombstones: AtomicU64,
    pub(crate) expanded: AtomicU64,
    pub(crate) children: AtomicU64,
}

/// What one sink wrote.
#[derive(Debug, Default)]
pub struct SinkStats {
    /// Rows encoded for the sink by batches that ran to their end.
    pub(crate) encoded: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) blocks: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) abandoned_rows: AtomicU64,
    /// By shard, the error of its last attempt, if that failed.
    last_errors: Mutex<BTreeMap<usize, String>>,
}

impl SinkStats {
    fn errors(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, String>> {
        // A poisoned map is still a map of texts.
        self.last_errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// An attempt of a shard failed; its error is quoted by what fails for want of it, until the shard writes a block.
    pub(crate) fn attempt_failed(&self, shard: usize, error: &ConnectorError) {
        self.errors().insert(shard, error.to_string());
    }

    /// A shard wrote a block.
    pub(crate) fn attempt_succeeded(&self, shard: usize) {
        self.errors().remove(&shard);
    }

    /// The shards whose last attempt failed, and how.
    pub(crate) fn last_errors(&self) -> Vec<(usize, String)> {
        self.errors()
            .iter()
            .map(|(&shard, error)| (shard, error.clone()))
            .collect()
    }
}

/// The counters of a run, shared by all its threads.
#[derive(Debug)]
pub struct Stats {
    pub(crate) records: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) stages: Box<[StageStats]>,
    pub(crate) sinks: Box<[std::sync::Arc<SinkStats>]>,
}

impl Stats {
    /// Counters for so many stages and sinks.
    #[must_use]
    pub fn new(stages: usize, sinks: usize) -> Self {
        Stats {
            records: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            stages: (0..stages).map(|_| StageStats::default()).collect(),
            sinks: (0..sinks).map(|_| std::sync::Arc::default()).collect(),
        }
    }

    /// The numbers now.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Totals {
            records: get(&self.records),
            batches: get(&self.batches),
            stages: self
                .stages
                .iter()
                .map(|s| StageTotals {
                    dropped: get(&s.dropped),
                    skipped: get(&s.skipped),
                    tombstones: get(&s.tombstones),
                    expanded: get(&s.expanded),
                    children: get(&s.children),
                })
                .collect(),
            sinks: self
                .sinks
                .iter()
                .map(|s| SinkTotals {
                    encoded: get(&s.encoded),
                    rows: get(&s.rows),
                    blocks: get(&s.blocks),
                    bytes: get(&s.bytes),
                    retries: get(&s.retries),
                    abandoned_rows: get(&s.abandoned_rows),
                })
                .collect(),
        }
    }
}

/// A snapshot of [`Stats`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Records of batches whose kernel ran to its end.
    pub records: u64,
    /// Such batches.
    pub batches: u64,
    /// Per stage, in the graph's order.
    pub stages: Vec<StageTotals>,
    /// Per sink, in slot order.
    pub sinks: Vec<SinkTotals>,
}

/// What one stage did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageTotals {
    /// Records that the stage's own logic dropped (a filter).
    pub dropped: u64,
    /// Records that it could not process and `on_error = skip` dropped.
    pub skipped: u64,
    /// Records without a payload.
    pub tombstones: u64,
    /// Records that it took apart (`flat_map`) ..
    pub expanded: u64,
    /// .. into so many.
    pub children: u64,
}

/// What one sink did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SinkTotals {
    /// Rows handed to the sink.
    pub encoded: u64,
    /// Rows that are durable.
    pub rows: u64,
    /// Blocks that are durable.
    pub blocks: u64,
    /// Encoded bytes of these rows.
    pub bytes: u64,
    /// Writes that were repeated.
    pub retries: u64,
    /// Rows that were given up; their records will be read again.
    pub abandoned_rows: u64,
}

impl Totals {
    /// Records without an outcome: zero, or the engine has lost count.
    #[must_use]
    pub fn unaccounted(&self) -> i128 {
        let mut left = i128::from(self.records);
        for stage in &self.stages {
            left -= i128::from(stage.dropped)
                + i128::from(stage.skipped)
                + i128::from(stage.tombstones);
            left += i128::from(stage.children) - i128::from(stage.expanded);
        }
        left - self
            .sinks
            .iter()
            .map(|sink| i128::from(sink.encoded))
            .sum::<i128>()
    }
}
