//! How the source stands with its brokers: which errors are told, and when waiting for an assignment has to end.
//!
//! An outage is no failure while it may pass. But a pipeline that waits for its first assignment, or for one that it lost,
//! beyond the configured time ends with an error that quotes what the client said last.

use std::collections::BTreeMap;
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::time::Time;

use crate::error::{ClientError, Code, Stage};

/// The same error is not told again before this has passed.
const QUIET: Duration = Duration::from_secs(10);

/// What the client has said, and since when nothing has been assigned.
#[derive(Debug)]
pub(crate) struct Health {
    /// What is read, for texts.
    what: String,
    startup_timeout: Duration,
    assignment_timeout: Duration,
    waiting_since: Option<Time>,
    /// Whether there was an assignment before.
    joined: bool,
    last_error: Option<(Time, Code, String)>,
    /// What the client's log said last about a connection that broke.
    last_words: Option<(Time, String)>,
    told: BTreeMap<Code, Time>,
}

impl Health {
    /// `what` names what is read. A timeout of zero is none.
    pub(crate) fn new(
        what: String,
        startup_timeout: Duration,
        assignment_timeout: Duration,
    ) -> Self {
        Health {
            what,
            startup_timeout,
            assignment_timeout,
            waiting_since: None,
            joined: false,
            last_error: None,
            last_words: None,
            told: BTreeMap::new(),
        }
    }

    /// Nothing is assigned from now on.
    pub(crate) fn waits(&mut self, now: Time) {
        self.waiting_since.get_or_insert(now);
    }

    /// Whether an assignment is waited for.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    /// There is an assignment, if an empty one: other members have all partitions.
    pub(crate) fn assigned(&mut self) {
        self.waiting_since = None;
        self.joined = true;
    }

    /// Takes an error of the client; what is to be told, if anything.
    ///
    /// # Errors
    /// The error is fatal.
    pub(crate) fn take(
        &mut self,
        error: &ClientError,
        now: Time,
    ) -> Result<Option<ConnectorError>, ConnectorError> {
        match error.judge(Stage::Client, "Kafka") {
            None => Ok(None),
            Some(judged) if judged.is_retryable() => Ok(self.tell(error.code, judged, now)),
            Some(judged) => Err(judged),
        }
    }

    /// Takes a retryable error that was judged elsewhere; what is to be told.
    pub(crate) fn tell(
        &mut self,
        code: Code,
        error: ConnectorError,
        now: Time,
    ) -> Option<ConnectorError> {
        // That all brokers are down follows from what was said about each, which tells more.
        if code != Code::ALL_BROKERS_DOWN || self.last_error.is_none() {
            self.last_error = Some((now, code, error.message.clone()));
        }
        let told = self
            .told
            .get(&code)
            .is_some_and(|at| now.since(*at) < QUIET);
        if told {
            return None;
        }
        self.told.insert(code, now);
        Some(error)
    }

    /// Takes a retryable error that is told in any case.
    pub(crate) fn note(&mut self, error: &ConnectorError, now: Time) {
        self.last_error = Some((now, Code::NONE, error.message.clone()));
    }

    /// Takes what the client's log says about a connection that broke: sometimes it is all that it says.
    pub(crate) fn hear(&mut self, text: &str, now: Time) {
        self.last_words = Some((now, text.to_owned()));
    }

    /// The last thing that tells why, and when it was said.
    pub(crate) fn reason(&self) -> Option<(Time, &str)> {
        let error = self.last_error.as_ref();
        let telling = error.filter(|(_, code, _)| *code != Code::ALL_BROKERS_DOWN);
        let words = self
            .last_words
            .as_ref()
            .map(|(at, text)| (*at, text.as_str()));
        telling
            .map(|(at, _, text)| (*at, text.as_str()))
            .or(words)
            .or(error.map(|(at, _, text)| (*at, text.as_str())))
    }

