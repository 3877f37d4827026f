//! Every bound of the engine that is not a setting, in one place.

use std::time::Duration;

/// How long an idle driver sleeps before it looks at its lanes again, and how soon it retries a full queue.
pub(crate) const DRIVER_IDLE: Duration = Duration::from_millis(2);

/// How long the controller sleeps between two steps when nothing asks for it earlier.
pub(crate) const CONTROLLER_IDLE: Duration = Duration::from_millis(5);

/// How many source events the controller takes in one step, so that commits and deadlines are served in between.
pub(crate) const EVENTS_PER_STEP: usize = 64;

/// How soon a pause, a resume or a release that failed for a passing reason is made again.
pub(crate) const CALL_RETRY: Duration = Duration::from_millis(250);

/// How soon a commit that failed for a passing reason is made again.
pub(crate) const COMMIT_RETRY: Duration = Duration::from_millis(250);

/// How long a revocation may take to flush, settle and commit before the lanes are given back as they are. It stays far
/// below Kafka's default `max.poll.interval.ms` and session timeout, because the client is polled meanwhile.
pub(crate) const REVOKE_TIMEOUT: Duration = Duration::from_secs(20);

/// How often watermarks are looked at that may stand still; a stall is found so much later at the most.
pub(crate) const STALL_LOOK: Duration = Duration::from_secs(1);

/// After the drain's deadline: how long the controller waits for threads and workers to notice it, and for the last commit.
pub(crate) const ABORT_GRACE: Duration = Duration::from_secs(1);

/// After the drain's deadline: when the process stops to wait for threads and leaves behind what is stuck. It covers
/// `ABORT_GRACE` and the closing of the source.
pub(crate) const EXIT_GRACE: Duration = Duration::from_secs(3);

/// At most this many records skipped by one thread are logged ..
pub(crate) const SKIP_LOGS: u32 = 5;

/// .. in this time.
pub(crate) const SKIP_LOG_WINDOW: Duration = Duration::from_secs(10);

/// A row larger than this cannot be written: the chunk that holds it must fit into one insert's length fields.
pub(crate) const MAX_CHUNK_BYTES: usize = 1 << 30;

/// How often the start-up looks for a signal while it waits for a sink.
pub(crate) const START_POLL: Duration = Duration::from_millis(20);

/// The longest time that one look at a replica may take at start, so that a silent one is asked again.
pub(crate) const CHECK_ATTEMPT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, EngineConfig};
    use crate::source::CLOSE_LIMIT;

    #[test]
    fn the_default_drain_fits_into_a_grace_of_30_seconds() {
        let config = Config::from_yaml("{}").expect("an empty file");
        let config = EngineConfig::from(&config).expect("defaults");
        let most = config.checkpoint.drain_timeout + EXIT_GRACE;
        // With two seconds to spare for what is no wait: a busy machine, the report.
        assert!(most <= Duration::from_secs(28), "{most:?}");
        // The steps of it, and a second in which a stuck thread may still come back.
        assert!(ABORT_GRACE + CLOSE_LIMIT + Duration::from_secs(1) <= EXIT_GRACE);
    }
}
