//! Small helpers for the closures of a pipeline, that people write by hand again and again.
//!
//! - [`Recent`]: has this key been seen lately?
//! - [`Sample`]: one record in so many, by count or by key.
//! - [`RateLimit`]: so many a second, and no more.
//! - [`Lookup`]: a table that is refreshed in the background and read without locks.
//!
//! The first three are `let` states: each driver thread has its own, so their limits count per thread, and they start anew when
//! records may be read again. A [`Lookup`] is a parameter, shared by all threads.

mod lookup;
mod rate_limit;
mod recent;
mod sample;

pub use lookup::{Lookup, LookupError, LookupReader};
pub use rate_limit::RateLimit;
pub use recent::Recent;
pub use sample::Sample;
