//! A driver's thread as generated code sees it: the factory opens its state from it and drives the kernel with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crate::decode::SharedDecoder;
use crate::engine::{Driver, DriverStep};
use crate::failure::Failure;
use crate::output::Output;
use crate::record::Batch;
use crate::time::Clock;

/// What the user's code of a thread is doing, for the text of a panic.
#[derive(Debug, Default)]
pub(crate) struct Phase(AtomicU8);

impl Phase {
    const MAKING: u8 = 0;
    const DRIVING: u8 = 1;
    const DROPPING: u8 = 2;

    fn set(&self, phase: u8) {
        self.0.store(phase, Ordering::Relaxed);
    }

    /// The factory is called: the state is made.
    pub(crate) fn begin(&self) {
        self.set(Self::MAKING);
    }

    /// When a panic came, as the end of a sentence.
    pub(crate) fn when(&self) -> &'static str {
        match self.0.load(Ordering::Relaxed) {
            Self::MAKING => "while its state was made (the `let`s of the pipeline)",
            Self::DRIVING => "between two batches",
            _ => "while its state was dropped (a `Drop` of the `let`s of the pipeline)",
        }
    }
}

/// One thread of a pipeline, handed to the factory.
pub struct Thread {
    pub(crate) decoder: Arc<dyn SharedDecoder>,
    pub(crate) driver: Driver,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) phase: Arc<Phase>,
}

/// How a thread's kernel ended.
#[must_use]
pub struct DriveEnd {
    pub(crate) thread: Thread,
    /// The factory is to be called again, because records may be replayed that the kernel's state remembers.
    pub(crate) renew: bool,
}

impl Thread {
    /// Runs the thread's loop over `kernel` until the state has to be renewed or the thread ends.
    pub fn drive<K>(mut self, mut kernel: K) -> DriveEnd
    where
        K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
    {
        self.phase.set(Phase::DRIVING);
        let renew = self.run_loop(&mut kernel);
        self.phase.set(Phase::DROPPING);
        DriveEnd {
            thread: self,
            renew,
        }
    }

    /// Whether the state has to be renewed; otherwise the thread ends.
    fn run_loop<K>(&mut self, kernel: &mut K) -> bool
    where
        K: for<'b> FnMut(&Batch<'b>, &mut Output) -> Result<(), Failure>,
    {
        loop {
            let now = self.clock.now();
            match self.driver.step(now, kernel) {
                DriverStep::Work => {}
                DriverStep::Idle { wake_at } => {
                    let wait = wake_at.since(now);
                    if wait > Duration::ZERO {
                        std::thread::park_timeout(wait);
                    }
                }
                DriverStep::Renew => return true,
                DriverStep::Ended => return false,
            }
        }
    }
}
