//! SIGTERM and SIGINT: the first one begins the drain, a second one ends the process at once.
//!
//! Handlers belong to the process: they are installed with the first run that wants them and stay. While no run wants
//! them a signal does what it does by default, so a program that embeds a pipeline can be ended afterwards too. All runs of
//! a process drain on one signal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// No run listens: the signal's default action is taken.
static IDLE: AtomicBool = AtomicBool::new(true);

/// A signal came while a run listened.
static RECEIVED: AtomicBool = AtomicBool::new(false);

/// How many runs listen.
static LISTENING: Mutex<usize> = Mutex::new(0);

/// A run that listens to the signals of the process, or one that does not.
pub(super) struct Signals {
    listens: bool,
}

impl Signals {
    pub(super) fn listen(on: bool) -> Self {
        if on {
            static INSTALLED: Once = Once::new();
            INSTALLED.call_once(|| {
                for signal in [SIGTERM, SIGINT] {
                    if let Err(error) = install(signal) {
                        tracing::warn!(
                            signal,
                            "the signal handler could not be installed, the signal ends the process at once: {error}"
                        );
                    }
                }
            });
            let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
            *listening += 1;
            IDLE.store(false, Ordering::SeqCst);
        }
        Signals { listens: on }
    }

    /// Whether a signal came that this run listens to.
    pub(super) fn received(&self) -> bool {
        self.listens && RECEIVED.load(Ordering::SeqCst)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if !self.listens {
            return;
        }
        let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
        *listening -= 1;
        if *listening == 0 {
            // In this order: a signal in between takes its default action.
            IDLE.store(true, Ordering::SeqCst);
            RECEIVED.store(false, Ordering::SeqCst);
        }
    }
}

/// The actions are run in this order: the second signal finds the flag that the first one set.
fn install(signal: i32) -> std::io::Result<()> {
    flag::register_conditional_default(signal, &IDLE)?;
    // As a shell tells of a process that a signal ended: 143 and 130.
    flag::register_conditional_shutdown(signal, 128 + signal, &RECEIVED)?;
    flag::register(signal, &RECEIVED)?;
    Ok(())
}
