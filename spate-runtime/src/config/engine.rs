//! The engine's own settings: what each is, its unit, its default, and the relations that must hold between them.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::Deserialize;

use super::error::ConfigError;
use super::file::Config;
use super::section::Section;
use super::sink_pool::SinkPoolConfig;
use super::units::{ByteSize, duration};

/// The settings of the whole engine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct EngineConfig {
    /// The section `pipeline`.
    pub pipeline: PipelineConfig,
    /// The section `checkpoint`.
    pub checkpoint: CheckpointConfig,
    /// The section `backpressure`.
    pub backpressure: BackpressureConfig,
}

/// The section `pipeline`: threads and start-up.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PipelineConfig {
    /// The name in logs and metrics. Default: the name of the `pipeline!` item.
    pub name: Option<String>,
    /// The number of driver threads, 1 to 1024. Default: one less than the cores that the process may use, at least 1.
    pub threads: Option<usize>,
    /// Whether each driver thread is pinned to a core of its own, if the threads fit the allowed cores. Default: true.
    pub pin: bool,
    /// The index, among the allowed cores, of the first one to pin to. Default: 0.
    pub first_core: usize,
    /// The most records in one batch, 1 to 65536. Default: 512.
    pub batch_records: usize,
    /// How long servers are waited for at start before it is an error. Default: 30s.
    #[serde(with = "duration")]
    pub startup_timeout: Duration,
}

impl Default for PipelineConfig {
    fn default() -> Self {
        PipelineConfig {
            name: None,
            threads: None,
            pin: true,
            first_core: 0,
            batch_records: 512,
            startup_timeout: Duration::from_secs(30),
        }
    }
}

impl PipelineConfig {
    /// The number of driver threads: as set, else one less than the cores that the process may use, at least 1.
    #[must_use]
    pub fn driver_threads(&self) -> usize {
        self.threads.unwrap_or_else(|| {
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            cores.saturating_sub(1).max(1)
        })
    }
}

/// The section `checkpoint`: how often offsets are committed, and the end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CheckpointConfig {
    /// The time between two commits, at least 100ms. Default: 5s.
    #[serde(with = "duration")]
    pub interval: Duration,
    /// How long the drain may take, from the signal to the last commit. Default: 25s, below the 30s that a container is
    /// given as a rule.
    #[serde(with = "duration")]
    pub drain_timeout: Duration,
    /// The most batches of one partition that are fetched and not settled yet, 1 to 1048576. Default: 1024.
    pub max_pending_batches: usize,
    /// What stands still for so long stops the pipeline: a batch that is neither durable nor given up, a commit without an
    /// answer, a thread that does not come back from user code. At least the largest `retry.give_up_after` of the sinks.
    /// Default: 10m.
    #[serde(with = "duration")]
    pub stalled_fail_after: Duration,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        CheckpointConfig {
            interval: Duration::from_secs(5),
            drain_timeout: Duration::from_secs(25),
            max_pending_batches: 1024,
            stalled_fail_after: Duration::from_secs(600),
        }
    }
}

/// The section `backpressure`: when lanes are paused because sinks are slower than the source. Ratios are of the budget
/// and of the fullest queue, whichever is fuller.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct BackpressureConfig {
    /// The most encoded bytes in flight, of all sinks together. Default: follows from threads, shards, blocks, chunks and
    /// queues, see [`Sizing`](crate::engine::Sizing). A smaller one than can work is refused when the sinks are open.
    pub max_in_flight_bytes: Option<ByteSize>,
    /// Lanes pause at this fill, above `low_ratio` and at most 1. Default: 0.8.
    pub high_ratio: f64,
    /// Lanes go on when both are at most so full; above 0. Default: 0.5.
    pub low_ratio: f64,
    /// The shortest pause. Default: 500ms.
    #[serde(with = "duration")]
    pub min_pause: Duration,
}

impl Default for BackpressureConfig {
    fn default() -> Self {
        BackpressureConfig {
            max_in_flight_bytes: None,
            high_ratio: 0.8,
            low_ratio: 0.5,
            min_pause: Duration::from_millis(500),
        }
    }
}

