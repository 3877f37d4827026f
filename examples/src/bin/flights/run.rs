//! Runs the pipeline as an embedding program does, until all that was loaded is committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use spate::{Config, ExitReport, RuntimeOptions};
use spate_test::services::{Database, committed_offsets};

use crate::error::Error;
use crate::load::Loaded;
use crate::options::Options;
use crate::pipeline;
use crate::screen::{Screen, Step};
use crate::servers::Servers;

/// The configuration. Its consumer group is [`GROUP`].
const CONFIG: &str = include_str!("../../../config/flights.yaml");
const CONFIG_NAME: &str = "examples/config/flights.yaml";
const GROUP: &str = "flights-demo";

/// How often the group's offsets are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Without progress for so long, the run is given up.
const STALLED: Duration = Duration::from_secs(90);

/// Reads the configuration, with the servers' addresses as its variables.
fn config(options: &Options, servers: &Servers, table: &Database<'_>) -> Result<Config, Error> {
    let clickhouse = table.server();
    let variable = |name: &str| {
        Some(match name {
            "THREADS" => options.threads.to_string(),
            "KAFKA_BROKERS" => servers.brokers.clone(),
            "TOPIC" => options.topic.clone(),
            "SCHEMA_REGISTRY_URL" => servers.registry.url(),
            "CLICKHOUSE_URL" => clickhouse.url().to_owned(),
            "CLICKHOUSE_USER" => clickhouse.user().to_owned(),
            "CLICKHOUSE_PASSWORD" => clickhouse.password().to_owned(),
            "CLICKHOUSE_DATABASE" => table.name().to_owned(),
            _ => return None,
        })
    };
    Ok(Config::from_yaml_with(CONFIG, CONFIG_NAME, &variable)?)
}

/// Runs the pipeline over the topic.
///
/// # Errors
/// It does not start, fails, stops making progress, or is interrupted.
pub(crate) fn run(
    options: &Options,
    servers: &Servers,
    loaded: &Loaded,
    table: &Database<'_>,
    screen: &Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<ExitReport, Error> {
    let config = config(options, servers, table)?;
    let runtime = pipeline::flights()
        .with_config(config)?
        .into_runtime(RuntimeOptions::embedded())?;
    let shutdown = runtime.shutdown_handle();
    let mut step = screen.step("Running", loaded.flights);
    let engine = thread::Builder::new()
        .name("pipeline".into())
        .spawn(move || runtime.run())
        .map_err(Error::Thread)?;
    let watched = watch(options, servers, loaded, interrupted, &mut step, &|| {
        engine.is_finished()
    });
    // The source has no end of its own: the pipeline drains when it is told to.
    shutdown.shutdown();
    let report = engine.join().map_err(|_| Error::Panic)?;
    if !report.is_clean() {
        return Err(Error::Pipeline(Box::new(report)));
    }
    match watched? {
        Watched::All => {
            step.done("through the pipeline");
            Ok(report)
        }
        // A clean end: the drain has committed everything that was read.
        Watched::Interrupted => Err(Error::Interrupted {
            committed: report.totals().records,
            total: loaded.flights,
        }),
    }
}

/// Why the watch ended.
enum Watched {
    /// Everything is committed.
    All,
    /// SIGINT or SIGTERM.
    Interrupted,
}

/// Returns when the group has committed everything, or the user has seen enough.
fn watch(
    options: &Options,
    servers: &Servers,
    loaded: &Loaded,
    interrupted: &AtomicBool,
    step: &mut Step,
    ended: &dyn Fn() -> bool,
) -> Result<Watched, Error> {
    let total = loaded.flights;
    let mut committed = 0;
    let mut moved = Instant::now();
    while committed < total {
        if interrupted.load(Ordering::Acquire) {
            return Ok(Watched::Interrupted);
        }
        if ended() || moved.elapsed() > STALLED {
            return Err(Error::Stalled {
                seconds: moved.elapsed().as_secs(),
                committed,
                total,
            });
        }
        thread::sleep(LOOK);
        // While Kafka is away there is nothing to see; the pipeline reports it.
        let partitions = i32::from(options.partitions);
        let Ok(offsets) = committed_offsets(&servers.brokers, GROUP, &options.topic, partitions)
        else {
            continue;
        };
        let ends = loaded.ends.iter().zip(offsets);
        let now: i64 = ends
            .map(|((first, _), offset)| offset.map_or(0, |offset| offset - first))
            .sum();
        let now = u64::try_from(now).unwrap_or(0);
        if now > committed {
            (committed, moved) = (now, Instant::now());
            step.at(committed);
        }
    }
    Ok(Watched::All)
}
