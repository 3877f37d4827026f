//! Real and embedded services for tests and demos of Spate, none of which needs Docker.
//!
//! [`services`] starts Apache Kafka, ClickHouse and a schema registry on free loopback ports and ends them with the
//! process that asked for them. [`scripted`] is a source and a sink that do what a test says. [`http`] is a scripted HTTP server for answers that a real server gives too rarely.
//! [`avro`] writes payloads by hand, [`page`] holds documentation to the code.

pub mod avro;
pub mod http;
pub mod page;
pub mod scripted;
pub mod services;
pub mod sim;
