//! So many a second.

use std::time::{Duration, Instant};

/// Lets at most so many records a second pass, for what must not be flooded: a log line, a sample, a notification.
///
/// What does not pass is for the closure to drop or to leave out; to slow a whole pipeline down is what backpressure does.
/// The clock is read only when the budget is used up.
///
/// ```
/// use spate_runtime::ops::RateLimit;
/// let mut limit = RateLimit::per_second(2);
/// assert!(limit.allow() && limit.allow());
/// assert!(!limit.allow());
/// ```
#[derive(Debug, Clone)]
pub struct RateLimit {
    per_second: u32,
    left: u32,
    since: Instant,
}

impl RateLimit {
    /// At most `records` pass in any second that begins with one that passed, by thread. Zero lets none pass.
    #[must_use]
    pub fn per_second(records: u32) -> Self {
        RateLimit {
            per_second: records,
            left: records,
            since: Instant::now(),
        }
    }

    /// Whether this one passes.
    pub fn allow(&mut self) -> bool {
        self.allow_at(Instant::now)
    }

    fn allow_at(&mut self, now: impl FnOnce() -> Instant) -> bool {
        if self.left == 0 {
            let now = now();
            if now.saturating_duration_since(self.since) < Duration::from_secs(1) {
                return false;
            }
            self.since = now;
            self.left = self.per_second;
        }
        self.left = self.left.saturating_sub(1);
        self.per_second > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_pass_in_a_second_and_the_clock_is_left_alone_before() {
        let mut limit = RateLimit::per_second(3);
        let start = limit.since;
        let at = |millis| move || start + Duration::from_millis(millis);
        let unread = || -> Instant { panic!("the clock is not needed") };
        assert!((0..3).all(|_| limit.allow_at(unread)));
        assert!(!limit.allow_at(at(0)) && !limit.allow_at(at(999)));
        assert!(limit.allow_at(at(1_000)));
        assert!((0..2).all(|_| limit.allow_at(unread)));
        assert!(!limit.allow_at(at(1_999)));
        assert!(limit.allow_at(at(2_000)));
    }

    #[test]
    fn zero_lets_none_pass() {
        let mut limit = RateLimit::per_second(0);
        let start = limit.since;
        assert!(!limit.allow_at(|| start + Duration::from_secs(5)));
        assert!(!limit.allow());
    }
}
