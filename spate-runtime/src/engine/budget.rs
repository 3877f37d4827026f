//! The budget: encoded bytes in flight, counted from the moment a chunk is sealed until its block is durable or given up.
//!
//! - [`Budget`] is the gauge of one run. A driver asks it before each batch; the controller pauses and resumes by it.
//! - [`Held`] is a part of it. It stands in the chunk and moves into the block with the rows, and gives its bytes back when
//!   it is dropped: whatever way rows end (stored, failed, given up, a panic), none can be forgotten.
//! - [`Sizing`] says how large a budget has to be, from what was declared. `docs/config.md` has the rule in plain words.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::{BackpressureConfig, SinkPoolConfig};

/// The gauge of the encoded bytes in flight, and the marks by which lanes pause and go on.
#[derive(Debug)]
pub struct Budget {
    in_flight: AtomicUsize,
    limit: usize,
    pause_at: usize,
    resume_at: usize,
}

impl Budget {
    /// A budget of `limit` bytes with the marks of `backpressure.high_ratio` and `low_ratio`.
    #[must_use]
    pub fn new(limit: usize, config: &BackpressureConfig) -> Self {
        Budget {
            in_flight: AtomicUsize::new(0),
            limit,
            pause_at: share(limit, config.high_ratio),
            resume_at: share(limit, config.low_ratio),
        }
    }

    /// Counts `bytes` until the answer is dropped.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        // A gauge: nothing else is ordered by it.
        self.in_flight.fetch_add(bytes, Ordering::Relaxed);
        Held {
            budget: Arc::clone(self),
            bytes,
        }
    }

    /// The bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Whether another batch may begin.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.in_flight() < self.limit
    }

    /// So much is in flight that lanes are to pause.
    #[must_use]
    pub fn is_high(&self) -> bool {
        self.in_flight() >= self.pause_at
    }

    /// So little is in flight that paused lanes may go on.
    #[must_use]
    pub fn is_low(&self) -> bool {
        self.in_flight() <= self.resume_at
    }
}

/// Bytes that are counted as in flight until this is dropped.
#[derive(Debug)]
pub struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget
            .in_flight
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What one sink was declared to have in flight.
#[derive(Debug, Clone, Copy)]
struct Declared<'a> {
    name: &'a str,
    shards: usize,
    /// `batch.max_bytes`.
    block: usize,
    /// `chunk.target_bytes`.
    chunk: usize,
    /// `queue.capacity`.
    queue: usize,
}

/// How large the budget of a pipeline has to be.
///
/// Lanes that were paused go on when at most `low_ratio` of the budget is in flight. If that cannot hold a block that is
/// not yet full for every shard, they would wait for rows to get old (`batch.linger`), not for a sink: the pipeline would
/// stand still without a reason, or crawl in small blocks. With it, whenever lanes are paused some shard has a full block
/// to write.
#[derive(Debug, Clone)]
pub struct Sizing<'a> {
    threads: usize,
    low_ratio: f64,
    high_ratio: f64,
    sinks: Vec<Declared<'a>>,
}

impl<'a> Sizing<'a> {
    /// The sizing for so many driver threads, without a sink.
    #[must_use]
    pub fn new(threads: usize, config: &BackpressureConfig) -> Self {
        Sizing {
            threads,
            low_ratio: config.low_ratio,
            high_ratio: config.high_ratio,
            sinks: Vec::new(),
        }
    }

    /// Adds a sink.
    #[must_use]
    pub fn with_sink(mut self, name: &'a str, shards: usize, pool: &SinkPoolConfig) -> Self {
        self.sinks.push(Declared {
            name,
            shards,
            block: pool.batch.max_bytes,
            chunk: pool.chunk.target_bytes,
            queue: pool.queue.capacity,
        });
        self
    }

    /// One block and one chunk of every thread for each shard: what must be in flight without any lane being paused.
    fn needed(&self) -> usize {
        self.total(|sink| {
            sink.block
                .saturating_add(self.threads.saturating_mul(sink.chunk))
        })
    }

    /// Everything that fits: for each shard two blocks and the queue, and two chunks of every thread.
    fn declared(&self) -> usize {
        self.total(|sink| {
            let chunks = sink.queue.saturating_add(self.threads.saturating_mul(2));
            let blocks = sink.block.saturating_mul(2);
            blocks.saturating_add(chunks.saturating_mul(sink.chunk))
        })
    }

