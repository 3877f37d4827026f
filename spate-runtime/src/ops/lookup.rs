//! A table that is loaded at start, refreshed in the background, and read without locks.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Why a table could not be loaded at start.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The loader failed.
    #[error("the lookup table could not be loaded: {0}")]
    Load(Box<dyn std::error::Error + Send + Sync>),
    /// The refreshing thread could not be started.
    #[error("the thread that refreshes a lookup table could not be started: {0}")]
    Thread(std::io::Error),
}

/// A table shared by all threads of a pipeline; give it to the pipeline as a parameter and take a [`reader`](Lookup::reader) in a `let`
/// state.
///
/// A refresh that fails is logged, and the last good table stays; see [`age`](Lookup::age). The refreshing thread ends with
/// the last clone and the last reader.
///
/// ```
/// use spate_runtime::ops::Lookup;
/// use std::collections::HashMap;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let load = || Ok::<_, std::io::Error>(HashMap::from([("EUR".to_owned(), 100), ("SEK".to_owned(), 9)]));
/// let rates = Lookup::refreshed_every(Duration::from_secs(60), load)?;
///
/// let mut rates = rates.reader();
/// assert_eq!(rates.get("SEK"), Some(&9));
/// assert_eq!(rates.get("XXX"), None);
/// # Ok(())
/// # }
/// ```
pub struct Lookup<K, V> {
    shared: Arc<Shared<K, V>>,
}

struct Shared<K, V> {
    table: Mutex<Loaded<K, V>>,
    /// Counts the tables, so that a reader sees with one load whether there is another one.
    version: AtomicU64,
    /// Tells the refreshing thread that nobody is left.
    stop: Arc<Stop>,
}

struct Loaded<K, V> {
    table: Arc<HashMap<K, V>>,
    at: Instant,
}

#[derive(Default)]
struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl<K, V> Drop for Shared<K, V> {
    fn drop(&mut self) {
        *lock(&self.stop.stopped) = true;
        self.stop.changed.notify_all();
    }
}

/// A table stays whole whatever panics beside it: it is replaced by one assignment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K, V> Lookup<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    /// Loads the table now, on this thread, and again every `interval` on a thread of its own.
    ///
    /// # Errors
    /// The first load failed, or the thread could not be started.
    ///
    /// # Panics
    /// If `interval` is zero.
    pub fn refreshed_every<E>(
        interval: Duration,
        mut load: impl FnMut() -> Result<HashMap<K, V>, E> + Send + 'static,
    ) -> Result<Self, LookupError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        assert!(
            !interval.is_zero(),
            "a table cannot be refreshed all the time"
        );
        let table = load().map_err(|error| LookupError::Load(error.into()))?;
        let lookup = Lookup::fixed(table);
        let (shared, stop) = (
            Arc::downgrade(&lookup.shared),
            Arc::clone(&lookup.shared.stop),
        );
        std::thread::Builder::new()
            .name("spate-lookup".to_owned())
            .spawn(move || {
                while stop.wait(interval) {
                    if !refresh(&shared, &mut load) {
                        return;
                    }
                }
            })
            .map_err(LookupError::Thread)?;
        Ok(lookup)
    }

    /// A table that never changes.
    #[must_use]
    pub fn fixed(table: HashMap<K, V>) -> Self {
        Lookup {
            shared: Arc::new(Shared {
                table: Mutex::new(Loaded {
                    table: Arc::new(table),
                    at: Instant::now(),
                }),
                version: AtomicU64::new(0),
                stop: Arc::default(),
            }),
        }
    }

    /// How long ago the table was loaded.
    #[must_use]
    pub fn age(&self) -> Duration {
        lock(&self.shared.table).at.elapsed()
    }

    /// A reader for one thread.
    #[must_use]
    pub fn reader(&self) -> LookupReader<K, V> {
        // Read before the table: what is loaded in between is then seen as new.
        let version = self.shared.version.load(Ordering::Acquire);
        LookupReader {
            table: Arc::clone(&lock(&self.shared.table).table),
            version,
            shared: Arc::clone(&self.shared),
        }
    }
}

