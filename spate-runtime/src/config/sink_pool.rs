//! The engine's settings of one sink: blocks, chunks, the queue and the retries of a shard.

use std::time::Duration;

use serde::Deserialize;

use super::engine::{at_least, check, range, ratio};
use super::error::ConfigError;
use super::section::Section;
use super::units::{byte_size, duration};

/// The settings of the engine's part of one sink: they stand in the sink's section beside the connector's own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SinkPoolConfig {
    /// What makes a block full.
    pub batch: SealConfig,
    /// What makes a driver thread's chunk full.
    pub chunk: ChunkConfig,
    /// The queue of one shard.
    pub queue: QueueConfig,
    /// The attempts to write one block.
    pub retry: RetryConfig,
    /// When a replica is left alone.
    pub breaker: BreakerConfig,
}

/// `batch` of a sink: a block is written when any of these is reached.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SealConfig {
    /// The most rows in a block, at least 1. A block may exceed it by less than one chunk. Default: 500000.
    pub max_rows: usize,
    /// The most bytes in a block, at least `chunk.target_bytes`. Default: 64MiB.
    #[serde(with = "byte_size")]
    pub max_bytes: usize,
    /// The longest time that a row waits for its block to fill. Default: 1s.
    #[serde(with = "duration")]
    pub linger: Duration,
}

impl Default for SealConfig {
    fn default() -> Self {
        SealConfig {
            max_rows: 500_000,
            max_bytes: 64 << 20,
            linger: Duration::from_secs(1),
        }
    }
}

/// `chunk` of a sink: a driver thread hands its rows on when any of these is reached.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ChunkConfig {
    /// The encoded bytes of a full chunk, 1KiB to 1GiB. Default: 64KiB.
    #[serde(with = "byte_size")]
    pub target_bytes: usize,
    /// The longest time that a row waits for its chunk to fill. Default: 100ms.
    #[serde(with = "duration")]
    pub linger: Duration,
}

impl Default for ChunkConfig {
    fn default() -> Self {
        ChunkConfig {
            target_bytes: 64 << 10,
            linger: Duration::from_millis(100),
        }
    }
}

/// `queue` of a sink.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct QueueConfig {
    /// The chunks that wait for the worker of one shard, 1 to 65536. Default: 8.
    pub capacity: usize,
}

impl Default for QueueConfig {
    fn default() -> Self {
        QueueConfig { capacity: 8 }
    }
}

/// `retry` of a sink: the attempts to write one block, and the waits between them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RetryConfig {
    /// The wait after the first attempt, at least 1ms. Default: 100ms.
    #[serde(with = "duration")]
    pub initial: Duration,
    /// The longest wait, at least `initial`. Default: 10s.
    #[serde(with = "duration")]
    pub max: Duration,
    /// How much longer each wait is than the one before, 1 to 100. Default: 2.
    pub multiplier: f64,
    /// The share of a wait, 0 to 1, by which it may be shortened at random. Default: 0.2.
    pub jitter: f64,
    /// The longest time that one attempt may take, 1ms to `give_up_after`; what a sink's own timeouts allow for an attempt
    /// must fit into it. Default: 1m, or `give_up_after` where that is shorter.
    #[serde(with = "duration::option")]
    pub attempt_timeout: Option<Duration>,
    /// No attempt at a block begins later than this after it was sealed: a block that could not be written by then ends the
    /// pipeline. At least `initial`. Default: 2m.
    #[serde(with = "duration")]
    pub give_up_after: Duration,
}

impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig {
            initial: Duration::from_millis(100),
            max: Duration::from_secs(10),
            multiplier: 2.0,
            jitter: 0.2,
            attempt_timeout: None,
            give_up_after: Duration::from_secs(120),
        }
    }
}

impl RetryConfig {
    /// The longest time that one attempt may take.
    #[must_use]
    pub fn attempt_timeout(&self) -> Duration {
        self.attempt_timeout
            .unwrap_or(Duration::from_secs(60).min(self.give_up_after))
    }
}

/// `breaker` of a sink: when a replica that fails is left alone. A shard with a single replica has nowhere else to go and no
/// breaker; there the waits of `retry` are all.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct BreakerConfig {
    /// So many failed attempts in a row open a replica's breaker, 1 to 1000. Default: 3.
    pub failures: u32,
    /// How long an open breaker keeps attempts away before it lets one through, 1ms to 1h. Default: 5s.
    #[serde(with = "duration")]
    pub open_for: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        BreakerConfig {
            failures: 3,
            open_for: Duration::from_secs(5),
        }
    }
}

impl SinkPoolConfig {
    /// Takes the engine's settings out of a sink's section; what stays is the connector's.
    ///
    /// # Errors
    /// A setting that is unknown, of the wrong kind, out of its range or at odds with another, with its dotted path.
    pub fn take_from(section: &mut Section) -> Result<Self, ConfigError> {
        let batch = section.take("batch");
        let chunk = section.take("chunk");
        let queue = section.take("queue");
        let retry = section.take("retry");
        let breaker = section.take("breaker");
        let pool = SinkPoolConfig {
            batch: batch.parse()?,
            chunk: chunk.parse()?,
            queue: queue.parse()?,
            retry: retry.parse()?,
            breaker: breaker.parse()?,
        };

        let c = &pool.chunk;
        range(&chunk, "target_bytes", c.target_bytes, 1 << 10, 1 << 30)?;
        let b = &pool.batch;
        check(&batch, "max_rows", b.max_rows >= 1, "must be at least 1")?;
        let holds_a_chunk = b.max_bytes >= c.target_bytes;
        check(
            &batch,
            "max_bytes",
            holds_a_chunk,
            "must be at least the sink's `chunk.target_bytes`",
        )?;
        range(&queue, "capacity", pool.queue.capacity, 1, 65_536)?;

        let r = &pool.retry;
        at_least(
            &retry,
            "initial",
            r.initial,
            Duration::from_millis(1),
            "1ms",
        )?;
        check(
            &retry,
            "max",
            r.max >= r.initial,
            "must be at least the sink's `retry.initial`",
        )?;
        check(
            &retry,
            "multiplier",
            (1.0..=100.0).contains(&r.multiplier),
            "must be from 1 to 100",
        )?;
        ratio(&retry, "jitter", r.jitter)?;
        check(
            &retry,
            "give_up_after",
            r.give_up_after >= r.initial,
            "must be at least the sink's `retry.initial`",
        )?;
        check(
            &retry,
            "attempt_timeout",
            (Duration::from_millis(1)..=r.give_up_after).contains(&r.attempt_timeout()),
            "must be from 1ms to the sink's `retry.give_up_after`",
        )?;

        let b = &pool.breaker;
        range(&breaker, "failures", b.failures as usize, 1, 1000)?;
        check(
            &breaker,
            "open_for",
            (Duration::from_millis(1)..=Duration::from_secs(3600)).contains(&b.open_for),
            "must be from 1ms to 1h",
        )?;
        Ok(pool)
    }
}
