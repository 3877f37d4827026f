//! Which replica of a shard gets the next attempt: the next one in rotation whose breaker lets it through.
//!
//! A state machine over [`Time`]. One attempt is under way at a time. A shard with a single replica has nowhere else to
//! go: its breaker is never asked.

use super::breaker::{Breaker, Told};
use crate::config::BreakerConfig;
use crate::time::Time;

/// The replicas of one shard.
#[derive(Debug)]
pub struct Rotation {
    breakers: Vec<Breaker>,
    next: usize,
}

impl Rotation {
    /// All breakers are closed; the first attempt goes to replica 0.
    ///
    /// # Panics
    /// If there is no replica.
    #[must_use]
    pub fn new(replicas: usize, config: &BreakerConfig) -> Self {
        assert!(replicas > 0, "a shard has at least one replica");
        Rotation {
            breakers: vec![Breaker::new(config.clone()); replicas],
            next: 0,
        }
    }

    /// The number of replicas.
    #[must_use]
    pub fn replicas(&self) -> usize {
        self.breakers.len()
    }

    /// Begins an attempt at the next replica that admits one at `now`.
    ///
    /// # Errors
    /// No one does; the earliest time at which one will.
    pub fn begin(&mut self, now: Time) -> Result<usize, Time> {
        let count = self.breakers.len();
        let admitted = (self.next..self.next + count)
            .map(|at| at % count)
            .find(|&replica| self.admits_at(replica) <= now);
        match admitted {
            Some(replica) => {
                self.take(replica, now);
                Ok(replica)
            }
            None => Err(self.admits_at(self.first_to_admit())),
        }
    }

    /// Begins an attempt whatever the breakers say, at the replica whose breaker lets one through first: for a block that
    /// would be given up otherwise.
    pub fn begin_anyway(&mut self, now: Time) -> usize {
        let replica = self.first_to_admit();
        self.take(replica, now);
        replica
    }

    /// The attempt at `replica` ended.
    pub fn end(&mut self, replica: usize, told: Told, now: Time) {
        self.breakers[replica].end(told, now);
    }

    /// Whether attempts at this replica are kept away.
    #[must_use]
    pub fn is_open(&self, replica: usize) -> bool {
        self.breakers.len() > 1 && !self.breakers[replica].is_closed()
    }

    fn take(&mut self, replica: usize, now: Time) {
        self.next = (replica + 1) % self.breakers.len();
        self.breakers[replica].begin(now);
    }

    fn admits_at(&self, replica: usize) -> Time {
        if self.breakers.len() == 1 {
            return Time::ZERO;
        }
        // A probe under way blocks its own replica only, and is over before the next attempt begins.
        self.breakers[replica].admits_at().unwrap_or(Time::END)
    }

    fn first_to_admit(&self) -> usize {
        (0..self.breakers.len())
            .min_by_key(|&replica| self.admits_at(replica))
            .expect("a shard has at least one replica")
    }
}

#[cfg(test)]
mod tests;
