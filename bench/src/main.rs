//! Measurements of Spate. `cargo bench-spate compile` tells what pipelines cost to compile, against loops written by hand;
//! `cargo run --release -p spate-bench -- avro` what the compiled Avro codec costs a record.

mod avro;
mod compile;

/// Where the derives find the codecs: what an application has as `spate`.
mod facade {
    pub(crate) mod __private {
        pub(crate) use spate_avro as avro;
        pub(crate) use spate_clickhouse as clickhouse;
    }
}

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
    /// What the compiled Avro codec costs: instructions and nanoseconds a record, as ratios to code written by hand
    Avro(avro::Options),
    /// One variant of `avro` for callgrind
    #[command(hide = true)]
    AvroPass(avro::PassOptions),
}

fn main() -> ExitCode {
    let result = match Args::parse().what {
        What::Compile(options) => compile::run(&options).map_err(|error| error.to_string()),
        What::Avro(options) => avro::run(&options).map_err(|error| error.to_string()),
        What::AvroPass(options) => avro::run_pass(&options).map_err(|error| error.to_string()),
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
