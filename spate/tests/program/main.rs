//! A pipeline as a process: signals, exit codes, the report, output that nobody reads. No server is needed.
//!
//! This binary is its own program under test: with `SPATE_PROGRAM` set it is a pipeline (`program.rs`), else it runs the
//! cases (`cases.rs`), one after the other. `cargo test -p spate --test program NAME` runs those with NAME in their names.

mod cases;
mod process;
mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::var("SPATE_PROGRAM") {
        Ok(kind) => program::main(&kind),
        Err(_) => cases::main(),
    }
}
