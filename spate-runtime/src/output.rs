//! What one driver thread produces: open chunks per sink and shard, and the counters of the running batch.
//!
//! The kernel appends; the driver, between batches, attaches acks, seals and pushes. What a batch appended stays
//! provisional until [`Output::end_batch`]: [`Output::roll_back`] takes it out again after an error or a panic.

mod sink_output;

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use sink_output::SinkOutput;

use crate::ack::Ack;
use crate::engine::Budget;
use crate::failure::Failure;
use crate::graph::{Graph, OnError};
use crate::limits::{SKIP_LOG_WINDOW, SKIP_LOGS};
use crate::record::{Partition, Record};
use crate::stats::Stats;
use crate::time::Time;

/// Counters of the batch that runs.
#[derive(Debug, Default, Clone, Copy)]
struct StageCount {
    dropped: u64,
    skipped: u64,
    tombstones: u64,
    expanded: u64,
    children: u64,
}

/// The output of one driver thread.
pub struct Output {
    graph: &'static Graph,
    stats: Arc<Stats>,
    sinks: Vec<SinkOutput>,
    budget: Arc<Budget>,
    counts: Box<[StageCount]>,
    /// Where the kernel is: for errors and panics only.
    stage: usize,
    offset: i64,
    partition: Option<Partition>,
    now: Time,
    log: LogBudget,
}

impl Output {
    pub(crate) fn new(
        graph: &'static Graph,
        stats: Arc<Stats>,
        sinks: Vec<SinkOutput>,
        budget: Arc<Budget>,
    ) -> Self {
        Output {
            graph,
            stats,
            sinks,
            budget,
            counts: vec![StageCount::default(); graph.len()].into(),
            stage: 0,
            offset: 0,
            partition: None,
            now: Time::ZERO,
            log: LogBudget::default(),
        }
    }

    /// A record begins: the first node after the source has it.
    #[inline(always)]
    pub fn begin(&mut self, record: &Record<'_>) {
        self.offset = record.offset();
        self.stage = 1;
    }

    /// The record reaches a stage; one plain store.
    #[inline(always)]
    pub fn enter(&mut self, stage: usize) {
        self.stage = stage;
    }

    /// The output of a sink, by slot.
    #[inline(always)]
    pub fn sink(&mut self, slot: usize) -> &mut SinkOutput {
        &mut self.sinks[slot]
    }

    /// The record ends here by the stage's own logic.
    #[inline(always)]
    pub fn drop_record(&mut self, stage: usize) {
        self.counts[stage].dropped += 1;
    }

    /// The record has no payload: it ends at the decoder, counted by name.
    #[cold]
    pub fn tombstone(&mut self, stage: usize) {
        self.counts[stage].tombstones += 1;
    }

    /// A record is taken apart ..
    #[inline(always)]
    pub fn expand(&mut self, stage: usize) {
        self.counts[stage].expanded += 1;
    }

    /// .. into one more child.
    #[inline(always)]
    pub fn child(&mut self, stage: usize) {
        self.counts[stage].children += 1;
    }

    /// The record ends here because the stage failed and its policy is to skip: counted, and logged now and then.
    #[cold]
    pub fn skip(&mut self, stage: usize, error: impl Display) {
        self.counts[stage].skipped += 1;
        if let Some(unlogged) = self.log.take(self.now) {
            tracing::warn!(unlogged, "record skipped: {}: {error}", self.place(stage));
        }
    }

    /// The pipeline stops here because the stage failed and its policy is to fail.
    #[cold]
    pub fn fail(&mut self, stage: usize, error: impl Display) -> Failure {
        let policy = self.graph.node(stage).and_then(|node| node.on_error);
        let advice = if policy == Some(OnError::Fail) {
            "; correct the record or the stage, or let such records be dropped and counted with `on_error = skip`"
        } else {
            ""
        };
        Failure::new(self.place(stage), format!("{error}{advice}"))
    }

