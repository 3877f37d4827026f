//! The failure of a pipeline: the first one wins, and stops everything.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why a pipeline stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    place: String,
    message: String,
}

impl Failure {
    /// A failure at `place` (a stage with topic, partition and offset; a sink with its shard; the source).
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Failure {
            place: place.into(),
            message: message.into(),
        }
    }

    /// Where it happened.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What happened.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Failure {}

/// Keeps the first failure and counts the others.
#[derive(Debug, Default)]
pub struct FailureSlot {
    set: AtomicBool,
    first: Mutex<Option<Failure>>,
    further: AtomicU64,
}

impl FailureSlot {
    /// Records a failure; later ones are logged and counted.
    #[cold]
    pub fn set(&self, failure: Failure) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_some() {
            drop(first);
            self.further.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("a further failure while stopping: {failure}");
            return;
        }
        *first = Some(failure.clone());
        self.set.store(true, Ordering::Release);
        drop(first);
        // Outside of the lock: whatever the log output does, the failure stands.
        tracing::error!("the pipeline stops: {failure}");
    }

    /// How many failures came after the first one.
    #[must_use]
    pub fn further(&self) -> u64 {
        self.further.load(Ordering::Relaxed)
    }

    /// Whether there is one.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// The first failure.
    #[must_use]
    pub fn get(&self) -> Option<Failure> {
        self.first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned())
}
