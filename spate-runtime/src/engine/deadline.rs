//! The drain's deadline, shared by every machine that has to give up at it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::time::Time;

/// A point in time that is not set until a drain begins; it can only be moved forward in time by being set once.
#[derive(Debug)]
pub struct Deadline(AtomicU64);

impl Default for Deadline {
    fn default() -> Self {
        Deadline(AtomicU64::new(u64::MAX))
    }
}

impl Deadline {
    /// Sets the deadline `within` from `now`, unless it is set already.
    pub fn set(&self, now: Time, within: Duration) {
        let at = now.after(within).as_nanos();
        // An earlier deadline stands.
        let _ = self
            .0
            .compare_exchange(u64::MAX, at, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The deadline, if there is one.
    #[must_use]
    pub fn get(&self) -> Option<Time> {
        let at = self.0.load(Ordering::Acquire);
        (at != u64::MAX).then(|| Time::from_nanos(at))
    }

    /// Whether it has passed.
    #[must_use]
    pub fn passed(&self, now: Time) -> bool {
        self.get().is_some_and(|at| now >= at)
    }
}
