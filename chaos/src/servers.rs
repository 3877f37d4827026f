//! The servers of a run, and the configuration of the pipeline that talks to them.

use std::fs;
use std::path::{Path, PathBuf};

use spate_test::services::{
    ApacheKafka, ApacheKafkaOptions, ClickHouse, ClickHouseOptions, SchemaRegistry,
};

use crate::error::Error;
use crate::options::Assignment;
use crate::screen::Screen;

pub(crate) const PARTITIONS: i32 = 12;
pub(crate) const TOPIC: &str = "events";
pub(crate) const GROUP: &str = "events-etl";

const PROPERTIES: [(&str, &str); 5] = [
    // So that a killed broker is let in again soon.
    ("broker.session.timeout.ms", "6000"),
    // As the classic groups have it in the configuration of their members.
    ("group.consumer.min.session.timeout.ms", "6000"),
    ("group.consumer.session.timeout.ms", "10000"),
    ("group.consumer.min.heartbeat.interval.ms", "500"),
    ("group.consumer.heartbeat.interval.ms", "1000"),
];

/// The environment variable with a process's own name in the group.
pub(crate) const INSTANCE: &str = "CHAOS_INSTANCE";

const SCHEMA: &str = include_str!("../schemas/event.avsc");
const TABLE: &str = include_str!("../sql/events.sql");

/// Everything that the pipeline talks to. What was started ends with this.
pub(crate) struct Servers {
    pub(crate) kafka: ApacheKafka,
    pub(crate) clickhouse: ClickHouse,
    pub(crate) registry: SchemaRegistry,
    /// The registry's id of the schema.
    pub(crate) schema_id: u32,
}

impl Servers {
    /// Starts them, with an empty topic and an empty table.
    pub(crate) fn start(screen: &Screen) -> Result<Servers, Error> {
        screen.line("starting Apache Kafka and ClickHouse ..");
        let kafka = ApacheKafka::start(ApacheKafkaOptions {
            properties: PROPERTIES
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..ApacheKafkaOptions::default()
        })?;
        kafka.create_topic(TOPIC, PARTITIONS)?;
        let clickhouse = ClickHouse::start(ClickHouseOptions::default())?;
        clickhouse.execute(TABLE)?;
        let registry = SchemaRegistry::start()?;
        let schema_id = registry.register(&format!("{TOPIC}-value"), SCHEMA)?;
        let version = clickhouse.query("SELECT version()")?;
        screen.line(&format!(
            "Kafka at {}, ClickHouse {version} at {}",
            kafka.bootstrap_servers(),
            clickhouse.url()
        ));
        Ok(Servers {
            kafka,
            clickhouse,
            registry,
            schema_id,
        })
    }

    /// Writes the configuration of the pipeline.
    pub(crate) fn write_config(
        &self,
        folder: &Path,
        assignment: Assignment,
    ) -> Result<PathBuf, Error> {
        let path = folder.join("pipeline.yaml");
        let classic = |strategy: &str| {
            format!(
                "{{ partition.assignment.strategy: \"{strategy}\", session.timeout.ms: 10000, heartbeat.interval.ms: 1000, \
                 reconnect.backoff.max.ms: 2000 }}"
            )
        };
        let group = match assignment {
            Assignment::Eager => format!("rdkafka: {}", classic("range,roundrobin")),
            Assignment::Cooperative => format!("rdkafka: {}", classic("cooperative-sticky")),
            Assignment::Static => format!(
                "group_instance_id: \"${{{INSTANCE}}}\"\n  rdkafka: {}",
                classic("cooperative-sticky")
            ),
            Assignment::Consumer => {
                "group_protocol: consumer\n  rdkafka: { reconnect.backoff.max.ms: 2000 }".to_owned()
            }
        };
        let (kafka, registry) = (self.kafka.bootstrap_servers(), self.registry.url());
        let (url, user) = (self.clickhouse.url(), self.clickhouse.user());
        // What a service in production has, with shorter intervals: more happens in less time.
        let text = format!(
            "pipeline: {{ name: chaos, threads: 2, pin: false, startup_timeout: 60s }}
checkpoint: {{ interval: 500ms, drain_timeout: 25s }}
source:
  brokers: [\"{kafka}\"]
  topics: [{TOPIC}]
  group_id: {GROUP}
  startup_timeout: 2m
  {group}
deserializer: {{ registry: {{ url: \"{registry}\" }} }}
sink:
  url: \"{url}\"
  user: {user}
  table: events
  timeouts: {{ end: 10s }}
  batch: {{ max_rows: 5000, linger: 250ms }}
  retry: {{ initial: 100ms, max: 2s, give_up_after: 2m }}
"
        );
        fs::write(&path, text).map_err(|source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }

    /// Copies the servers' logs into `folder`, as far as they are there.
    pub(crate) fn keep_logs(&self, folder: &Path) {
        for (log, name) in [
            (self.kafka.log(), "kafka.log"),
            (self.clickhouse.log(), "clickhouse.log"),
        ] {
            if let Some(log) = log {
                // Best effort: the run's outcome does not depend on it.
                let _ = fs::copy(log, folder.join(name));
            }
        }
    }
}
