//! Every bound of the schema look-ups, in one place.

use std::time::Duration;

/// How long one request to the registry may take, unless configured.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a schema is asked for while the registry does not answer, unless configured.
pub(crate) const GIVE_UP_AFTER: Duration = Duration::from_secs(120);

/// The pause after a first failed request; it doubles.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause between requests, also where the registry asks for more.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long an id that the registry does not know, or not all that its schema refers to, is not asked for again.
pub(crate) const FORGET_UNKNOWN_AFTER: Duration = Duration::from_secs(30);

/// Requests at the same time.
pub(crate) const CONCURRENT_REQUESTS: usize = 4;

/// Ids that are remembered; noise that looks like ids must not fill the memory.
pub(crate) const REMEMBERED_IDS: usize = 4096;

/// Ids of the compiled schema that a thread knows without asking the shared table.
pub(crate) const IDS_PER_THREAD: usize = 16;

/// Schemas of other subjects that one schema may refer to, directly or not.
pub(crate) const REFERENCES: usize = 100;

/// The longest answer of a registry in bytes.
pub(crate) const ANSWER_BYTES: usize = 16 << 20;

const _: () = assert!(FIRST_PAUSE.as_millis() <= LONGEST_PAUSE.as_millis());
const _: () = assert!(CONCURRENT_REQUESTS < REMEMBERED_IDS);
