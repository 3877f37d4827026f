//! The servers that the pipeline talks to: started here, or the user's own.

use spate_test::services::{
    ClickHouse, ClickHouseOptions, EmbeddedKafka, SchemaRegistry, ServiceError, Topic, create_topic,
};

use crate::error::Error;
use crate::options::Options;
use crate::screen::Screen;

/// The topic's schema.
pub(crate) const SCHEMA: &str = include_str!("../../../schemas/flight.avsc");

/// Kafka with an empty topic, and a registry that knows the topic's schema. What was started ends with this.
pub(crate) struct Servers {
    /// What a Kafka client's `bootstrap.servers` takes.
    pub(crate) brokers: String,
    /// The registry; it is part of this process, whoever runs Kafka.
    pub(crate) registry: SchemaRegistry,
    /// The id of the topic's schema.
    pub(crate) schema_id: u32,
    _embedded: Option<EmbeddedKafka>,
}

/// Starts Kafka unless the user has one, creates the topic and registers its schema.
///
/// # Errors
/// A server does not start or answer, or the topic exists.
pub(crate) fn start(options: &Options, screen: &Screen) -> Result<Servers, Error> {
    let (topic, partitions) = (&options.topic, i32::from(options.partitions));
    let (brokers, embedded) = match &options.brokers {
        Some(brokers) => {
            screen.line(&format!("Creating the topic {topic} at {brokers} .."));
            create_topic(brokers, &Topic::new(topic, partitions)).map_err(|error| match error {
                ServiceError::Kafka { ref detail, .. } if detail.contains("already exists") => {
                    Error::Topic(error)
                }
                error => Error::Service(error),
            })?;
            (brokers.clone(), None)
        }
        None => {
            let kafka = EmbeddedKafka::start(1)?;
            kafka.create_topic(topic, partitions)?;
            (kafka.bootstrap_servers().to_owned(), Some(kafka))
        }
    };
    let whose = if embedded.is_some() {
        "in this process"
    } else {
        "yours"
    };
    let many = if partitions == 1 {
        "1 partition".to_owned()
    } else {
        format!("{partitions} partitions")
    };
    screen.fact(
        "Kafka",
        &format!("{brokers} ({whose}), topic {topic}, {many}"),
    );
    let registry = SchemaRegistry::start()?;
    let schema_id = registry.register(&format!("{topic}-value"), SCHEMA)?;
    screen.fact(
        "Schemas",
        &format!("{} (in this process), id {schema_id}", registry.url()),
    );
    Ok(Servers {
        brokers,
        registry,
        schema_id,
        _embedded: embedded,
    })
}

/// Starts ClickHouse unless the user has one.
///
/// # Errors
/// It does not start or answer; what is missing on this machine is named with the command that installs it.
pub(crate) fn start_clickhouse(options: &Options, screen: &Screen) -> Result<ClickHouse, Error> {
    let server = match &options.clickhouse {
        Some(url) => ClickHouse::external(url)?,
        None => {
            screen.line("Starting ClickHouse ..");
            ClickHouse::start(ClickHouseOptions::default()).map_err(Error::ClickHouse)?
        }
    };
    let version = server.query("SELECT version()")?;
    let whose = match server.pid() {
        Some(pid) => format!("process {pid}"),
        None => "yours".to_owned(),
    };
    screen.fact(
        "ClickHouse",
        &format!("{} ({whose}), version {version}", server.url()),
    );
    Ok(server)
}
