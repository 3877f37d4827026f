//! The breaker of one replica: after failed attempts in a row it keeps attempts away for a while, then lets one through.
//!
//! A state machine over [`Time`]. It hears of every attempt twice: when it begins ([`Breaker::begin`]) and how it ended
//! ([`Breaker::end`]); what ends without a word about the replica gives the probe back.

use crate::config::BreakerConfig;
use crate::time::Time;

/// What an attempt told about its replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It works.
    Works,
    /// It does not, or not in time.
    Fails,
    /// Nothing: the error is about the block, or the attempt was dropped.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// So many failures in a row.
    Closed(u32),
    /// Until then no attempt; afterwards one.
    Open(Time),
    /// That one is under way since then.
    Probing(Time),
}

/// The breaker of one replica.
#[derive(Debug, Clone)]
pub struct Breaker {
    config: BreakerConfig,
    state: State,
}

impl Breaker {
    /// A closed breaker.
    #[must_use]
    pub fn new(config: BreakerConfig) -> Self {
        Breaker {
            config,
            state: State::Closed(0),
        }
    }

    /// The earliest time at which an attempt may begin; `None` while a probe is under way.
    #[must_use]
    pub fn admits_at(&self) -> Option<Time> {
        match self.state {
            State::Closed(_) => Some(Time::ZERO),
            State::Open(until) => Some(until),
            State::Probing(_) => None,
        }
    }

    /// Whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_))
    }

    /// An attempt begins; with an open breaker it is the probe.
    pub fn begin(&mut self, now: Time) {
        if let State::Open(_) = self.state {
            self.state = State::Probing(now);
        }
    }

    /// The attempt that began ended.
    pub fn end(&mut self, told: Told, now: Time) {
        self.state = match (self.state, told) {
            (_, Told::Works) => State::Closed(0),
            (State::Closed(failures), Told::Fails) => {
                let failures = failures.saturating_add(1);
                if failures < self.config.failures {
                    State::Closed(failures)
                } else {
                    State::Open(now.after(self.config.open_for))
                }
            }
            // A replica that hangs costs each probe a whole attempt: at most every other moment may go to that.
            (State::Probing(since), Told::Fails) => {
                State::Open(now.after(self.config.open_for.max(now.since(since))))
            }
            // The next attempt may probe at once.
            (State::Probing(_), Told::Nothing) => State::Open(now),
            (state @ (State::Closed(_) | State::Open(_)), _) => state,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn breaker() -> Breaker {
        Breaker::new(BreakerConfig {
            failures: 3,
            open_for: Duration::from_secs(5),
        })
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn attempt(breaker: &mut Breaker, told: Told, from: u64, to: u64) {
        breaker.begin(at(from));
        breaker.end(told, at(to));
    }

    fn opened() -> Breaker {
        let mut breaker = breaker();
        for second in 1..=3 {
            attempt(&mut breaker, Told::Fails, second, second);
        }
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_before() {
        let mut b = breaker();
        attempt(&mut b, Told::Fails, 0, 0);
        attempt(&mut b, Told::Fails, 1, 1);
        assert!(b.is_closed());
        attempt(&mut b, Told::Works, 2, 2);
        attempt(&mut b, Told::Fails, 3, 3);
        attempt(&mut b, Told::Fails, 4, 4);
        assert!(b.is_closed(), "a success began the count again");
        attempt(&mut b, Told::Fails, 5, 5);
        assert_eq!(b.admits_at(), Some(at(10)));
    }

    #[test]
    fn what_tells_nothing_of_the_replica_neither_counts_nor_forgives() {
        let mut b = breaker();
        attempt(&mut b, Told::Fails, 0, 0);
        attempt(&mut b, Told::Fails, 0, 0);
        attempt(&mut b, Told::Nothing, 0, 0);
        assert!(b.is_closed());
        attempt(&mut b, Told::Fails, 1, 1);
        assert!(!b.is_closed());
    }

    #[test]
    fn one_probe_is_let_through_and_decides() {
        let mut b = opened();
        assert_eq!(b.admits_at(), Some(at(8)));
        b.begin(at(8));
        assert_eq!(b.admits_at(), None, "one at a time");
        b.end(Told::Fails, at(9));
        assert_eq!(b.admits_at(), Some(at(14)), "one failure opens it again");
        attempt(&mut b, Told::Works, 14, 14);
        assert!(b.is_closed());
        attempt(&mut b, Told::Fails, 15, 15);
        assert!(b.is_closed(), "the count begins again");
    }

    #[test]
    fn a_probe_that_ends_without_a_word_is_given_back() {
        let mut b = opened();
        attempt(&mut b, Told::Nothing, 8, 9);
        assert_eq!(b.admits_at(), Some(at(9)));
    }

    #[test]
    fn a_probe_that_hung_keeps_it_open_as_long_as_it_hung() {
        let mut b = opened();
        attempt(&mut b, Told::Fails, 8, 38);
        assert_eq!(b.admits_at(), Some(at(68)));
    }
}
