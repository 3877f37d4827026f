//! The `source` section of a Kafka pipeline: read, checked, and turned into the client's settings.
//!
//! Nothing is connected here. Every value may be a secret: no error and no `Debug` shows one.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaConfRes;
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use spate_runtime::config::{ConfigError, Secret, Section, duration};

use crate::passthrough;

/// Where reading starts on a partition for which the group has committed no offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StartOffset {
    /// At the oldest record. The default.
    #[default]
    Earliest,
    /// Behind the newest record: only what is produced from then on. The offset is committed at once, so that another
    /// member that takes the partition over goes on from there.
    Latest,
    /// The pipeline stops. The same where a committed offset no longer exists on the broker.
    Fail,
}

/// The section as it is written; [`Kafka`](crate::Kafka) shows it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct KafkaConfig {
    brokers: Names,
    #[serde(default)]
    topic: Option<String>,
    #[serde(default)]
    topics: Option<Names>,
    group_id: String,
    #[serde(default)]
    start_offset: StartOffset,
    #[serde(default = "default_startup_timeout", with = "duration")]
    startup_timeout: Duration,
    #[serde(default = "default_assignment_timeout", with = "duration")]
    assignment_timeout: Duration,
    #[serde(default)]
    rdkafka: BTreeMap<String, Secret>,
}

const fn default_startup_timeout() -> Duration {
    Duration::from_secs(30)
}

const fn default_assignment_timeout() -> Duration {
    Duration::from_secs(300)
}

/// A list, or one text with commas between the names.
struct Names(Vec<String>);

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

/// The section, checked.
pub(crate) struct Settings {
    pub(crate) topics: Vec<String>,
    pub(crate) group_id: String,
    pub(crate) start_offset: StartOffset,
    pub(crate) startup_timeout: Duration,
    pub(crate) assignment_timeout: Duration,
    /// Only records of committed transactions are read; librdkafka's default.
    pub(crate) read_committed: bool,
    client: ClientConfig,
    /// Whatever `rdkafka:` sets; kept out of every error.
    values: Vec<String>,
}

impl Settings {
    /// Reads and checks the section.
    ///
    /// # Errors
    /// What is wrong, with the setting's dotted path.
    pub(crate) fn read(section: &Section) -> Result<Settings, ConfigError> {
        let config: KafkaConfig = section.parse()?;
        let brokers = config.brokers.0;
        if brokers.is_empty() || !brokers.iter().all(|broker| is_broker(broker)) {
            return Err(section.error("brokers", "expected one or more `host:port`"));
        }
        let topics = match (config.topics, config.topic) {
            (Some(_), Some(_)) => {
                return Err(section.error("topics", "`topic` is set as well; set one of the two"));
            }
            (Some(topics), None) => topics.0,
            (None, Some(topic)) => vec![topic],
            (None, None) => {
                return Err(section.error(
                    "topics",
                    "missing; set `topics: [..]`, `topic`, or `kafka(topic = \"..\")`",
                ));
            }
        };
        check_topics(section, &topics)?;
        if config.group_id.is_empty() || config.group_id.contains('\0') {
            return Err(section.error("group_id", "expected the name of the consumer group"));
        }
        for (key, value) in &config.rdkafka {
            if let Err(message) = passthrough::check(key, value.expose()) {
                return Err(section.error(&format!("rdkafka.{key}"), message));
            }
        }
        let mut client = ClientConfig::new();
        client
            .set_log_level(RDKafkaLogLevel::Info)
            .set("fetch.queue.backoff.ms", "5")
            .set("client.id", "spate");
        for (key, value) in &config.rdkafka {
            client.set(key, value.expose());
        }
        if config.rdkafka.contains_key("debug") {
            client.set_log_level(RDKafkaLogLevel::Debug);
        }
        client
            .set("bootstrap.servers", brokers.join(","))
            .set("group.id", &config.group_id)
            .set("group.protocol", "classic")
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("enable.partition.eof", "false")
            // Start offsets are given with every assignment: this is for offsets that no longer exist, and there only the
            // oldest record loses nothing that is still on the broker.
            .set(
                "auto.offset.reset",
                if config.start_offset == StartOffset::Fail {
                    "error"
                } else {
                    "earliest"
                },
            );
        let settings = Settings {
            topics,
            group_id: config.group_id,
            start_offset: config.start_offset,
            startup_timeout: config.startup_timeout,
            assignment_timeout: config.assignment_timeout,
            read_committed: true,
            client,
            values: config
                .rdkafka
                .into_values()
                .map(|value| value.expose().to_owned())
                .collect(),
        };
        settings.check_client(section)
    }

    /// Lets librdkafka look at every setting by itself, so that an error names the right one.
    fn check_client(mut self, section: &Section) -> Result<Settings, ConfigError> {
        match self.client.create_native_config() {
            Ok(native) => {
                let isolation = native.get("isolation.level");
                self.read_committed = isolation.is_ok_and(|level| level == "read_committed");
                Ok(self)
            }
            Err(KafkaError::ClientConfig(result, _, key, _)) => {
                let message = match result {
                    RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN => {
                        "librdkafka has no setting of this name"
                    }
                    _ => {
                        "librdkafka does not take this value; its CONFIGURATION.md lists what it takes"
                    }
                };
                Err(section.error(&format!("rdkafka.{key}"), message))
            }
            Err(_) => Err(section.error("rdkafka", "a name or a value contains a zero byte")),
        }
    }

    /// What the client is made with.
    pub(crate) fn client(&self) -> &ClientConfig {
        &self.client
    }

    /// The same without brokers: a client made with it connects to nothing.
    pub(crate) fn client_without_brokers(&self) -> ClientConfig {
        let mut client = self.client.clone();
        client.remove("bootstrap.servers");
        client
    }

    /// Takes whatever `rdkafka:` sets out of a text of the client.
    pub(crate) fn redact(&self, text: &str) -> String {
        passthrough::redact(text, &self.values)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("topics", &self.topics)
            .finish_non_exhaustive()
    }
}

/// `host:port` or `[v6]:port`, with an optional protocol before it.
fn is_broker(text: &str) -> bool {
    // The protocols that librdkafka knows; with another one it would ignore the broker.
    const PROTOCOLS: [&str; 4] = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"];
    let address = match text.split_once("://") {
        Some((protocol, address)) if PROTOCOLS.contains(&protocol.to_lowercase().as_str()) => {
            address
        }
        Some(_) => return false,
        None => text,
    };
    let port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    match address.rsplit_once(':') {
        Some((host, number)) => {
            let v6 = host.starts_with('[') && host.ends_with(']');
            !host.is_empty() && (v6 || !host.contains(':')) && !has_space(host) && port(number)
        }
        None => false,
    }
}

fn has_space(text: &str) -> bool {
    text.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn check_topics(section: &Section, topics: &[String]) -> Result<(), ConfigError> {
    if topics.is_empty() {
        return Err(section.error("topics", "expected at least one topic"));
    }
    for (index, topic) in topics.iter().enumerate() {
        if topic.starts_with('^') {
            return Err(section.error(
                "topics",
                "patterns of topics are not supported; list the topics",
            ));
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if topic.is_empty()
            || topic.len() > 249
            || topic == "."
            || topic == ".."
            || !topic.chars().all(legal)
        {
            let message = "not a topic's name: 1 to 249 letters, digits, `.`, `_` or `-`";
            return Err(section.error("topics", message));
        }
        if topics[..index].contains(topic) {
            return Err(section.error("topics", "a topic is listed twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
