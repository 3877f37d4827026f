//! The engine's settings of a sink: defaults, ranges, and relations between them.

use std::time::Duration;

use super::config;
use crate::config::SinkPoolConfig;

fn pool(sink: &str) -> Result<SinkPoolConfig, String> {
    let mut section = config(&format!("sink:\n  {sink}\n"))
        .sink_section("s", true)
        .map_err(|e| e.to_string())?;
    SinkPoolConfig::take_from(&mut section).map_err(|error| error.to_string())
}

#[test]
fn the_defaults_are_the_documented_ones_and_hold_together() {
    let pool = pool("{}").unwrap();
    assert_eq!(
        (pool.batch.max_rows, pool.batch.max_bytes),
        (500_000, 64 << 20)
    );
    assert_eq!(
        (pool.batch.linger, pool.chunk.linger),
        (Duration::from_secs(1), Duration::from_millis(100))
    );
    assert_eq!(
        (pool.chunk.target_bytes, pool.queue.capacity),
        (64 << 10, 8)
    );
    assert_eq!(
        (pool.retry.initial, pool.retry.max),
        (Duration::from_millis(100), Duration::from_secs(10))
    );
    assert_eq!((pool.retry.multiplier, pool.retry.jitter), (2.0, 0.2));
    assert_eq!(pool.retry.attempt_timeout(), Duration::from_secs(60));
    assert_eq!(pool.retry.give_up_after, Duration::from_secs(120));
    assert_eq!(
        (pool.breaker.failures, pool.breaker.open_for),
        (3, Duration::from_secs(5))
    );
}

#[test]
fn every_setting_is_read() {
    let text = "
sink:
  url: u
  batch: {max_rows: 1, max_bytes: 1MiB, linger: 0ms}
  chunk: {target_bytes: 1KiB, linger: 5ms}
  queue: {capacity: 64}
  retry: {initial: 1ms, max: 1ms, multiplier: 1, jitter: 0, attempt_timeout: 1ms, give_up_after: 1ms}
  breaker: {failures: 1, open_for: 1h}
";
    let config = config(text);
    let mut sink = config.sink_section("s", true).unwrap();
    let pool = SinkPoolConfig::take_from(&mut sink).unwrap();
    assert_eq!(
        (pool.batch.max_rows, pool.batch.max_bytes, pool.batch.linger),
        (1, 1 << 20, Duration::ZERO)
    );
    assert_eq!((pool.chunk.target_bytes, pool.queue.capacity), (1024, 64));
    assert_eq!((pool.retry.multiplier, pool.retry.jitter), (1.0, 0.0));
    assert_eq!(pool.retry.attempt_timeout(), Duration::from_millis(1));
    assert_eq!(
        (pool.breaker.failures, pool.breaker.open_for),
        (1, Duration::from_secs(3600))
    );
    let left: std::collections::BTreeMap<String, String> = sink.parse().unwrap();
    assert_eq!(
        left.into_keys().collect::<Vec<_>>(),
        ["url"],
        "the connector's own settings stay"
    );
}

#[test]
fn a_setting_out_of_its_range_is_refused_by_its_path() {
    for (sink, error) in [
        (
            "batch: {max_rows: 0}",
            "2:11: sink.batch.max_rows: must be at least 1",
        ),
        (
            "batch: {max_bytes: 63KiB}",
            "2:11: sink.batch.max_bytes: must be at least the sink's `chunk.target_bytes`",
        ),
        (
            "chunk: {target_bytes: 65MiB}",
            "1:1: sink.batch.max_bytes: must be at least the sink's `chunk.target_bytes`",
        ),
        (
            "chunk: {target_bytes: 1}",
            "2:11: sink.chunk.target_bytes: must be from 1024 to 1073741824",
        ),
        (
            "queue: {capacity: 0}",
            "2:11: sink.queue.capacity: must be from 1 to 65536",
        ),
        (
            "retry: {initial: 0s}",
            "2:11: sink.retry.initial: must be at least 1ms",
        ),
        (
            "retry: {max: 50ms}",
            "2:11: sink.retry.max: must be at least the sink's `retry.initial`",
        ),
        (
            "retry: {multiplier: 0.5}",
            "2:11: sink.retry.multiplier: must be from 1 to 100",
        ),
        (
            "retry: {multiplier: .inf}",
            "2:23: sink.retry.multiplier: expected a number, found text",
        ),
        (
            "retry: {jitter: 1.5}",
            "2:11: sink.retry.jitter: must be from 0 to 1",
        ),
        (
            "retry: {give_up_after: 10ms}",
            "2:11: sink.retry.give_up_after: must be at least the sink's `retry.initial`",
        ),
        (
            "retry: {attempt_timeout: 0s}",
            "2:11: sink.retry.attempt_timeout: must be from 1ms to the sink's `retry.give_up_after`",
        ),
        (
            "retry: {attempt_timeout: 3m}",
            "2:11: sink.retry.attempt_timeout: must be from 1ms to the sink's `retry.give_up_after`",
        ),
        (
            "breaker: {failures: 0}",
            "2:13: sink.breaker.failures: must be from 1 to 1000",
        ),
        (
            "breaker: {failures: 1001}",
            "2:13: sink.breaker.failures: must be from 1 to 1000",
        ),
        (
            "breaker: {open_for: 0s}",
            "2:13: sink.breaker.open_for: must be from 1ms to 1h",
        ),
        (
            "breaker: {open_for: 2h}",
            "2:13: sink.breaker.open_for: must be from 1ms to 1h",
        ),
        (
            "breaker: {open_fro: 5s}",
            "2:13: sink.breaker.open_fro: unknown key; did you mean `open_for`? known keys: failures, ",
        ),
        (
            "retry: {intial: 10ms}",
            "2:11: sink.retry.intial: unknown key; did you mean `initial`? known keys: initial, ",
        ),
        (
            "batch: {max_row: 5}",
            "2:11: sink.batch.max_row: unknown key; did you mean `max_rows`? known keys: max_rows, ",
        ),
    ] {
        let found = pool(sink).unwrap_err();
        assert!(found.starts_with(&format!("spate.yaml:{error}")), "{found}");
    }
}

#[test]
fn an_attempt_is_bounded_by_the_time_for_all_of_them_unless_it_is_set() {
    let pool = pool("retry: {give_up_after: 2s}").unwrap();
    assert_eq!(pool.retry.attempt_timeout(), Duration::from_secs(2));
}
