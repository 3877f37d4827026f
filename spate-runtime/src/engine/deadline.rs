//! The drain's deadline, shared by every machine that has to give up at it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::time::Time;

/// A point in time that is not set until a drain begins; it can only be moved forward in time by being set once.
#[derive(Debug)]
pub struct Deadline {
    at: AtomicU64,
    /// When the drain began.
    begun: AtomicU64,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline {
            at: AtomicU64::new(u64::MAX),
            begun: AtomicU64::new(u64::MAX),
        }
    }
}

impl Deadline {
    /// Sets the deadline `within` from `now`, unless it is set already.
    pub fn set(&self, now: Time, within: Duration) {
        // An earlier deadline stands.
        let set_once = |to: &AtomicU64, time: Time| {
            let _ = to.compare_exchange(
                u64::MAX,
                time.as_nanos(),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        };
        set_once(&self.begun, now);
        set_once(&self.at, now.after(within));
    }

    /// When the drain began, if one has.
    #[must_use]
    pub fn begun(&self) -> Option<Time> {
        let begun = self.begun.load(Ordering::Acquire);
        (begun != u64::MAX).then(|| Time::from_nanos(begun))
    }

    /// The deadline, if there is one.
    #[must_use]
    pub fn get(&self) -> Option<Time> {
        let at = self.at.load(Ordering::Acquire);
        (at != u64::MAX).then(|| Time::from_nanos(at))
    }

    /// Whether it has passed.
    #[must_use]
    pub fn passed(&self, now: Time) -> bool {
        self.get().is_some_and(|at| now >= at)
    }
}
