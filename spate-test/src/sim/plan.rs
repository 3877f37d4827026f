//! What a seed draws before the run: the shape of the pipeline, the settings of the engine, the faults.

use std::time::Duration;

use fastrand::Rng;
use spate_runtime::config::{BackpressureConfig, SinkPoolConfig};
use spate_runtime::machines::Sizing;

use super::SINKS;
use super::faults::{Fault, Rates};

pub(super) const MAX_SINKS: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct SinkPlan {
    pub(super) shards: usize,
    pub(super) pool: SinkPoolConfig,
    /// How long a write takes when nothing is wrong, at most.
    pub(super) latency: Duration,
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) rates: Rates,
    pub(super) partitions: usize,
    pub(super) records: usize,
    /// The records come to an end, and the pipeline with them.
    pub(super) bounded: bool,
    /// The kernel drops records whose id it has seen.
    pub(super) dedup: bool,
    /// A rebalance takes every partition from every member.
    pub(super) eager: bool,
    /// The most processes at a time.
    pub(super) members: usize,
    pub(super) drivers: usize,
    pub(super) batch_records: usize,
    pub(super) sinks: Vec<SinkPlan>,
    pub(super) commit_interval: Duration,
    pub(super) drain_timeout: Duration,
    pub(super) max_pending: usize,
    pub(super) stalled_fail_after: Duration,
    /// The most encoded bytes in flight.
    pub(super) budget: usize,
    pub(super) backpressure: BackpressureConfig,
    /// How long the time of faults lasts.
    pub(super) chaos: Duration,
    /// How long the group waits for a member that gives nothing back, or is gone.
    pub(super) patience: Duration,
    /// How long after a process ended another one is started.
    pub(super) restart: Duration,
    /// Steps of a worker that nothing asked for, in 100.
    pub(super) spurious: u32,
}

fn millis(rng: &mut Rng, least: u64, most: u64) -> Duration {
    Duration::from_millis(rng.u64(least..=most))
}

fn one_of<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(0..of.len())]
}

impl SinkPlan {
    fn draw(rng: &mut Rng, instant: bool) -> Self {
        let mut pool = SinkPoolConfig::default();
        pool.batch.max_rows = one_of(rng, &[1, 2, 8, 64, 1000]);
        pool.batch.max_bytes = one_of(rng, &[64, 512, 1 << 20]);
        pool.batch.linger = Duration::from_millis(one_of(rng, &[0, 1, 20, 200, 5_000, 60_000]));
        pool.chunk.target_bytes = one_of(rng, &[1, 64, 256, 4096]);
        pool.chunk.linger = Duration::from_millis(one_of(rng, &[0, 1, 20, 200, 5_000]));
        pool.queue.capacity = one_of(rng, &[1, 1, 2, 8]);
        pool.retry.initial = millis(rng, 1, 50);
        pool.retry.max = millis(rng, 50, 1_000);
        pool.retry.multiplier = one_of(rng, &[1.0, 1.5, 3.0]);
        pool.retry.jitter = one_of(rng, &[0.0, 0.2, 1.0]);
        pool.retry.give_up_after = Duration::from_millis(one_of(rng, &[500, 5_000, 60_000]));
        SinkPlan {
            shards: rng.usize(1..=3),
            pool,
            latency: match instant {
                true => Duration::ZERO,
                false => Duration::from_millis(one_of(rng, &[0, 3, 30])),
            },
        }
    }
}

impl Plan {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let rates = Rates::draw(rng);
        let bounded = rng.u32(0..5) == 0;
        let grouped = [Fault::Join, Fault::Rebalance, Fault::Lose];
        // The end of a bounded source ends its process: its partitions do not move.
        let members = match grouped.iter().any(|fault| rates.has(*fault)) && !bounded {
            true => rng.usize(2..=3),
            false => 1,
        };
        let mut backpressure = BackpressureConfig::default();
        backpressure.high_ratio = one_of(rng, &[0.5, 0.8, 1.0]);
        backpressure.low_ratio = one_of(rng, &[0.1, 0.3, 0.45]);
        backpressure.min_pause = Duration::from_millis(one_of(rng, &[0, 10, 500]));
        let instant = rng.bool();
        let sinks: Vec<SinkPlan> = (0..rng.usize(1..=MAX_SINKS))
            .map(|_| SinkPlan::draw(rng, instant))
            .collect();
        let lingers = |sink: &SinkPlan| sink.pool.batch.linger.max(sink.pool.chunk.linger);
        // What waits long for company waits once, not once for every few batches.
        let waits = sinks
            .iter()
            .any(|sink| lingers(sink) >= Duration::from_secs(1));
        let max_pending = match waits {
            true => 1024,
            false => one_of(rng, &[1, 2, 8, 1024]),
        };
        let drivers = rng.usize(1..=3);
        let mut sizing = Sizing::new(drivers, &backpressure);
        for (sink, name) in sinks.iter().zip(SINKS) {
            sizing = sizing.with_sink(name, sink.shards, &sink.pool);
        }
        let budget = match rng.bool() {
            true => sizing.smallest(),
            false => sizing.default_limit(),
        };
        Plan {
            partitions: rng.usize(1..=6),
            records: one_of(rng, &[5, 50, 200, 600]),
            bounded,
            dedup: rng.u32(0..3) == 0,
            eager: rng.bool(),
            members,
            drivers,
            batch_records: one_of(rng, &[1, 3, 8, 32]),
            sinks,
            commit_interval: Duration::from_millis(one_of(rng, &[20, 100, 500, 5_000])),
            drain_timeout: Duration::from_millis(one_of(rng, &[100, 1_000, 5_000, 25_000])),
            max_pending,
            // Longer than every other wait, retries and lingering included.
            stalled_fail_after: Duration::from_secs(one_of(rng, &[130, 600])),
            budget,
            backpressure,
            chaos: millis(rng, 200, 15_000),
            patience: Duration::from_millis(one_of(rng, &[500, 5_000, 30_000])),
            restart: millis(rng, 1, 2_000),
            spurious: one_of(rng, &[0, 0, 5, 30]),
            rates,
        }
    }

    /// How long a revocation may take if no fault of this plan can be in its way.
    pub(super) fn prompt(&self) -> Option<Duration> {
        let harmless = [
            Fault::FetchNothing,
            Fault::FetchShort,
            Fault::FetchFails,
            Fault::CommitTwice,
            Fault::Rebalance,
            Fault::Lose,
            Fault::Kill,
            Fault::Shutdown,
            Fault::Join,
            Fault::Trouble,
        ];
        let calm = Fault::ALL
            .iter()
            .all(|fault| harmless.contains(fault) || !self.rates.has(*fault));
        let fast = self.sinks.iter().all(|sink| sink.latency.is_zero());
        (calm && fast).then_some(Duration::from_secs(2))
    }

    /// The budget, and what a thread may put on top of it: what it had open, and one batch of so many bytes.
    pub(super) fn most_in_flight(&self, batch: usize) -> usize {
        let open = self.sinks.iter();
        let open: usize = open
            .map(|sink| sink.shards * sink.pool.chunk.target_bytes)
            .sum();
        self.budget + self.drivers * (open + batch)
    }
}
