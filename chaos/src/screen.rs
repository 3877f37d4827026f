//! What the user sees: lines with the time since the start.

use std::io::Write as _;
use std::time::{Duration, Instant};

/// The clock of a run, and standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    began: Instant,
}

impl Screen {
    pub(crate) fn new() -> Screen {
        Screen {
            began: Instant::now(),
        }
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Prints a line. A reader that has gone away is no reason to stop.
    pub(crate) fn line(&self, text: &str) {
        let seconds = self.elapsed().as_secs_f64();
        let _ = writeln!(std::io::stdout(), "{seconds:7.1}s {text}");
    }

    /// Prints a line as it is.
    pub(crate) fn plain(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