impl EngineConfig {
    /// Reads and checks the engine's sections.
    ///
    /// # Errors
    /// A setting that is unknown, of the wrong kind, out of its range or at odds with another, with its dotted path.
    pub fn from(config: &Config) -> Result<Self, ConfigError> {
        let pipeline = config.section("pipeline");
        let checkpoint = config.section("checkpoint");
        let backpressure = config.section("backpressure");
        let engine = EngineConfig {
            pipeline: pipeline.parse()?,
            checkpoint: checkpoint.parse()?,
            backpressure: backpressure.parse()?,
        };

        let p = &engine.pipeline;
        if let Some(name) = &p.name {
            check(
                &pipeline,
                "name",
                !name.trim().is_empty(),
                "must not be empty; remove it for the default",
            )?;
        }
        if let Some(threads) = p.threads {
            range(&pipeline, "threads", threads, 1, MAX_THREADS)?;
        }
        range(&pipeline, "first_core", p.first_core, 0, 65_535)?;
        range(&pipeline, "batch_records", p.batch_records, 1, 65_536)?;
        at_least(
            &pipeline,
            "startup_timeout",
            p.startup_timeout,
            Duration::from_millis(1),
            "1ms",
        )?;

        let c = &engine.checkpoint;
        at_least(
            &checkpoint,
            "interval",
            c.interval,
            Duration::from_millis(100),
            "100ms",
        )?;
        at_least(
            &checkpoint,
            "drain_timeout",
            c.drain_timeout,
            Duration::from_millis(100),
            "100ms",
        )?;
        range(
            &checkpoint,
            "max_pending_batches",
            c.max_pending_batches,
            1,
            1 << 20,
        )?;
        at_least(
            &checkpoint,
            "stalled_fail_after",
            c.stalled_fail_after,
            Duration::from_millis(1),
            "1ms",
        )?;

        let b = &engine.backpressure;
        ratio(&backpressure, "high_ratio", b.high_ratio)?;
        ratio(&backpressure, "low_ratio", b.low_ratio)?;
        check(
            &backpressure,
            "low_ratio",
            b.low_ratio > 0.0,
            "must be above 0: lanes would go on only when nothing is in flight",
        )?;
        let apart = b.low_ratio < b.high_ratio;
        check(
            &backpressure,
            "low_ratio",
            apart,
            "must be below `backpressure.high_ratio`",
        )?;
        Ok(engine)
    }
}

impl CheckpointConfig {
    /// A sink must have had the time to give up before its batches count as stalled, or the failure would not name why.
    ///
    /// # Errors
    /// A sink gives up later, with both dotted paths.
    pub(crate) fn check_sink(
        &self,
        config: &Config,
        sink: &str,
        pool: &SinkPoolConfig,
    ) -> Result<(), ConfigError> {
        check(
            &config.section("checkpoint"),
            "stalled_fail_after",
            self.stalled_fail_after >= pool.retry.give_up_after,
            &format!(
                "must be at least `{sink}.retry.give_up_after`; raise it, or let the sink give up earlier"
            ),
        )
    }
}

/// More driver threads than this are a mistake.
const MAX_THREADS: usize = 1024;

pub(super) fn check(
    section: &Section,
    key: &str,
    holds: bool,
    message: &str,
) -> Result<(), ConfigError> {
    if holds {
        Ok(())
    } else {
        Err(section.error(key, message))
    }
}

pub(super) fn range(
    section: &Section,
    key: &str,
    value: usize,
    min: usize,
    max: usize,
) -> Result<(), ConfigError> {
    check(
        section,
        key,
        (min..=max).contains(&value),
        &format!("must be from {min} to {max}"),
    )
}

pub(super) fn ratio(section: &Section, key: &str, value: f64) -> Result<(), ConfigError> {
    check(
        section,
        key,
        (0.0..=1.0).contains(&value),
        "must be from 0 to 1",
    )
}

pub(super) fn at_least(
    section: &Section,
    key: &str,
    value: Duration,
    min: Duration,
    text: &str,
) -> Result<(), ConfigError> {
    check(
        section,
        key,
        value >= min,
        &format!("must be at least {text}"),
    )
}