    fn total(&self, of_shard: impl Fn(&Declared<'_>) -> usize) -> usize {
        let sinks = self.sinks.iter();
        sinks.fold(0, |sum: usize, sink| {
            sum.saturating_add(sink.shards.saturating_mul(of_shard(sink)))
        })
    }

    /// Whether a pipeline can work with this budget.
    #[must_use]
    pub fn works(&self, limit: usize) -> bool {
        share(limit, self.low_ratio) >= self.needed()
    }

    /// The smallest budget that works.
    #[must_use]
    pub fn smallest(&self) -> usize {
        let mut limit = whole(self.needed() as f64 / self.low_ratio);
        // The product is rounded down: the quotient may be a few bytes too small, or too large.
        while limit > 0 && self.works(limit - 1) {
            limit -= 1;
        }
        while !self.works(limit) && limit < usize::MAX {
            limit += 1;
        }
        limit
    }

    /// The budget where none is set: lanes pause at `high_ratio` of it only when everything that was declared is full.
    #[must_use]
    pub fn default_limit(&self) -> usize {
        whole((self.declared() as f64 / self.high_ratio).ceil()).max(self.smallest())
    }

    /// Why a budget that does not work does not, with what it would have to be.
    #[must_use]
    pub fn refusal(&self, limit: usize) -> String {
        let sinks: Vec<String> = self
            .sinks
            .iter()
            .map(|sink| {
                format!(
                    "sink `{}`: {} x (batch.max_bytes {} + {} x chunk.target_bytes {})",
                    sink.name,
                    Count(sink.shards, "shard"),
                    Size(sink.block),
                    Count(self.threads, "thread"),
                    Size(sink.chunk)
                )
            })
            .collect();
        format!(
            "{} is too small: paused lanes go on at `backpressure.low_ratio` {} of it, {}, and that must hold one block and \
             one chunk of every thread for each shard, {} ({}); set at least {}, or make `batch.max_bytes` smaller, or remove \
             the setting for a default that fits",
            Size(limit),
            self.low_ratio,
            Size(share(limit, self.low_ratio)),
            Size(self.needed()),
            sinks.join("; "),
            Size(self.smallest())
        )
    }
}

/// So many bytes, in a unit that shows them exactly.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(usize, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        let bytes = self.0;
        match UNITS
            .iter()
            .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
        {
            Some((unit, name)) => write!(f, "{}{name}", bytes / unit),
            None => write!(f, "{bytes}"),
        }
    }
}

/// So many things: `1 shard`, `2 shards`.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// The share of a limit, rounded down.
fn share(limit: usize, ratio: f64) -> usize {
    if ratio >= 1.0 {
        return limit;
    }
    whole(limit as f64 * ratio)
}

/// The integer part; the nearest `usize` where there is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratios(low: f64, high: f64) -> BackpressureConfig {
        let mut config = BackpressureConfig::default();
        (config.low_ratio, config.high_ratio) = (low, high);
        config
    }

    fn pool(block: usize, chunk: usize, queue: usize) -> SinkPoolConfig {
        let mut pool = SinkPoolConfig::default();
        pool.batch.max_bytes = block;
        pool.chunk.target_bytes = chunk;
        pool.queue.capacity = queue;
        pool
    }

    #[test]
    fn what_is_held_is_counted_until_it_is_dropped() {
        let budget = Arc::new(Budget::new(100, &ratios(0.5, 0.8)));
        let first = budget.hold(50);
        assert_eq!((budget.in_flight(), budget.is_low()), (50, true));
        let second = budget.hold(30);
        assert!(budget.is_high() && !budget.is_low() && budget.has_room());
        let third = budget.hold(20);
        assert!(!budget.has_room());
        drop((first, third));
        assert_eq!(budget.in_flight(), 30);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = second;
            panic!("in a writer");
        }));
        assert!(unwound.is_err());
        assert_eq!(budget.in_flight(), 0);
    }

    #[test]
    fn the_budget_follows_from_what_was_declared() {
        let config = BackpressureConfig::default();
        let sizing = Sizing::new(3, &config)
            .with_sink("a", 2, &pool(1 << 20, 1 << 10, 8))
            .with_sink("b", 1, &pool(1 << 16, 1 << 12, 4));
        let needed = 2 * ((1 << 20) + 3 * (1 << 10)) + (1 << 16) + 3 * (1 << 12);
        assert_eq!(sizing.smallest(), 2 * needed);
        let declared = 2 * ((2 << 20) + (8 + 6) * (1 << 10)) + (2 << 16) + (4 + 6) * (1 << 12);
        assert_eq!(sizing.default_limit(), declared * 10 / 8);
    }

    #[test]
    fn a_refusal_has_all_numbers_and_the_smallest_budget_that_works() {
        let config = BackpressureConfig::default();
        let pool = SinkPoolConfig::default();
        let sizing = Sizing::new(3, &config).with_sink("clickhouse", 2, &pool);
        let text = sizing.refusal(64 << 20);
        for part in [
            "64MiB is too small",
            "`backpressure.low_ratio` 0.5 of it, 32MiB",
            "131456KiB",
            "sink `clickhouse`: 2 shards x (batch.max_bytes 64MiB + 3 threads x chunk.target_bytes 64KiB)",
            "set at least 262912KiB",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    proptest! {
        #[test]
        fn the_smallest_budget_works_and_a_byte_less_does_not(
            threads in 1usize..64, shards in 1usize..20, block in 1024usize..1 << 31, chunk in 1024usize..1 << 20,
            low in 0.01f64..0.99,
        ) {
            let config = ratios(low, 1.0);
            let sizing = Sizing::new(threads, &config).with_sink("s", shards, &pool(block, chunk, 8));
            let smallest = sizing.smallest();
            prop_assert!(sizing.works(smallest));
            prop_assert!(!sizing.works(smallest - 1));
            prop_assert!(sizing.works(sizing.default_limit()));
            // At the mark at which lanes go on, one block that is not full of every shard is no reason to pause.
            let budget = Arc::new(Budget::new(smallest, &config));
            let _held = budget.hold(shards * block);
            prop_assert!(budget.is_low() && budget.has_room());
        }
    }
}
