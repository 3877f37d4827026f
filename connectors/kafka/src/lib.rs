//! The Kafka source of Spate: librdkafka's consumer as a [`Source`](spate_runtime::source::Source), its partition queues
//! as lanes.
//!
//! One consumer per process and pipeline. The control plane (`source.rs`) takes the client's events from one queue and
//! never blocks; each assigned partition has a queue of its own, from which a driver reads whole batches whose payloads
//! stay in the client's buffers (`lane.rs`).
//!
//! - `config.rs`, `config/`, `passthrough.rs`: the `source` section and what it lets through to librdkafka.
//! - `kind.rs`: [`Kafka`], the stage.
//! - `source.rs`, `source/`: the control plane: joining, partitions that come and go, gaps, topics.
//! - `lanes.rs`, `start.rs`: the lanes that were given out, the offsets that they start from.
//! - `health.rs`, `topics.rs`: which errors are told, and when waiting for an assignment or a topic ends.
//! - `lane.rs`, `progress.rs`: the data plane, and what it shares with the control plane.
//! - `watch.rs`: partitions that are assigned and not fetched.
//! - `read_ahead.rs`: how much the client fetches ahead.
//! - `error.rs`: which error is fatal, and what is said about it.
//! - `client.rs`, `native/`: the client's life, and the only unsafe code.
//!
//! # Where reading starts
//!
//! At the committed offset of the group; where there is none, at `start_offset`. Where the next offset does not exist on the
//! broker any more, the pipeline stops, or reading goes on as `on_offset_gap` tells, with an error in the log that holds the
//! numbers. `docs/kafka.md` has the rules.
//!
//! # Memory
//!
//! The client reads ahead for each partition by itself: a mebibyte or 2,048 records, whichever comes first, and what one more
//! fetch brings (`read_ahead.rs`). A batch that a lane hands out has at most a mebibyte of payload, or one record.
//! `rdkafka: {queued.max.messages.kbytes: .., queued.min.messages: .., fetch.message.max.bytes: ..}` changes the former.

mod client;
mod config;
mod error;
mod health;
mod kind;
mod lane;
mod lanes;
mod native;
mod passthrough;
mod progress;
mod read_ahead;
mod source;
mod start;
mod topics;
mod watch;

pub use kind::Kafka;
