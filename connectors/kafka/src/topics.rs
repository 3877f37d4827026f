//! The topics as the brokers know them: missing or forbidden ones are named, and one that was deleted and created anew is
//! noticed.
//!
//! The client says once, in one of its two group protocols, that a topic is not there, and never that it is there again. And
//! it goes on at its old position in a topic that was created anew, where that position is another record's. So the brokers
//! are asked from time to time, with one small request for all topics.
//!
//! A topic that is missing keeps no other from being read. It ends the pipeline when it has been missing for
//! `startup_timeout` and was never there, or for `assignment_timeout` and was: an answer that passes by (a broker that does
//! not know the newest metadata yet) is none of it, so only a fresh answer ends the waiting.
//!
//! A state machine without a client: [`Topics::due`] asks for a request, [`Topics::answer`] takes its answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::time::Time;

use crate::error::{ClientError, Code};

/// How often the brokers are asked.
const INTERVAL: Duration = Duration::from_secs(10);
/// The same while a topic is missing.
const INTERVAL_MISSING: Duration = Duration::from_secs(2);
/// A request without an answer is made again after this; the client gives up earlier and says so.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// A topic that stays missing is named again after this.
const QUIET: Duration = Duration::from_secs(60);

/// What a topic's creation gave it; 0 where the broker does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TopicId(pub(crate) u128);

/// A broker's answer about one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) topic: String,
    pub(crate) result: Result<TopicId, ClientError>,
}

/// What an answer brought up.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) troubles: Vec<ConnectorError>,
    /// Topics that were deleted and created anew.
    pub(crate) recreated: Vec<String>,
}

/// The topics of one source.
#[derive(Debug)]
pub(crate) struct Topics {
    /// Those that must be there; none if a pattern is read.
    listed: Vec<String>,
    startup_timeout: Duration,
    assignment_timeout: Duration,
    states: BTreeMap<String, State>,
    next: Time,
    asked: Option<Time>,
}

#[derive(Debug, Default)]
struct State {
    id: Option<TopicId>,
    /// Whether it was there, or had a lane.
    seen: bool,
    missing: Option<Missing>,
}

#[derive(Debug)]
struct Missing {
    since: Time,
    told: Option<Time>,
    code: Code,
    name: String,
}

impl Topics {
    /// A timeout of zero is none.
    pub(crate) fn new(
        listed: Vec<String>,
        startup_timeout: Duration,
        assignment_timeout: Duration,
    ) -> Self {
        Topics {
            listed,
            startup_timeout,
            assignment_timeout,
            states: BTreeMap::new(),
            next: Time::ZERO,
            asked: None,
        }
    }

    /// Whether it is time to ask.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.next
            && self
                .asked
                .is_none_or(|asked| now.since(asked) >= ANSWER_TIMEOUT)
    }

    /// The topics to ask for now: those that are listed and those of the lanes. There may be none.
    pub(crate) fn ask(&mut self, held: BTreeSet<String>, now: Time) -> Vec<String> {
        let mut names = held;
        self.states.retain(|name, state| {
            state.seen |= names.contains(name);
            names.contains(name) || self.listed.contains(name)
        });
        for name in &names {
            self.states.entry(name.clone()).or_default().seen = true;
        }
        names.extend(self.listed.iter().cloned());
        self.next = now.after(INTERVAL);
        self.asked = (!names.is_empty()).then_some(now);
        names.into_iter().collect()
    }

    /// A topic that had no lane gets some: whatever it was before, these read what it is now.
    pub(crate) fn begins(&mut self, topic: &str, now: Time) {
        self.states.insert(topic.to_owned(), State::default());
        self.next = self.next.min(now);
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// A topic has been missing for too long: fatal.
    pub(crate) fn answer(
        &mut self,
        answer: Result<Vec<Described>, ClientError>,
        now: Time,
    ) -> Result<News, ConnectorError> {
        self.asked = None;
        let mut news = News::default();
        // An outage is told elsewhere, and tells nothing of topics.
        for Described { topic, result } in answer.unwrap_or_default() {
            match result {
                Ok(id) => {
                    let state = self.states.entry(topic.clone()).or_default();
                    if state.missing.take().is_some() {
                        tracing::info!(topic, "the topic is there now");
                    }
                    state.seen = true;
                    if id.0 != 0 && state.id.replace(id).is_some_and(|before| before != id) {
                        news.recreated.push(topic);
                    }
                }
                Err(error) if error.code.is_of_topic() => {
                    news.troubles.extend(self.missing(&topic, &error, now));
                    self.check(&topic, now)?;
                }
                Err(_) => {}
            }
        }
        if self.states.values().any(|state| state.missing.is_some()) {
            self.next = now.after(INTERVAL_MISSING);
        }
        Ok(news)
    }

    /// The client says that a topic is not there or may not be read; what is to be told.
    pub(crate) fn missing(
        &mut self,
        topic: &str,
        error: &ClientError,
        now: Time,
    ) -> Option<ConnectorError> {
        let state = self.states.entry(topic.to_owned()).or_default();
        let missing = state.missing.get_or_insert_with(|| Missing {
            since: now,
            told: None,
            code: error.code,
            name: error.name.clone(),
        });
        (missing.code, missing.name) = (error.code, error.name.clone());
        self.next = self.next.min(now.after(INTERVAL_MISSING));
        if missing.told.is_some_and(|told| now.since(told) < QUIET) {
            return None;
        }
        missing.told = Some(now);
        Some(ConnectorError::retryable(missing.text(topic)))
    }

    /// The listed topic that a text of the client names: `Subscribed topic not available: NAME: Broker: ..`.
    pub(crate) fn named(&self, text: &str) -> Option<String> {
        let named = |topic: &&String| text.contains(&format!(": {topic}: "));
        self.listed.iter().find(named).cloned()
    }

    #[cfg(all(test, feature = "it"))]
    pub(crate) fn knows(&self, topic: &str) -> bool {
        self.states
            .get(topic)
            .is_some_and(|state| state.id.is_some())
    }

    /// Whether a topic is missing now.
    pub(crate) fn is_missing(&self, topic: &str) -> bool {
        self.states
            .get(topic)
            .is_some_and(|state| state.missing.is_some())
    }

    /// What is wrong with the topics that are missing.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let text = |(topic, state): (&String, &State)| Some(state.missing.as_ref()?.text(topic));
        self.states.iter().filter_map(text).collect()
    }

    fn check(&self, topic: &str, now: Time) -> Result<(), ConnectorError> {
        let Some(State {
            seen,
            missing: Some(missing),
            ..
        }) = self.states.get(topic)
        else {
            return Ok(());
        };
        let (timeout, setting) = if *seen {
            (self.assignment_timeout, "assignment_timeout")
        } else {
            (self.startup_timeout, "startup_timeout")
        };
        if timeout.is_zero() || now.since(missing.since) < timeout {
            return Ok(());
        }
        Err(ConnectorError::fatal(format!(
            "{}, for longer than {timeout:?} (`source.{setting}`)",
            missing.text(topic)
        )))
    }
}

impl Missing {
    fn text(&self, topic: &str) -> String {
        let name = &self.name;
        if self.code == Code::TOPIC_AUTHORIZATION_FAILED {
            format!(
                "this user may not read the topic `{topic}` ({name}): allow it to READ and DESCRIBE the topic"
            )
        } else {
            format!(
                "the topic `{topic}` does not exist on the brokers, or this user may not see it ({name})"
            )
        }
    }
}

#[cfg(test)]
mod tests;
