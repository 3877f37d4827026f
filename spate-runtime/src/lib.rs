//! The engine of Spate: records, acknowledgements, checkpoints, backpressure and drain.
//!
//! Applications name the `spate` crate; connectors implement the traits of [`source`], [`decode`] and [`sink`].
//! The way of a record through these modules is in `ARCHITECTURE.md`.

pub mod ack;
pub mod capture;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod decode;
pub mod discard;
pub mod engine;
pub mod error;
pub mod exit;
pub mod failure;
pub mod graph;
mod hash;
mod limits;
#[cfg(feature = "machines")]
#[doc(hidden)]
pub mod machines;
pub mod memory;
pub mod ops;
mod output;
pub mod pipeline;
pub mod record;
pub mod runtime;
pub mod scratch;
pub mod sink;
pub mod source;
pub mod stage;
pub mod stats;
mod sync;
pub mod telemetry;
mod thread;
pub mod time;
pub mod value;

pub use error::StageError;
pub use output::{Output, SinkOutput};
pub use thread::{DriveEnd, Thread};