    /// The failure of a kernel that panicked.
    #[cold]
    pub(crate) fn panicked(&self, text: &str) -> Failure {
        Failure::new(self.place(self.stage), format!("panicked: {text}"))
    }

    fn place(&self, stage: usize) -> String {
        let name = self.graph.node(stage).map_or("?", |node| node.name);
        match &self.partition {
            Some(p) => format!(
                "stage `{name}`, topic `{}`, partition {}, offset {}",
                p.topic, p.number, self.offset
            ),
            None => format!("stage `{name}`"),
        }
    }

    // ---- between batches, called by the driver ----

    pub(crate) fn start_batch(&mut self, partition: &Partition, now: Time) {
        self.partition = Some(partition.clone());
        self.now = now;
        self.sinks.iter_mut().for_each(SinkOutput::mark);
    }

    /// The batch ran to its end: its counters are published and its ack is shared with every chunk that got rows of it.
    pub(crate) fn end_batch(&mut self, records: usize, ack: Ack, now: Time) {
        for (sink, stats) in self.sinks.iter_mut().zip(&self.stats.sinks) {
            let rows = sink.attach(&ack, now);
            stats.encoded.fetch_add(rows as u64, Ordering::Relaxed);
        }
        let add = |to: &AtomicU64, n: u64| {
            if n > 0 {
                to.fetch_add(n, Ordering::Relaxed);
            }
        };
        for (count, stats) in self.counts.iter_mut().zip(&self.stats.stages) {
            let count = std::mem::take(count);
            add(&stats.dropped, count.dropped);
            add(&stats.skipped, count.skipped);
            add(&stats.tombstones, count.tombstones);
            add(&stats.expanded, count.expanded);
            add(&stats.children, count.children);
        }
        self.stats
            .records
            .fetch_add(records as u64, Ordering::Relaxed);
        self.stats.batches.fetch_add(1, Ordering::Relaxed);
        ack.delivered();
    }

    /// The batch did not run to its end: nothing of it stays.
    pub(crate) fn roll_back(&mut self) {
        self.sinks.iter_mut().for_each(SinkOutput::roll_back);
        self.counts.fill(StageCount::default());
    }

    /// Whether the budget has room for another batch.
    pub(crate) fn has_room(&self) -> bool {
        self.budget.has_room()
    }

    /// Seals what is due and pushes what is sealed; whether everything sealed found room.
    pub(crate) fn push(&mut self, now: Time, seal_all: bool) -> bool {
        let mut all = true;
        for sink in &mut self.sinks {
            all &= sink.push(now, seal_all, &self.budget);
        }
        all
    }

    /// When the oldest open chunk is to be sealed.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.sinks.iter().filter_map(SinkOutput::wake_at).min()
    }

    /// Gives up everything that is not in a queue; the number of rows.
    pub(crate) fn abandon(&mut self) -> usize {
        self.sinks.iter_mut().map(SinkOutput::abandon).sum()
    }
}

/// A few log lines per window, so that a bad topic does not drown the log.
#[derive(Debug, Default)]
struct LogBudget {
    window: Option<Time>,
    used: u32,
    unlogged: u64,
}

impl Drop for LogBudget {
    fn drop(&mut self) {
        if self.unlogged > 0 {
            tracing::warn!(
                unlogged = self.unlogged,
                "further records were skipped without a line of their own; the report has the counts"
            );
        }
    }
}

impl LogBudget {
    /// Whether to log now, and how many lines were left out since the last one.
    fn take(&mut self, now: Time) -> Option<u64> {
        if self
            .window
            .is_none_or(|start| now.since(start) >= SKIP_LOG_WINDOW)
        {
            self.window = Some(now);
            self.used = 0;
        }
        if self.used >= SKIP_LOGS {
            self.unlogged += 1;
            return None;
        }
        self.used += 1;
        Some(std::mem::take(&mut self.unlogged))
    }
}
