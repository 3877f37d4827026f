//! Waits that end: with what was waited for, or with a panic that says what it was.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything is waited for. Far longer than it takes, and than what a start and a drain may take together: a test fails
/// by this only when the thing never happens.
pub const LIMIT: Duration = Duration::from_secs(360);

const POLL: Duration = Duration::from_millis(20);

/// Waits until `look` finds something.
///
/// # Panics
/// After [`LIMIT`].
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "not within {LIMIT:?}: {what}");
        thread::sleep(POLL);
    }
}

/// A pipeline that runs while a test waits for something.
pub trait Watched {
    /// How it ended, if it has.
    fn ended(&mut self) -> Option<String>;

    /// [`eventually`], but ends at once when the pipeline does.
    ///
    /// # Panics
    /// After [`LIMIT`], and when the pipeline ends.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        eventually(what, || {
            // In this order: what a pipeline did before it ended counts.
            let ended = self.ended();
            let found = look();
            if found.is_none()
                && let Some(end) = ended
            {
                panic!("the pipeline ended while waiting for: {what}\n{end}");
            }
            found
        })
    }
}
