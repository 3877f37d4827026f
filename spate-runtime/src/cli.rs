//! The command line of a pipeline's program: a few lines over the embedding interface.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::config::Config;
use crate::pipeline::Pipeline;
use crate::runtime::RuntimeOptions;

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

    /// Print the pipeline's stages as a Mermaid flowchart, then exit
    #[arg(long)]
    graph: bool,
}

const EXIT_CODES: &str = "\
SIGTERM or SIGINT drains the pipeline within checkpoint.drain_timeout; a second one ends it at once.

Exit codes:
  0  a clean end: everything that was read is written and committed
  1  the pipeline failed, or something was given up and will be read again
  2  the command line or the configuration is wrong

RUST_LOG sets what is logged (default: info).";

/// Runs the pipeline as this process's main job: reads the command line, sets up logs, runs, and turns the report into
/// an exit code.
#[must_use]
pub fn main(pipeline: Pipeline) -> ExitCode {
    let args = Args::parse();
    if args.graph {
        print!("{}", pipeline.graph().to_mermaid());
        return ExitCode::SUCCESS;
    }
    crate::telemetry::init();
    let Some(path) = args.config else {
        return ExitCode::from(USAGE);
    };
    let configured = match Config::from_path(&path).and_then(|config| pipeline.with_config(config))
    {
        Ok(configured) => configured,
        Err(error) => return refuse(&error),
    };
    if args.check {
        return match configured.check() {
            Ok(()) => {
                println!("{}: ok", path.display());
                ExitCode::SUCCESS
            }
            Err(error) => refuse(&error),
        };
    }
    let runtime = match configured.into_runtime(RuntimeOptions::default()) {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error),
    };
    let report = runtime.run();
    eprintln!("{report}");
    ExitCode::from(report.exit_code())
}

fn refuse(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(USAGE)
}
