//! How a run ended: returned by the run, printed once by [`cli::main`](crate::cli::main).
//!
//! Its text is stable and made for `grep`; `docs/exit.md` describes it field by field. New fields are only ever added.

use std::fmt;
use std::time::Duration;

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
    pub(crate) further_failures: u64,
    pub(crate) totals: Totals,
    pub(crate) committed: Vec<(Partition, i64)>,
    pub(crate) lag: Vec<(Partition, i64)>,
    pub(crate) abandoned_batches: usize,
    pub(crate) lost_batches: usize,
    pub(crate) drain: Option<Duration>,
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

    /// How many failures came after the first one; each has a line in the log.
    #[must_use]
    pub fn further_failures(&self) -> u64 {
        self.further_failures
    }

    /// From the signal, the source's end or the first failure to the report; `None` if nothing had been started yet.
    #[must_use]
    pub fn drain_time(&self) -> Option<Duration> {
        self.drain
    }

    /// The counters. A sink's `abandoned_rows` are all rows that are not known to be durable.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The counters of the stage of that name.
    #[must_use]
    pub fn stage(&self, name: &str) -> Option<crate::stats::StageTotals> {
        let index = self.graph.nodes().position(|node| node.name == name)?;
        self.totals.stages.get(index).copied()
    }

    /// The offsets that this run committed, by partition: the next ones to read.
    #[must_use]
    pub fn committed(&self) -> &[(Partition, i64)] {
        &self.committed
    }

    /// How many records of each partition that it had at the end were still to be read, where the source knows it.
    #[must_use]
    pub fn lag(&self) -> &[(Partition, i64)] {
        &self.lag
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
        for (node, stage) in self.graph.nodes().zip(&self.totals.stages) {
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
        if !self.lag.is_empty() {
            let lag: i64 = self.lag.iter().map(|(_, lag)| lag).sum();
            write!(f, " lag={lag}")?;
        }
        if self.further_failures > 0 {
            write!(f, " further_failures={}", self.further_failures)?;
        }
        if let Some(drain) = self.drain {
            write!(f, " drain={:.3}s", drain.as_secs_f64())?;
        }
        if let Some(failure) = &self.failure {
            // A text of several lines stays indented below its own, so that none is taken for a line of the report.
            let text = failure.to_string().replace('\n', "\n    ");
            write!(f, "\n  first failure: {text}")?;
        }
        for (partition, offset) in &self.committed {
            write!(f, "\n  committed {partition}: {offset}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Mark;
    use crate::stats::{SinkTotals, StageTotals};

    static GRAPH: Graph = Graph::new(
        "orders",
        &[
            ("kafka", "kafka", 1),
            ("avro", "avro", 1),
            ("paid", "filter", 1),
            ("clickhouse", "clickhouse", 1),
        ],
        &[
            (0, Mark::Source),
            (1, Mark::Decoder),
            (1, Mark::Skip),
            (3, Mark::Sink),
            (3, Mark::Fail),
        ],
    );

    fn clean() -> ExitReport {
        let mut stages = vec![StageTotals::default(); 4];
        stages[1].skipped = 2;
        stages[1].tombstones = 1;
        stages[2].dropped = 3;
        ExitReport {
            pipeline: "orders".to_owned(),
            graph: &GRAPH,
            sinks: vec!["clickhouse"],
            failure: None,
            further_failures: 0,
            totals: Totals {
                records: 100,
                batches: 4,
                stages,
                sinks: vec![SinkTotals {
                    encoded: 94,
                    rows: 94,
                    blocks: 2,
                    ..SinkTotals::default()
                }],
            },
            committed: vec![
                (Partition::new("orders", 0), 60),
                (Partition::new("orders", 1), 40),
            ],
            lag: vec![
                (Partition::new("orders", 0), 3),
                (Partition::new("orders", 1), 4),
            ],
            abandoned_batches: 0,
            lost_batches: 0,
            drain: Some(Duration::from_millis(12)),
        }
    }

    #[test]
    fn a_clean_end_reads_like_this() {
        let report = clean();
        assert_eq!(report.exit_code(), 0);
        assert_eq!(
            report.to_string(),
            "\
pipeline `orders` completed: records=100 avro.skipped=2 avro.tombstones=1 paid.dropped=3 clickhouse.rows=94 \
clickhouse.blocks=2 abandoned_batches=0 lag=7 drain=0.012s
  committed orders/0: 60
  committed orders/1: 40"
        );
    }

    #[test]
    fn a_failed_end_reads_like_this() {
        let mut report = clean();
        report.totals.sinks[0] = SinkTotals {
            encoded: 94,
            rows: 50,
            blocks: 1,
            retries: 7,
            abandoned_rows: 44,
            ..SinkTotals::default()
        };
        report.committed.pop();
        report.lag.clear();
        report.abandoned_batches = 2;
        report.lost_batches = 1;
        report.further_failures = 3;
        report.failure = Some(Failure::new(
            "sink `clickhouse` shard 0",
            "it said\ncommitted orders/1: 9",
        ));
        report.drain = Some(Duration::from_secs(25));
        assert_eq!(report.exit_code(), 1);
        assert_eq!(
            report.to_string(),
            "\
pipeline `orders` failed: records=100 avro.skipped=2 avro.tombstones=1 paid.dropped=3 clickhouse.rows=50 \
clickhouse.blocks=1 clickhouse.retries=7 clickhouse.abandoned_rows=44 abandoned_batches=2 lost_batches=1 \
further_failures=3 drain=25.000s
  first failure: sink `clickhouse` shard 0: it said
    committed orders/1: 9
  committed orders/0: 60"
        );
    }

    #[test]
    fn what_was_given_up_is_no_clean_end_also_without_a_failure() {
        let mut report = clean();
        report.abandoned_batches = 1;
        assert_eq!(report.exit_code(), 1);
        report.abandoned_batches = 0;
        report.lost_batches = 1;
        assert_eq!(report.exit_code(), 0, "another member reads them");
    }
}
