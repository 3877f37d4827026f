//! `flights`: real flights from Kafka through a compiled pipeline into ClickHouse, with the answers checked.
//!
//! The pipeline is in `pipeline.rs`; read that first. Everything else sets the stage for it:
//! `servers.rs` starts Kafka, the schema registry and ClickHouse, `load.rs` fills the topic, `run.rs` runs the pipeline
//! until all is committed, `report.rs` asks the table, `truth.rs` compares.

mod error;
mod flight;
mod load;
mod options;
mod pipeline;
mod report;
mod run;
mod screen;
mod servers;
mod truth;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser as _;
use spate_test::services::Database;

use crate::error::Error;
use crate::options::Options;
use crate::screen::Screen;
use crate::servers::Servers;

/// The table that the pipeline writes to.
const TABLE: &str = include_str!("../../../sql/flights.sql");

fn main() -> ExitCode {
    let options = Options::parse();
    if options.print_graph {
        print!("{}", pipeline::flights().graph().to_mermaid());
        return ExitCode::SUCCESS;
    }
    let screen = Screen::new();
    match demo(&options, &screen) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            screen.line(&format!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Everything from the servers to the last line; whether the table holds what is known.
fn demo(options: &Options, screen: &Screen) -> Result<bool, Error> {
    let known = truth::january(options.truth.as_deref())?;
    let clickhouse = servers::start_clickhouse(options, screen)?;
    let table = clickhouse.create_database("flights")?;
    table.execute(TABLE)?;
    let servers = servers::start(options, screen)?;
    let loaded = load::load(options, &servers, screen)?;
    let interrupted = interruption();
    let run = run::run(options, &servers, &loaded, &table, screen, &interrupted)?;
    let found = report::find(&table, &run)?;
    println!("\n{}", found.text());
    let differences = known.differences(&found.figures);
    for line in &differences {
        println!("differs: {line}");
    }
    let (read, rows) = (found.figures.rows, found.figures.with_arrival_delay);
    let truth = if differences.is_empty() {
        "match"
    } else {
        "MISMATCH"
    };
    println!("flights: read={read} rows={rows} truth={truth}");
    if options.keep {
        keep(&table, &servers, options, screen, &interrupted);
    }
    Ok(differences.is_empty())
}

/// A flag that SIGINT and SIGTERM set; a second signal ends the process at once, and the servers with it.
fn interruption() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the process, and the servers end with it.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
    }
    flag
}

/// Waits for Ctrl-C, with the table there to be asked.
fn keep(
    table: &Database<'_>,
    servers: &Servers,
    options: &Options,
    screen: &Screen,
    interrupted: &AtomicBool,
) {
    let (url, database) = (table.server().url(), table.name());
    screen.line(&format!(
        "\nEverything keeps running until Ctrl-C: Kafka at {} (topic {}), and the table:\n\
         curl '{url}/?database={database}' --data-binary 'SELECT * FROM flights LIMIT 5 FORMAT PrettyCompact'",
        servers.brokers, options.topic
    ));
    while !interrupted.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(100));
    }
}
