//! Measurements of Spate. `cargo bench-spate compile` tells what pipelines cost to compile, against loops written by hand.

mod compile;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures Spate", long_about = None)]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// What pipelines cost to compile: seconds of CPU for `cargo check` and `cargo build`, as ratios to loops written by hand
    Compile(compile::Options),
}

fn main() -> ExitCode {
    let result = match Args::parse().what {
        What::Compile(options) => compile::run(&options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
