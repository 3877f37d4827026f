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

/// `retry` of a sink: the waits between the attempts to write one block.
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
    /// A block that could not be written for so long ends the pipeline; at least `initial`. Default: 2m.
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
            give_up_after: Duration::from_secs(120),
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
        let pool = SinkPoolConfig {
            batch: batch.parse()?,
            chunk: chunk.parse()?,
            queue: queue.parse()?,
            retry: retry.parse()?,
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
        Ok(pool)
    }
}
