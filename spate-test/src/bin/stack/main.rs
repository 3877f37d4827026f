//! `stack`: the services of the tests, started by hand. Arguments and printing are here; what they do is in `up`,
//! `detached` and the library.

mod detached;
mod up;

use clap::{Parser, Subcommand, ValueEnum};
use spate_test::services;
use std::process::ExitCode;

/// Starts real servers for tests and demos, without Docker, on free ports of 127.0.0.1.
#[derive(Parser)]
#[command(name = "stack", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start services, print their addresses as `export NAME=value` lines, run until ended
    ///
    /// Runs until TERM or INT, or until standard input closes when that is a pipe. The servers end with this process, also
    /// when it is killed. Variables: SPATE_KAFKA_BROKERS, SPATE_CLICKHOUSE_URL, SPATE_SCHEMA_REGISTRY_URL.
    #[command(
        after_help = "Examples:\n  stack up apache-kafka clickhouse\n  eval \"$(stack up --detach clickhouse)\""
    )]
    Up(UpArgs),
    /// End what `stack up --detach` started
    Down,
    /// List every program that is needed, with its version or the command that installs it; exit code 1 when one is missing
    Doctor,
    /// Fetch everything ahead (about 250 MB), so that later starts need no network
    Install,
    /// Print how many tests were skipped because of SPATE_SKIP
    Skips {
        /// Start counting anew
        #[arg(long)]
        clear: bool,
    },
}

#[derive(clap::Args)]
struct UpArgs {
    /// What to start
    #[arg(required = true, value_enum)]
    services: Vec<Choice>,
    /// Return once everything is ready; `stack down` ends it
    #[arg(long)]
    detach: bool,
    /// Keep the data here instead of in a temporary folder (a folder per service)
    #[arg(long, value_name = "DIR")]
    data: Option<std::path::PathBuf>,
    /// Fixed ports, as in `--port clickhouse=8123`; others are free ones
    #[arg(long = "port", value_name = "SERVICE=PORT", value_parser = port)]
    ports: Vec<(Choice, u16)>,
    /// Topics to create, with their partitions (needs the feature `kafka`)
    #[arg(long = "topic", value_name = "NAME:PARTITIONS", value_parser = topic)]
    topics: Vec<(String, i32)>,
    /// Written by `--detach` for the process that it leaves behind
    #[arg(long, hide = true)]
    state: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// librdkafka's mock cluster (a build with the feature `kafka`)
    Kafka,
    /// Apache Kafka, one node
    ApacheKafka,
    /// ClickHouse
    Clickhouse,
    /// A stub of the schema registry
    SchemaRegistry,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Choice::Kafka => "kafka",
            Choice::ApacheKafka => "apache-kafka",
            Choice::Clickhouse => "clickhouse",
            Choice::SchemaRegistry => "schema-registry",
        }
    }
}

fn port(text: &str) -> Result<(Choice, u16), String> {
    let (name, port) = text.split_once('=').ok_or("expected SERVICE=PORT")?;
    let choice = Choice::from_str(name, false)?;
    if choice == Choice::Kafka {
        return Err("the mock cluster takes free ports only".to_owned());
    }
    Ok((choice, port.parse().map_err(|e| format!("{port}: {e}"))?))
}

fn topic(text: &str) -> Result<(String, i32), String> {
    let (name, count) = text.split_once(':').ok_or("expected NAME:PARTITIONS")?;
    match count.parse() {
        Ok(count) if count > 0 => Ok((name.to_owned(), count)),
        _ => Err(format!("{count} is no number of partitions")),
    }
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Up(args) if args.detach => detached::start(&args),
        Command::Up(args) => up::run(&args),
        Command::Down => detached::stop(),
        Command::Doctor => return doctor(),
        Command::Install => services::install_all().map_err(|e| e.to_string()),
        Command::Skips { clear } => skips(clear),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stack: {error}");
            ExitCode::FAILURE
        }
    }
}

fn doctor() -> ExitCode {
    let all = services::doctor();
    for p in &all {
        match &p.found {
            Ok(version) => println!("ok       {:34} {version}", p.name),
            Err(why) => println!(
                "missing  {:34} {why}\n         for {}; install: {}",
                p.name, p.needed_for, p.install
            ),
        }
    }
    match services::cache_dir() {
        Ok(dir) => println!("services are installed in {}", dir.display()),
        Err(error) => println!("{error}"),
    }
    if all.iter().all(|p| p.found.is_ok()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn skips(clear: bool) -> Result<(), String> {
    let all = services::skips().map_err(|e| e.to_string())?;
    let count = |s: services::Service| all.iter().filter(|(name, _)| name == s.name()).count();
    let per: Vec<String> = services::Service::ALL
        .iter()
        .filter(|s| count(**s) > 0)
        .map(|s| format!("{} {}", s.name(), count(*s)))
        .collect();
    let detail = if per.is_empty() {
        String::new()
    } else {
        format!(" ({})", per.join(", "))
    };
    println!("skipped: {} tests{detail}", all.len());
    if clear {
        services::clear_skips().map_err(|e| e.to_string())
    } else {
        Ok(())
    }
}
