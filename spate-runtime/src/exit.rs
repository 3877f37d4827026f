//! How a run ended: printed at the end of the process and returned to an embedding program.

use std::fmt;

use crate::failure::Failure;
use crate::graph::Graph;
use crate::record::Partition;
use crate::stats::Totals;

/// The report of a run.
#[derive(Debug, Clone)]
pub struct ExitReport {
    pub(crate) pipeline: String,
    pub(crate) graph: &'static Graph,
    pub(crate) sinks: Vec<&'static str>,
    pub(crate) failure: Option<Failure>,
    pub(crate) totals: Totals,
    pub(crate) committed: Vec<(Partition, i64)>,
    pub(crate) abandoned_batches: usize,
    pub(crate) lost_batches: usize,
}

impl ExitReport {
    /// Whether the run ended cleanly: no failure, nothing given up, the last watermark committed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.failure.is_none() && self.abandoned_batches == 0
    }

    /// 0 for a clean end, 1 otherwise.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        u8::from(!self.is_clean())
    }

    /// The first failure.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The counters.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The counters of the stage of that name.
    #[must_use]
    pub fn stage(&self, name: &str) -> Option<crate::stats::StageTotals> {
        let index = self.graph.nodes.iter().position(|node| node.name == name)?;
        self.totals.stages.get(index).copied()
    }

    /// The offsets that this run committed, by partition: the next ones to read.
    #[must_use]
    pub fn committed(&self) -> &[(Partition, i64)] {
        &self.committed
    }

    /// Batches in flight of partitions that were lost to another member of the group, which reads them again. A run can end
    /// cleanly all the same.
    #[must_use]
    pub fn lost_batches(&self) -> usize {
        self.lost_batches
    }

    /// Batches that were read and not committed; their records will be read again.
    #[must_use]
    pub fn abandoned_batches(&self) -> usize {
        self.abandoned_batches
    }
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_clean() {
            "completed"
        } else {
            "failed"
        };
        write!(
            f,
            "pipeline `{}` {state}: records={}",
            self.pipeline, self.totals.records
        )?;
        for (node, stage) in self.graph.nodes.iter().zip(&self.totals.stages) {
            let named = [
                ("dropped", stage.dropped),
                ("skipped", stage.skipped),
                ("tombstones", stage.tombstones),
            ];
            for (name, count) in named.into_iter().filter(|(_, count)| *count > 0) {
                write!(f, " {}.{name}={count}", node.name)?;
            }
        }
        for (name, sink) in self.sinks.iter().zip(&self.totals.sinks) {
            write!(
                f,
                " {name}.rows={} {name}.blocks={}",
                sink.rows, sink.blocks
            )?;
            if sink.retries > 0 {
                write!(f, " {name}.retries={}", sink.retries)?;
            }
            if sink.abandoned_rows > 0 {
                write!(f, " {name}.abandoned_rows={}", sink.abandoned_rows)?;
            }
        }
        write!(f, " abandoned_batches={}", self.abandoned_batches)?;
        if self.lost_batches > 0 {
            write!(f, " lost_batches={}", self.lost_batches)?;
        }
        if let Some(failure) = &self.failure {
            write!(f, "\n  first failure: {failure}")?;
        }
        for (partition, offset) in &self.committed {
            write!(f, "\n  committed {partition}: {offset}")?;
        }
        Ok(())
    }
}
