//! The pipeline [`orders`] as a program, for tests that kill it.

use std::process::ExitCode;

fn main() -> ExitCode {
    spate::main(spate_it::orders())
}
