//! The source against a broker in this process, driven without the engine; `apache.rs` against Apache Kafka.

#[cfg(feature = "it")]
mod apache;
mod assignment;
mod bytes;
mod compacted;
mod group;
mod harness;
mod hooks;
mod members;
mod outage;
mod overlap;
mod reading;
mod topics;
