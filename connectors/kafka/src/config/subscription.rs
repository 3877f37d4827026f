//! What is subscribed: topics by name, or a pattern of names.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use spate_runtime::config::{ConfigError, Section};

/// A list, or one text with commas between the names.
pub(super) struct Names(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of names")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Names, E> {
        Ok(Names(
            text.split(',').map(|name| name.trim().to_owned()).collect(),
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = items.next_element::<String>()? {
            if name.contains(',') {
                return Err(A::Error::custom(
                    "a name of the list contains a comma; write one name per item",
                ));
            }
            names.push(name.trim().to_owned());
        }
        Ok(Names(names))
    }
}

/// What is subscribed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subscription {
    Topics(Vec<String>),
    /// A regular expression that begins with `^`; it need not match to the end of a name.
    Pattern(String),
}

impl Subscription {
    pub(super) fn read(
        section: &Section,
        topic: Option<String>,
        topics: Option<Names>,
        pattern: Option<String>,
    ) -> Result<Subscription, ConfigError> {
        match (topics, topic, pattern) {
            (None, None, None) => Err(section.error(
                "topics",
                "missing; set `topics: [..]`, `topic`, `topic_pattern`, or `kafka(topic = \"..\")`",
            )),
            (Some(_), Some(_), None) => {
                Err(section.error("topics", "`topic` is set as well; set one of the two"))
            }
            (None, None, Some(pattern)) => {
                check_pattern(section, &pattern)?;
                Ok(Subscription::Pattern(pattern))
            }
            (_, _, Some(_)) => Err(section.error(
                "topic_pattern",
                "topics are listed as well; list the topics or write a pattern, not both",
            )),
            (Some(topics), None, None) => {
                check_topics(section, "topics", &topics.0)?;
                Ok(Subscription::Topics(topics.0))
            }
            (None, Some(topic), None) => {
                let topics = vec![topic];
                check_topics(section, "topic", &topics)?;
                Ok(Subscription::Topics(topics))
            }
        }
    }

    /// The topics that must be there.
    pub(crate) fn listed(&self) -> &[String] {
        match self {
            Subscription::Topics(topics) => topics,
            Subscription::Pattern(_) => &[],
        }
    }

    /// What the client subscribes to.
    pub(crate) fn entries(&self) -> Vec<&str> {
        match self {
            Subscription::Topics(topics) => topics.iter().map(String::as_str).collect(),
            Subscription::Pattern(pattern) => vec![pattern],
        }
    }
}

impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subscription::Pattern(pattern) => write!(f, "topics that match `{pattern}`"),
            Subscription::Topics(topics) => {
                for (index, topic) in topics.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}`{topic}`")?;
                }
                Ok(())
            }
        }
    }
}

fn check_pattern(section: &Section, pattern: &str) -> Result<(), ConfigError> {
    if pattern.len() < 2 || !pattern.starts_with('^') || pattern.contains('\0') {
        return Err(section.error(
            "topic_pattern",
            "a pattern of topics begins with `^`; to read one topic set `topic`",
        ));
    }
    Ok(())
}

fn check_topics(section: &Section, key: &str, topics: &[String]) -> Result<(), ConfigError> {
    if topics.is_empty() {
        return Err(section.error(key, "expected at least one topic"));
    }
    for (index, topic) in topics.iter().enumerate() {
        if topic.starts_with('^') {
            return Err(section.error(key, "a pattern of topics is set with `topic_pattern`"));
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if topic.is_empty()
            || topic.len() > 249
            || topic == "."
            || topic == ".."
            || !topic.chars().all(legal)
        {
            let message = "not a topic's name: 1 to 249 letters, digits, `.`, `_` or `-`";
            return Err(section.error(key, message));
        }
        if topics[..index].contains(topic) {
            return Err(section.error(key, "a topic is listed twice"));
        }
    }
    Ok(())
}
