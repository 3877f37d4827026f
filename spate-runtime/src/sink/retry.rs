//! Capped exponential backoff with jitter that only shortens.

use std::time::Duration;

use crate::config::RetryConfig;

/// The waits between the attempts of one block.
#[derive(Debug)]
pub struct Backoff {
    config: RetryConfig,
    rng: fastrand::Rng,
    attempts: u32,
}

impl Backoff {
    /// A fresh ladder; `seed` decorrelates shards and makes simulations repeatable.
    #[must_use]
    pub fn new(config: RetryConfig, seed: u64) -> Self {
        Backoff {
            config,
            rng: fastrand::Rng::with_seed(seed),
            attempts: 0,
        }
    }

    /// How many waits have been handed out since the last reset.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Starts again at the initial wait.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    /// The next wait: grows by the multiplier up to the maximum, shortened by up to the jitter's share, never zero.
    pub fn next_wait(&mut self) -> Duration {
        let exponent = i32::try_from(self.attempts).unwrap_or(i32::MAX);
        self.attempts = self.attempts.saturating_add(1);
        let grown = self.config.initial.as_secs_f64() * self.config.multiplier.powi(exponent);
        // `min` also turns an overflow to infinity into the maximum.
        let capped = grown.min(self.config.max.as_secs_f64());
        let shortened = capped * (1.0 - self.config.jitter * self.rng.f64());
        Duration::from_secs_f64(shortened).max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> RetryConfig {
        RetryConfig {
            initial: Duration::from_millis(100),
            max: Duration::from_secs(10),
            multiplier: 2.0,
            jitter: 0.2,
            attempt_timeout: None,
            give_up_after: Duration::from_secs(60),
        }
    }

    #[test]
    fn waits_grow_to_the_maximum_and_jitter_only_shortens() {
        let mut backoff = Backoff::new(config(), 7);
        for attempt in 0..200 {
            let full = (0.1 * 2f64.powi(attempt)).min(10.0);
            let wait = backoff.next_wait().as_secs_f64();
            assert!(
                wait <= full + 1e-9 && wait >= full * 0.8 - 1e-9,
                "attempt {attempt}: {wait}"
            );
        }
    }

    #[test]
    fn two_shards_do_not_wait_in_step() {
        let waits = |seed| {
            let mut b = Backoff::new(config(), seed);
            (0..8).map(|_| b.next_wait()).collect::<Vec<_>>()
        };
        assert_ne!(waits(1), waits(2));
        assert_eq!(waits(1), waits(1));
    }
}
