//! What the user sees while the demo works, on standard error: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Without a terminal: the shortest time between two lines about one step.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// How often the bar is drawn by itself.
const TICK: Duration = Duration::from_millis(200);

/// Standard error. Lines and logs go above the bar, if there is one.
#[derive(Clone)]
pub(crate) struct Screen {
    bars: MultiProgress,
    terminal: bool,
}

impl Screen {
    /// The screen; logs go to it from now on, warnings and errors unless `RUST_LOG` says otherwise.
    pub(crate) fn new() -> Screen {
        let terminal = io::stderr().is_terminal();
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let screen = Screen {
            bars: MultiProgress::with_draw_target(target),
            terminal,
        };
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(screen.clone())
            .with_ansi(terminal)
            .with_target(false)
            .init();
        screen
    }

    /// A line that stays.
    pub(crate) fn line(&self, text: &str) {
        self.bars.suspend(|| eprintln!("{text}"));
    }

    /// A fact about the set-up: what it is, and what about it.
    pub(crate) fn fact(&self, what: &str, text: &str) {
        self.line(&format!("{what:<12} {text}"));
    }

    /// Begins a step over `total` flights, of which `verb` tells what happens to them.
    pub(crate) fn step(&self, verb: &'static str, total: u64) -> Step {
        let bar = self.bars.add(ProgressBar::new(total));
        let style =
            ProgressStyle::with_template("{prefix:<12} [{wide_bar}] {pos}/{len} {elapsed:>3}");
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        bar.set_prefix(verb);
        // The time moves on even where nothing else does: while a consumer group forms, say.
        bar.enable_steady_tick(TICK);
        let now = Instant::now();
        Step {
            screen: self.clone(),
            bar,
            verb,
            total,
            began: now,
            last_line: now,
        }
    }
}

/// A step that is going on. Dropping it takes its bar away.
pub(crate) struct Step {
    screen: Screen,
    bar: ProgressBar,
    verb: &'static str,
    total: u64,
    began: Instant,
    last_line: Instant,
}

impl Step {
    /// So many flights are done.
    pub(crate) fn at(&mut self, done: u64) {
        self.bar.set_position(done);
        if !self.screen.terminal && self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            self.screen
                .fact(self.verb, &format!("{done} of {} flights", self.total));
        }
    }

    /// The step is done: its bar gives way to a line, `what` of its flights and how long it took.
    pub(crate) fn done(self, what: &str) {
        let seconds = self.began.elapsed().as_secs_f64();
        self.bar.finish_and_clear();
        self.screen.fact(
            self.verb,
            &format!("{} flights {what} in {seconds:.1} s", self.total),
        );
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Log lines, written while the bar is off the screen.
pub(crate) struct LogLine(MultiProgress);

impl io::Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Screen {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine(self.bars.clone())
    }
}
