//! What the simulator in `spate-test` needs to step the real machines: the parts that the runtime puts together.
//!
//! No API: only there with the feature `machines`, and it changes with the engine.

use std::sync::Arc;
use std::time::Duration;

use crate::config::ChunkConfig;
use crate::exit::ExitReport;
use crate::failure::FailureSlot;
use crate::graph::Graph;
use crate::output::{Output, SinkOutput};
use crate::sink::ShardQueue;
use crate::stats::{SinkStats, Stats};

pub use crate::engine::{
    Budget, Controller, ControllerConfig, ControllerStep, Deadline, Driver, DriverHandle,
    DriverShared, DriverStatus, DriverStep, Mailbox, Sizing,
};
pub use crate::sink::{SinkWorker, WorkerShared, WorkerStep};

/// How long a revocation may take to settle and commit.
pub const REVOKE_TIMEOUT: Duration = crate::limits::REVOKE_TIMEOUT;

/// What one driver produces; each sink has its chunk settings and the queues of its shards.
#[must_use]
pub fn output(
    graph: &'static Graph,
    stats: &Arc<Stats>,
    sinks: Vec<(ChunkConfig, Vec<Arc<ShardQueue>>)>,
    budget: &Arc<Budget>,
) -> Output {
    let sinks = sinks.into_iter();
    let sinks = sinks.map(|(config, queues)| SinkOutput::new(config, queues));
    Output::new(
        graph,
        Arc::clone(stats),
        sinks.collect(),
        Arc::clone(budget),
    )
}

/// The counters of one sink.
#[must_use]
pub fn sink_stats(stats: &Stats, slot: usize) -> Arc<SinkStats> {
    Arc::clone(&stats.sinks[slot])
}

/// A driver's thread ends: what the shell does once the driver is dropped.
pub fn driver_ended(mailbox: &Mailbox, status: &DriverStatus) {
    mailbox.end(status);
}

/// How a run ended, as `Runtime::run` tells it.
#[must_use]
pub fn report(
    graph: &'static Graph,
    sinks: Vec<&'static str>,
    stats: &Stats,
    failure: &FailureSlot,
    controller: &Controller,
) -> ExitReport {
    ExitReport {
        pipeline: graph.name.to_owned(),
        graph,
        sinks,
        failure: failure.get(),
        further_failures: 0,
        totals: stats.totals(),
        committed: controller.committed(),
        lag: controller.lag().to_vec(),
        abandoned_batches: controller.abandoned_batches(),
        lost_batches: controller.lost_batches(),
        drain: None,
    }
}
