//! The engine's settings: defaults, ranges, and relations between them.

use std::time::Duration;

use super::{config, with_env};

use crate::config::{ByteSize, Config, EngineConfig, SinkPoolConfig};

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
    assert_eq!(c.stalled_fail_after, Duration::from_secs(600));
    let b = &engine.backpressure;
    assert_eq!(
        (b.high_ratio, b.low_ratio, b.min_pause),
        (0.8, 0.5, Duration::from_millis(500))
    );
    assert_eq!(b.max_in_flight_bytes, None);
}

#[test]
fn every_setting_is_read() {
    let text = "
pipeline: {name: orders, threads: \"${THREADS}\", pin: false, first_core: 2, batch_records: 65536, startup_timeout: 1m}
checkpoint: {interval: 100ms, drain_timeout: 10s, max_pending_batches: 16, stalled_fail_after: 3m}
backpressure: {max_in_flight_bytes: 1GiB, high_ratio: 1, low_ratio: 0.1, min_pause: 0s}
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
        engine.checkpoint.stalled_fail_after,
        Duration::from_secs(180)
    );
    assert_eq!(
        (
            engine.backpressure.high_ratio,
            engine.backpressure.low_ratio
        ),
        (1.0, 0.1)
    );
    let bytes = engine.backpressure.max_in_flight_bytes;
    assert_eq!(bytes.map(ByteSize::get), Some(1 << 30));
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
            "checkpoint: {stalled_fail_after: 0s}",
            "1:14: checkpoint.stalled_fail_after: must be at least 1ms",
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
            "backpressure: {low_ratio: 0}",
            "1:16: backpressure.low_ratio: must be above 0: lanes would go on only when nothing is in flight",
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
