//! The `source` section of a Kafka pipeline: read, checked, and turned into the client's settings.
//!
//! Nothing is connected here. Every value may be a secret: no error and no `Debug` shows one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaConfRes;
use spate_runtime::config::{ConfigError, Secret, Section, duration};

use crate::{passthrough, read_ahead};

mod security;
mod subscription;

use security::{Sasl, Tls};
use subscription::Names;
pub(crate) use subscription::Subscription;

/// Where reading starts on a partition for which the group has committed no offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StartOffset {
    /// At the oldest record. The default.
    #[default]
    Earliest,
    /// Behind the newest record: only what is produced from then on; `start.rs` tells for which partitions. The offset is
    /// committed before anything is read, so that another member that takes the partition over goes on from there.
    Latest,
    /// The pipeline stops.
    Fail,
}

/// What happens where the next offset to read no longer exists on the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnOffsetGap {
    /// The pipeline stops with the numbers. The default.
    #[default]
    Fail,
    /// Reading goes on at the oldest record.
    Earliest,
    /// Reading goes on behind the newest record.
    Latest,
}

/// How the members of the group share its partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GroupProtocol {
    /// A member that leads the group assigns. The default.
    #[default]
    Classic,
    /// The broker assigns (Apache Kafka 4).
    Consumer,
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
    #[serde(default)]
    topic_pattern: Option<String>,
    group_id: String,
    #[serde(default)]
    group_instance_id: Option<String>,
    #[serde(default)]
    group_protocol: GroupProtocol,
    #[serde(default)]
    start_offset: StartOffset,
    #[serde(default)]
    on_offset_gap: OnOffsetGap,
    #[serde(default = "default_startup_timeout", with = "duration")]
    startup_timeout: Duration,
    #[serde(default = "default_assignment_timeout", with = "duration")]
    assignment_timeout: Duration,
    #[serde(default)]
    tls: Option<Tls>,
    #[serde(default)]
    sasl: Option<Sasl>,
    #[serde(default)]
    rdkafka: BTreeMap<String, Secret>,
}

const fn default_startup_timeout() -> Duration {
    Duration::from_secs(30)
}

const fn default_assignment_timeout() -> Duration {
    Duration::from_secs(300)
}

/// The section, checked.
pub(crate) struct Settings {
    pub(crate) subscription: Subscription,
    pub(crate) group_id: String,
    pub(crate) start_offset: StartOffset,
    pub(crate) group_protocol: GroupProtocol,
    pub(crate) startup_timeout: Duration,
    pub(crate) assignment_timeout: Duration,
    /// Only records of committed transactions are read; librdkafka's default.
    pub(crate) read_committed: bool,
    client: ClientConfig,
    /// The names of what `rdkafka:` sets.
    given: BTreeSet<String>,
    /// Whatever `rdkafka:` sets, and secrets; kept out of every error.
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
        let subscription =
            Subscription::read(section, config.topic, config.topics, config.topic_pattern)?;
        let named = |key: &str, name: &str, what: &str| {
            if name.is_empty() || name.contains('\0') {
                return Err(section.error(key, format!("expected {what}")));
            }
            Ok(())
        };
        named(
            "group_id",
            &config.group_id,
            "the name of the consumer group",
        )?;
        let consumer = config.group_protocol == GroupProtocol::Consumer;
        for (key, value) in &config.rdkafka {
            if let Err(message) = passthrough::check(key, value.expose(), consumer) {
                return Err(section.error(&format!("rdkafka.{key}"), message));
            }
        }
        let mut values: Vec<String> = config
            .rdkafka
            .values()
            .map(|value| value.expose().to_owned())
            .collect();
        let mut client = ClientConfig::new();
        client
            .set_log_level(RDKafkaLogLevel::Info)
            .set("client.id", "spate")
            // Kafka's own topics: a pattern that matched them would read what reading it commits.
            .set("topic.blacklist", "^__");
        for (key, value) in &config.rdkafka {
            client.set(key, value.expose());
        }
        if config.rdkafka.contains_key("debug") {
            client.set_log_level(RDKafkaLogLevel::Debug);
        }
        let (tls, sasl) = (config.tls.as_ref(), config.sasl.as_ref());
        security::apply(section, tls, sasl, &mut client, &mut values)?;
        let protocol = client.get("security.protocol").unwrap_or_default();
        let other = |broker: &String| {
            let prefix = broker.split_once("://").map(|(prefix, _)| prefix);
            prefix.is_some_and(|prefix| !prefix.eq_ignore_ascii_case(protocol))
        };
        if brokers.iter().any(other) {
            return Err(section.error(
                "brokers",
                "the protocol before `://` is not the one that `tls` and `sasl` make; remove it",
            ));
        }
        if let Some(instance) = &config.group_instance_id {
            named(
                "group_instance_id",
                instance,
                "a name that no other process of the group has",
            )?;
            client.set("group.instance.id", instance);
        }
        client
            .set("bootstrap.servers", brokers.join(","))
            .set("group.id", &config.group_id)
            .set(
                "group.protocol",
                if consumer { "consumer" } else { "classic" },
            )
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            // How far reading is at the end of a partition, behind what leaves no record.
            .set("enable.partition.eof", "true")
            // Start offsets are given with every assignment: this is for offsets that no longer exist.
            .set(
                "auto.offset.reset",
                match config.on_offset_gap {
                    OnOffsetGap::Fail => "error",
                    OnOffsetGap::Earliest => "earliest",
                    OnOffsetGap::Latest => "latest",
                },
            );
        let given = config.rdkafka.into_keys().collect();
        read_ahead::apply(&mut client, 0, &given);
        let settings = Settings {
            subscription,
            group_id: config.group_id,
            start_offset: config.start_offset,
            group_protocol: config.group_protocol,
            startup_timeout: config.startup_timeout,
            assignment_timeout: config.assignment_timeout,
            read_committed: true,
            client,
            given,
            values,
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

    /// What a client is made with that may be given so many partitions.
    pub(crate) fn client(&self, partitions: usize) -> ClientConfig {
        let mut client = self.client.clone();
        read_ahead::apply(&mut client, partitions, &self.given);
        client
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
            .field("subscription", &self.subscription)
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

#[cfg(test)]
mod tests;