/// One refresh; `false` when nobody is left to read it.
fn refresh<K, V, E>(
    shared: &Weak<Shared<K, V>>,
    load: &mut impl FnMut() -> Result<HashMap<K, V>, E>,
) -> bool
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(load));
    let Some(shared) = shared.upgrade() else {
        return false;
    };
    let error = match loaded {
        Ok(Ok(table)) => {
            *lock(&shared.table) = Loaded {
                table: Arc::new(table),
                at: Instant::now(),
            };
            // Release pairs with the acquire in `reader`; a reader takes the table under the lock.
            shared.version.fetch_add(1, Ordering::Release);
            return true;
        }
        Ok(Err(error)) => error.into().to_string(),
        Err(panic) => format!("panicked: {}", crate::failure::panic_text(&*panic)),
    };
    let age = lock(&shared.table).at.elapsed();
    tracing::warn!(
        ?age,
        "a lookup table could not be refreshed, the last one stays: {error}"
    );
    true
}

impl Stop {
    /// Waits; `false` when it is over.
    fn wait(&self, interval: Duration) -> bool {
        let stopped = lock(&self.stopped);
        let (stopped, _) = self
            .changed
            .wait_timeout_while(stopped, interval, |stopped| !*stopped)
            .unwrap_or_else(PoisonError::into_inner);
        !*stopped
    }
}

impl<K, V> Clone for Lookup<K, V> {
    fn clone(&self) -> Self {
        Lookup {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K, V> fmt::Debug for Lookup<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = lock(&self.shared.table).table.len();
        f.debug_struct("Lookup")
            .field("entries", &entries)
            .finish_non_exhaustive()
    }
}

/// Reads a [`Lookup`] on one thread.
pub struct LookupReader<K, V> {
    shared: Arc<Shared<K, V>>,
    table: Arc<HashMap<K, V>>,
    version: u64,
}

impl<K: Hash + Eq, V> LookupReader<K, V> {
    /// The value of a key, from the newest table: one atomic load, and a lock once after each refresh.
    pub fn get<Q>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.table().get(key)
    }

    /// The newest table.
    pub fn table(&mut self) -> &HashMap<K, V> {
        let version = self.shared.version.load(Ordering::Acquire);
        if version != self.version {
            self.table = Arc::clone(&lock(&self.shared.table).table);
            self.version = version;
        }
        &self.table
    }
}

impl<K, V> fmt::Debug for LookupReader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupReader")
            .field("entries", &self.table.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts its calls; fails and panics when it is told to.
    fn loader(
        calls: &Arc<AtomicUsize>,
    ) -> impl FnMut() -> Result<HashMap<&'static str, usize>, std::io::Error> + Send + 'static {
        let calls = Arc::clone(calls);
        move || match calls.fetch_add(1, Ordering::SeqCst) {
            2 => Err(std::io::Error::other("the database is away")),
            3 => panic!("in the loader"),
            n => Ok(HashMap::from([("n", n)])),
        }
    }

    fn until(what: &str, mut done: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !done() {
            assert!(Instant::now() < end, "never: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_reader_sees_the_newest_table_and_failures_keep_the_last_good_one() {
        let calls = Arc::new(AtomicUsize::new(0));
        let lookup = Lookup::refreshed_every(Duration::from_millis(1), loader(&calls)).unwrap();
        let mut reader = lookup.reader();
        let mut seen = Vec::new();
        until("the table after the failures", || {
            let n = *reader.get("n").unwrap();
            seen.push(n);
            n > 4
        });
        assert!(
            seen.is_sorted() && !seen.contains(&2) && !seen.contains(&3),
            "{seen:?}"
        );
        assert_eq!(reader.get("m"), None);
    }

    #[test]
    fn the_refreshing_thread_ends_with_the_last_reader() {
        let calls = Arc::new(AtomicUsize::new(4));
        let lookup = Lookup::refreshed_every(Duration::from_millis(1), loader(&calls)).unwrap();
        let reader = lookup.reader();
        drop(lookup);
        let before = calls.load(Ordering::SeqCst);
        until("a reader keeps it going", || {
            calls.load(Ordering::SeqCst) > before + 1
        });
        drop(reader);
        // The loader goes with the thread that owns it.
        until("the thread ends", || Arc::strong_count(&calls) == 1);
    }

    #[test]
    fn a_table_that_cannot_be_loaded_at_start_is_an_error() {
        let load = || Err::<HashMap<u8, u8>, _>(std::io::Error::other("no such table"));
        let error = Lookup::refreshed_every(Duration::from_secs(1), load).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the lookup table could not be loaded: no such table"
        );
    }
}
