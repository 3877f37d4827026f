//! What a lane and the control plane tell each other about one assignment: how far reading is, whether it is paused, and
//! when it has to go back.
//!
//! Going back (a rewind) makes the client fetch again from the lane's position. The driver may have taken messages from
//! the queue that are still of the time before, so a rewind is a bracket: what a lane took before the bracket closed is
//! let go unread, and since the position did not move, nothing is missed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state that a lane shares with the control plane.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    reading: Mutex<Reading>,
    paused: AtomicBool,
    rewind_wanted: AtomicBool,
    /// Why the lane has stopped.
    stop: Mutex<Option<Stop>>,
    /// The broker refuses to let this user read.
    refused: AtomicBool,
    empty_fetches: AtomicU64,
}

/// Why a lane hands out nothing more: what is to be done is the control plane's to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The next offset does not exist on the broker, and the client fetches no more.
    Gap,
    /// The partition was truncated or created anew: it goes on at this offset, before what was reached.
    Restarted(i64),
}

#[derive(Debug, Default)]
struct Reading {
    /// The next offset to hand out; `None` until the first batch of an assignment that starts at the oldest record.
    position: Option<i64>,
    /// How many rewinds have begun.
    rewinds: u64,
    rewinding: bool,
}

/// A fetch that began between two rewinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Progress {
    /// An assignment that starts at `position`.
    pub(crate) fn starting_at(position: Option<i64>) -> Self {
        Progress {
            reading: Mutex::new(Reading {
                position,
                ..Reading::default()
            }),
            ..Progress::default()
        }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next offset to hand out, as far as it is known.
    pub(crate) fn position(&self) -> Option<i64> {
        self.reading().position
    }

    /// Begins a fetch; `None` while a rewind is under way.
    pub(crate) fn begin_fetch(&self) -> Option<Ticket> {
        let reading = self.reading();
        (!reading.rewinding).then_some(Ticket(reading.rewinds))
    }

    /// Ends a fetch that brought records up to `next`; `false` if a rewind came between: what was taken must be let go.
    pub(crate) fn end_fetch(&self, ticket: Ticket, next: i64) -> bool {
        let mut reading = self.reading();
        let current = !reading.rewinding && reading.rewinds == ticket.0;
        if current {
            reading.position = Some(next);
        }
        current
    }

    /// A fetch found nothing.
    pub(crate) fn fetched_nothing(&self) {
        self.empty_fetches.fetch_add(1, Ordering::Relaxed);
    }

    /// How many fetches have found nothing.
    pub(crate) fn empty_fetches(&self) -> u64 {
        self.empty_fetches.load(Ordering::Relaxed)
    }

    /// Begins a rewind and returns where to; fetches are let go until [`Progress::end_rewind`].
    pub(crate) fn begin_rewind(&self) -> Option<i64> {
        let mut reading = self.reading();
        reading.rewinds += 1;
        reading.rewinding = true;
        reading.position
    }

    pub(crate) fn end_rewind(&self) {
        self.reading().rewinding = false;
    }

    /// Asks the control plane for a rewind.
    pub(crate) fn want_rewind(&self) {
        self.rewind_wanted.store(true, Ordering::Release);
    }

    /// Whether a rewind was asked for since the last call.
    pub(crate) fn take_rewind_wish(&self) -> bool {
        self.rewind_wanted.load(Ordering::Relaxed)
            && self.rewind_wanted.swap(false, Ordering::AcqRel)
    }

    /// The lane has stopped; the first reason counts.
    pub(crate) fn stop(&self, why: Stop) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.get_or_insert(why);
    }

    /// Why the lane has stopped, if it has.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_refused(&self, refused: bool) {
        // Read first: this is called with every batch.
        if self.is_refused() != refused {
            self.refused.store(refused, Ordering::Release);
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }

    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_before_or_during_a_rewind_is_let_go_and_the_position_stays() {
        let progress = Progress::starting_at(Some(5));
        let before = progress.begin_fetch().expect("nothing rewinds");
        assert_eq!(progress.begin_rewind(), Some(5));
        assert_eq!(progress.begin_fetch(), None);
        assert!(!progress.end_fetch(before, 9));
        progress.end_rewind();
        assert!(
            !progress.end_fetch(before, 9),
            "the fetch began before the rewind"
        );
        assert_eq!(progress.position(), Some(5));

        let after = progress.begin_fetch().expect("the rewind is over");
        assert!(progress.end_fetch(after, 9));
        assert_eq!(progress.position(), Some(9));
    }

    #[test]
    fn a_wish_to_rewind_is_taken_once() {
        let progress = Progress::default();
        assert!(!progress.take_rewind_wish());
        progress.want_rewind();
        assert!(progress.take_rewind_wish());
        assert!(!progress.take_rewind_wish());
    }
}
