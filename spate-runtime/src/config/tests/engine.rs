//! The engine's settings: defaults, ranges, and relations between them.

use std::time::Duration;

use super::{config, with_env};
use crate::config::{Config, EngineConfig, SinkPoolConfig};

fn pool(sink: &str) -> Result<SinkPoolConfig, String> {
    let mut section = config(&format!("sink:\n  {sink}\n"))
        .sink_section("s", true)
        .map_err(|e| e.to_string())?;
    SinkPoolConfig::take_from(&mut section).map_err(|error| error.to_string())
}

fn engine(text: &str) -> Result<EngineConfig, String> {
    EngineConfig::from(&config(text)).map_err(|error| error.to_string())
}

#[test]
fn the_defaults_are_the_documented_ones_and_hold_together() {
    let engine = EngineConfig::from(&Config::default()).unwrap();
    let p = &engine.pipeline;
    assert_eq!(
        (&p.name, p.threads, p.pin, p.first_core, p.batch_records),
        (&None, None, true, 0, 512)
    );
    assert_eq!(p.startup_timeout, Duration::from_secs(30));
    assert!(p.driver_threads() >= 1);
    let c = &engine.checkpoint;
    assert_eq!(
        (c.interval, c.drain_timeout),
        (Duration::from_secs(5), Duration::from_secs(25))
    );
    assert_eq!(c.max_pending_batches, 1024);
    let b = &engine.backpressure;
    assert_eq!(
        (b.high_ratio, b.low_ratio, b.min_pause),
        (0.8, 0.5, Duration::from_millis(500))
    );

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
    assert_eq!(pool.retry.give_up_after, Duration::from_secs(120));
}

#[test]
fn every_setting_is_read() {
    let text = "
pipeline: {name: orders, threads: \"${THREADS}\", pin: false, first_core: 2, batch_records: 65536, startup_timeout: 1m}
checkpoint: {interval: 100ms, drain_timeout: 10s, max_pending_batches: 16}
backpressure: {high_ratio: 1, low_ratio: 0, min_pause: 0s}
sink:
  url: u
  batch: {max_rows: 1, max_bytes: 1MiB, linger: 0ms}
  chunk: {target_bytes: 1KiB, linger: 5ms}
  queue: {capacity: 64}
  retry: {initial: 1ms, max: 1ms, multiplier: 1, jitter: 0, give_up_after: 1ms}
";
    let config = with_env(text, &[("THREADS", "7")]).unwrap();
    let engine = EngineConfig::from(&config).unwrap();
    assert_eq!(engine.pipeline.name.as_deref(), Some("orders"));
    assert_eq!(
        (
            engine.pipeline.driver_threads(),
            engine.pipeline.pin,
            engine.pipeline.first_core
        ),
        (7, false, 2)
    );
    assert_eq!(engine.pipeline.batch_records, 65_536);
    assert_eq!(engine.pipeline.startup_timeout, Duration::from_secs(60));
    assert_eq!(engine.checkpoint.interval, Duration::from_millis(100));
    assert_eq!(
        (
            engine.checkpoint.drain_timeout,
            engine.checkpoint.max_pending_batches
        ),
        (Duration::from_secs(10), 16)
    );
    assert_eq!(
        (
            engine.backpressure.high_ratio,
            engine.backpressure.low_ratio
        ),
        (1.0, 0.0)
    );
    let mut sink = config.sink_section("s", true).unwrap();
    let pool = SinkPoolConfig::take_from(&mut sink).unwrap();
    assert_eq!(
        (pool.batch.max_rows, pool.batch.max_bytes, pool.batch.linger),
        (1, 1 << 20, Duration::ZERO)
    );
    assert_eq!((pool.chunk.target_bytes, pool.queue.capacity), (1024, 64));
    assert_eq!((pool.retry.multiplier, pool.retry.jitter), (1.0, 0.0));
    let left: std::collections::BTreeMap<String, String> = sink.parse().unwrap();
    assert_eq!(
        left.into_keys().collect::<Vec<_>>(),
        ["url"],
        "the connector's own settings stay"
    );
}

#[test]
fn a_setting_out_of_its_range_is_refused_by_its_path() {
    for (text, error) in [
        (
            "pipeline: {threads: 0}",
            "1:12: pipeline.threads: must be from 1 to 1024",
        ),
        (
            "pipeline: {threads: two}",
            "1:21: pipeline.threads: expected a whole number, found text",
        ),
        (
            "pipeline: {name: ' '}",
            "1:12: pipeline.name: must not be empty; remove it for the default",
        ),
        (
            "pipeline: {first_core: 70000}",
            "1:12: pipeline.first_core: must be from 0 to 65535",
        ),
        (
            "pipeline: {batch_records: 0}",
            "1:12: pipeline.batch_records: must be from 1 to 65536",
        ),
        (
            "pipeline: {batch_records: 65537}",
            "1:12: pipeline.batch_records: must be from 1 to 65536",
        ),
        (
            "pipeline: {startup_timeout: 0s}",
            "1:12: pipeline.startup_timeout: must be at least 1ms",
        ),
        (
            "checkpoint: {interval: 99ms}",
            "1:14: checkpoint.interval: must be at least 100ms",
        ),
        (
            "checkpoint: {drain_timeout: 0s}",
            "1:14: checkpoint.drain_timeout: must be at least 100ms",
        ),
        (
            "checkpoint: {max_pending_batches: 0}",
            "1:14: checkpoint.max_pending_batches: must be from 1 to 1048576",
        ),
        (
            "backpressure: {high_ratio: 1.1}",
            "1:16: backpressure.high_ratio: must be from 0 to 1",
        ),
        (
            "backpressure: {low_ratio: -0.1}",
            "1:16: backpressure.low_ratio: must be from 0 to 1",
        ),
        (
            "backpressure: {low_ratio: 0.8}",
            "1:16: backpressure.low_ratio: must be below `backpressure.high_ratio`",
        ),
        (
            "backpressure: {high_ratio: 0.5}",
            "1:1: backpressure.low_ratio: must be below `backpressure.high_ratio`",
        ),
        (
            "checkpoint: 5s",
            "1:13: checkpoint: expected a mapping, found text",
        ),
    ] {
        assert_eq!(engine(text).unwrap_err(), format!("spate.yaml:{error}"));
    }
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
fn the_example_file_loads_and_its_comments_tell_the_defaults() {
    let example = include_str!("../example.yaml");
    let check = |text: &str| {
        let config = config(text);
        config
            .check_sections(&["source", "deserializer", "sink", "sinks"])
            .unwrap();
        let engine = EngineConfig::from(&config).unwrap();
        let mut sink = config.sink_section("clickhouse", true).unwrap();
        (engine, SinkPoolConfig::take_from(&mut sink).unwrap())
    };
    let (engine, pool) = check(example);
    // What is commented out is a default: read it all, and nothing may change but the number of threads.
    let all: String = example
        .lines()
        .map(|line| match line.trim_start().strip_prefix("# ") {
            Some(setting)
                if setting.contains(':')
                    && !line.starts_with("# A")
                    && !line.starts_with("# V") =>
            {
                let indent = line.len() - line.trim_start().len();
                format!("{}{setting}\n", " ".repeat(indent))
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let (mut full_engine, full_pool) = check(&all);
    assert_eq!(full_engine.pipeline.threads.take(), Some(3));
    assert_eq!(format!("{engine:?}"), format!("{full_engine:?}"));
    assert_eq!(format!("{pool:?}"), format!("{full_pool:?}"));
}