    /// Ends the waiting when its time is over; `topics` are the complaints about them.
    ///
    /// # Errors
    /// It is: fatal, told once.
    pub(crate) fn check(
        &mut self,
        now: Time,
        topics: impl FnOnce() -> Vec<String>,
    ) -> Result<(), ConnectorError> {
        let Some(since) = self.waiting_since else {
            return Ok(());
        };
        let (timeout, setting) = if self.joined {
            (self.assignment_timeout, "assignment_timeout")
        } else {
            (self.startup_timeout, "startup_timeout")
        };
        if timeout.is_zero() || now.since(since) < timeout {
            return Ok(());
        }
        self.waiting_since = None;
        let mut text = format!(
            "no partition of {} was assigned within {timeout:?} (`source.{setting}`)",
            self.what
        );
        for complaint in topics() {
            text.push_str("; ");
            text.push_str(&complaint);
        }
        match self.reason() {
            Some((at, error)) => {
                text.push_str(&format!(
                    "; the client's last error, {:.1?} before: {error}",
                    now.since(at)
                ));
                // A broker that wants TLS ends a connection without it and without a word.
                if error.contains("closed by peer") && error.contains("APIVERSION_QUERY") {
                    text.push_str("; does the broker want TLS? then set `source.tls`");
                }
            }
            None => text
                .push_str("; the client reported no error: are `source.brokers` the right ones?"),
        }
        Err(ConnectorError::fatal(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn health() -> Health {
        let topics = "`orders`, `lines`".to_owned();
        let mut health = Health::new(topics, Duration::from_secs(30), Duration::from_secs(300));
        health.waits(at(0));
        health
    }

    fn error(code: Code, reason: &str) -> ClientError {
        ClientError {
            code,
            name: "NAME".to_owned(),
            reason: reason.to_owned(),
            fatal: false,
        }
    }

    #[test]
    fn waiting_for_the_first_assignment_ends_with_the_last_error_and_its_age() {
        let mut health = health();
        let refused = error(Code(-195), "Connection refused");
        assert!(
            health
                .take(&refused, at(20))
                .is_ok_and(|told| told.is_some())
        );
        assert!(
            health
                .take(
                    &error(Code::ALL_BROKERS_DOWN, "1/1 brokers are down"),
                    at(21)
                )
                .is_ok()
        );
        assert!(health.check(at(29), Vec::new).is_ok());
        let text = health
            .check(at(30), Vec::new)
            .expect_err("the time is over")
            .message;
        for part in [
            "`orders`, `lines`",
            "30s",
            "source.startup_timeout",
            "10.0s before",
            "Connection refused",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("brokers are down"), "{text}");
        assert!(health.check(at(31), Vec::new).is_ok(), "it is told once");
    }

    #[test]
    fn the_log_is_quoted_where_the_errors_tell_nothing() {
        let mut health = health();
        let down = error(Code::ALL_BROKERS_DOWN, "1/1 brokers are down");
        assert!(health.take(&down, at(1)).is_ok());
        health.hear("connecting to a SSL listener?", at(2));
        let text = health
            .check(at(30), Vec::new)
            .expect_err("it is over")
            .message;
        assert!(text.contains("28.0s before: connecting to a SSL"), "{text}");
    }

    #[test]
    fn what_is_wrong_with_the_topics_is_told_too() {
        let mut health = health();
        let complaint = || vec!["`lines` does not exist".to_owned()];
        let text = health
            .check(at(30), complaint)
            .expect_err("the time is over")
            .message;
        assert!(text.contains("; `lines` does not exist"), "{text}");
    }

    #[test]
    fn an_empty_assignment_ends_the_waiting() {
        let mut health = health();
        health.assigned();
        assert!(health.check(at(10_000), Vec::new).is_ok());
    }

    #[test]
    fn an_assignment_that_never_comes_back_ends_the_pipeline() {
        let mut health = health();
        health.assigned();
        health.waits(at(100));
        health.waits(at(200));
        assert!(health.check(at(399), Vec::new).is_ok());
        let text = health
            .check(at(400), Vec::new)
            .expect_err("the time is over")
            .message;
        assert!(
            text.contains("source.assignment_timeout") && text.contains("no error"),
            "{text}"
        );
    }

    #[test]
    fn a_timeout_of_zero_is_none() {
        let mut health = Health::new("t".to_owned(), Duration::ZERO, Duration::ZERO);
        health.waits(at(0));
        assert!(health.check(at(1_000_000), Vec::new).is_ok());
    }

    #[test]
    fn the_same_error_is_told_once_in_a_while() {
        let mut health = health();
        let told: Vec<u64> = (0..25)
            .filter(|&second| {
                health
                    .take(&error(Code(-195), "down"), at(second))
                    .is_ok_and(|told| told.is_some())
            })
            .collect();
        assert_eq!(told, [0, 10, 20]);
    }
}
