//! The command line of a pipeline's program: a few lines over the embedding interface.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::config::Config;
use crate::pipeline::Pipeline;
use crate::runtime::{RuntimeOptions, StartError};

/// Exit code for a failure before the run: the process could not start a thread.
const FAILED: u8 = 1;

/// Exit code for a command line or a configuration that is wrong.
const USAGE: u8 = 2;

#[derive(Parser)]
#[command(about = "Runs a Spate pipeline", long_about = None, after_help = EXIT_CODES)]
struct Args {
    /// The configuration file (YAML); environment variables are put in for ${VAR}, ${VAR:-default}, ${VAR:?message}
    #[arg(long, value_name = "FILE", required_unless_present = "graph")]
    config: Option<PathBuf>,

    /// Check everything that needs no server, then exit
    #[arg(long)]
    check: bool,

    /// Print the pipeline's stages, then exit: as a Mermaid flowchart, or `--graph=dot`, `--graph=text`
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "mermaid")]
    graph: Option<GraphFormat>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum GraphFormat {
    Mermaid,
    Dot,
    Text,
}

const EXIT_CODES: &str = "\
SIGTERM or SIGINT drains the pipeline within checkpoint.drain_timeout; a second one ends it at once.

Exit codes:
  0    a clean end: everything that was read is written and committed
  1    the pipeline failed, or something was given up and will be read again
  2    the command line or the configuration is wrong
  130  a second signal, SIGINT, ended it at once: what was in flight will be read again
  143  a second signal, SIGTERM, did

RUST_LOG sets what is logged (default: info).";

/// Runs the pipeline as this process's main job: reads the command line, sets up logs, runs, prints the report on standard
/// error, and turns it into an exit code.
#[must_use]
pub fn main(pipeline: Pipeline) -> ExitCode {
    let name = pipeline.graph().name;
    let version = concat!("(spate ", env!("CARGO_PKG_VERSION"), ")");
    let command = Args::command().name(name).version(version);
    let args = Args::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    if let Some(format) = args.graph {
        let graph = pipeline.graph();
        return print(&match format {
            GraphFormat::Mermaid => graph.to_mermaid(),
            GraphFormat::Dot => graph.to_dot(),
            GraphFormat::Text => graph.to_text(),
        });
    }
    crate::telemetry::init();
    let Some(path) = args.config else {
        return ExitCode::from(USAGE);
    };
    let configured = match Config::from_path(&path).and_then(|config| pipeline.with_config(config))
    {
        Ok(configured) => configured,
        Err(error) => return refuse(USAGE, &error),
    };
    if args.check {
        return match configured.check() {
            Ok(()) => print(&format!("{}: ok\n", path.display())),
            Err(error) => refuse(USAGE, &error),
        };
    }
    let runtime = match configured.into_runtime(RuntimeOptions::default()) {
        Ok(runtime) => runtime,
        Err(error @ StartError::Io(_)) => return refuse(FAILED, &error),
        Err(error) => return refuse(USAGE, &error),
    };
    let report = runtime.run();
    tell(&report);
    ExitCode::from(report.exit_code())
}

/// What was asked for, on standard output.
fn print(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(FAILED, &error),
    }
}

fn refuse(code: u8, error: &dyn std::fmt::Display) -> ExitCode {
    tell(&format_args!("error: {error}"));
    ExitCode::from(code)
}

/// On standard error. Whoever read it may be gone: that changes nothing about the end of the run.
fn tell(text: &dyn std::fmt::Display) {
    // In one write, so that no line of the log comes in between.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
