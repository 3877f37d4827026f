//! Servers for tests: each starts on a free port of 127.0.0.1, waits until it is ready, and ends when its owner ends,
//! also when the owner is killed.
//!
//! | service | what runs | needs |
//! | --- | --- | --- |
//! | [`ClickHouse`] | the ClickHouse engine (chDB) behind an HTTP front in Python | python3 |
//! | [`ApacheKafka`] | Apache Kafka, one node in KRaft mode | Java 17, Maven, python3 |
//! | [`SchemaRegistry`] | a stub of the registry's REST API, in this process | nothing |
//! | [`Program`] | a program of the test's own | python3 |
//! | `EmbeddedKafka` (feature `kafka`) | librdkafka's mock cluster, in this process | make, a C compiler |
//!
//! What the servers are made of is fetched once into a cache folder, see [`install_all`]. A server of one's own is
//! used instead when its variable is set: `SPATE_CLICKHOUSE_URL`, `SPATE_KAFKA_BROKERS`.

mod apache_kafka;
mod clickhouse;
mod clickhouse_client;
mod error;
mod install;
#[cfg(feature = "kafka")]
mod kafka;
mod maven;
mod place;
mod prerequisites;
mod process;
mod program;
mod python;
mod registry;
mod skip;

pub use apache_kafka::{ApacheKafka, ApacheKafkaOptions};
pub use clickhouse::{ClickHouse, ClickHouseOptions, Database, FaultKind};
pub use error::ServiceError;
pub use install::{cache_dir, install_all};
#[cfg(feature = "kafka")]
pub use kafka::{
    BROKER_ALL, EmbeddedKafka, KafkaApi, KafkaError, Producer, Record, Topic, add_partitions,
    committed_offsets, create_topic, delete_records, delete_topic, read_topic, watermarks,
};
pub use prerequisites::{Prerequisite, doctor};
pub use process::{Ended, Signal};
pub use program::{Program, ProgramOptions};
pub use registry::{Auth, Reference, SchemaRegistry, SchemaType};
pub use skip::{Service, clear_skips, require, skip_log, skipped, skips};
