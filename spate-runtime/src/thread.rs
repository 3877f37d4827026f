//! A driver's thread as generated code sees it: the factory opens its state from it and drives the kernel with it.

use std::sync::Arc;
use std::time::Duration;

use crate::decode::SharedDecoder;
use crate::engine::{Driver, DriverStep};
use crate::failure::Failure;
use crate::output::Output;
use crate::record::Batch;
use crate::time::Clock;

/// One thread of a pipeline, handed to the factory.
pub struct Thread {
    pub(crate) decoder: Arc<dyn SharedDecoder>,
    pub(crate) driver: Driver,
    pub(crate) clock: Arc<dyn Clock>,
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
        loop {
            let now = self.clock.now();
            match self.driver.step(now, &mut kernel) {
                DriverStep::Work => {}
                DriverStep::Idle { wake_at } => {
                    let wait = wake_at.since(now);
                    if wait > Duration::ZERO {
                        std::thread::park_timeout(wait);
                    }
                }
                DriverStep::Renew => {
                    return DriveEnd {
                        thread: self,
                        renew: true,
                    };
                }
                DriverStep::Ended => {
                    return DriveEnd {
                        thread: self,
                        renew: false,
                    };
                }
            }
        }
    }
}
