//! Logs: for people on a terminal, JSON lines elsewhere; `RUST_LOG` chooses what is shown.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Installs the log output on standard error; whether it did (a program that has its own keeps it).
///
/// A line that cannot be written, because whoever read standard error is gone, is dropped: the pipeline goes on.
pub fn init() -> bool {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Told on standard error with a macro that panics when standard error is what is broken.
        .log_internal_errors(false);
    if std::io::stderr().is_terminal() {
        builder.with_target(false).try_init().is_ok()
    } else {
        builder
            .json()
            .flatten_event(true)
            .with_ansi(false)
            .try_init()
            .is_ok()
    }
}
