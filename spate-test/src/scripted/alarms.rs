//! Waiting on a clock that is moved by hand.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use spate_runtime::time::{Clock, ManualClock, Time};

type Waiting = BTreeMap<(Time, u64), Waker>;

/// A clock that stands still until it is moved, and wakes whom it passes. Clones are the same clock.
#[derive(Clone, Default)]
pub struct Alarms {
    clock: ManualClock,
    waiting: Arc<Mutex<(u64, Waiting)>>,
}

impl Alarms {
    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    /// When the next one is to be woken.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.waiting().1.first_key_value().map(|(key, _)| key.0)
    }

    /// Moves the clock and wakes whose time has come.
    pub fn advance(&self, by: Duration) {
        let now = self.clock.advance(by);
        let later = {
            let mut waiting = self.waiting();
            let later = waiting
                .1
                .split_off(&(now.after(Duration::from_nanos(1)), 0));
            std::mem::replace(&mut waiting.1, later)
        };
        later.into_values().for_each(Waker::wake);
    }

    /// Waits until the time `until`.
    pub async fn sleep_until(&self, until: Time) {
        poll_fn(|cx| {
            // Held while the clock is looked at, or one that is moved in between would wake nobody.
            let mut waiting = self.waiting();
            if self.now() >= until {
                return Poll::Ready(());
            }
            waiting.0 += 1;
            let key = (until, waiting.0);
            waiting.1.insert(key, cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn waiting(&self) -> MutexGuard<'_, (u64, Waiting)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
