//! Spate: at-least-once ETL whose pipelines are compiled.
//!
//! A pipeline is written as one [`pipeline!`] block. The macro checks it at build time and expands it to one typed loop
//! per record, run by an engine that keeps acknowledgements, watermark commits, backpressure and drain.
//!
//! # A pipeline in memory, to its durable commit
//!
//! ```
//! use spate::prelude::*;
//! use std::time::Duration;
//!
//! spate::pipeline! {
//!     /// Lines that are no comments.
//!     lines(mark: u8) {
//!         memory
//!         -> bytes
//!         -> filter(|line| line.first() != Some(&mark))
//!         -> capture
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pipeline = lines(b'#');
//! let source = pipeline.memory_source().expect("the source is `memory`");
//! let sink = pipeline.capture_sink("capture").expect("the sink is `capture`");
//!
//! let config = spate::Config::from_yaml("checkpoint: { interval: 100ms }")?;
//! let runtime = pipeline.with_config(config)?.into_runtime(spate::RuntimeOptions::embedded())?;
//! let shutdown = runtime.shutdown_handle();
//! let run = std::thread::spawn(move || runtime.run());
//!
//! source.push(0, "one");
//! source.push(0, "# two");
//! source.push(0, "three");
//! source.assign_lanes(1);
//! assert!(source.wait_committed(0, 3, Duration::from_secs(10)));
//! assert_eq!(source.last_committed(0), Some(3)); // the next offset to read
//! assert_eq!(sink.lines(), ["one", "three"]);
//!
//! shutdown.shutdown();
//! let report = run.join().expect("the run returns");
//! assert_eq!(report.exit_code(), 0);
//! assert_eq!(report.stage("filter").map(|stage| stage.dropped), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `kafka` | the `kafka` source (librdkafka; needs a C compiler and make) |
//! | `avro-tls` | TLS to the schema registry (rustls) |
//! | `avro-container` | Avro container files (`avro::container`) |
//! | `kafka-tls` | TLS and SASL for it (OpenSSL, built from source; needs perl) |
//! | `avro` | the `avro` decoder, `#[derive(AvroRecord)]`, `AvroEnum` and `AvroUnion`, `avro_schema!` |
//! | `avro-chrono`, `avro-time` | dates and times are also read into the types of these crates |
//! | `avro-uuid`, `avro-rust-decimal` | UUIDs and decimals are also read into the types of these crates |
//! | `avro-value` | `avro::Value`: Avro records without a compiled schema, the slow path (apache-avro) |
//! | `clickhouse` | the `clickhouse` sink and `#[derive(Row)]` |
//! | `jemalloc` | jemalloc for Rust and C code |
//! | `full` | all stages; `avro-container`, `avro-tls`, `avro-value`, `kafka-tls`, `jemalloc` and the types of other crates are apart |

// Before `__private`: of the hidden paths to what generated code calls rustc shows the first, and `spate::stage::map` is one to read.
#[doc(hidden)]
pub use spate_runtime::{capture::Capture, pipeline::PipelineBuilder, pipeline::parameter, stage};

#[cfg(feature = "kafka")]
#[doc(hidden)]
pub use spate_kafka::Kafka;

#[doc(hidden)]
pub mod __private;
mod front;
pub mod prelude;

pub use spate_runtime::capture::{CaptureRow, CaptureSink, CaptureWrite};
pub use spate_runtime::cli::main;
pub use spate_runtime::config::{self, Config, ConfigError};
pub use spate_runtime::exit::ExitReport;
pub use spate_runtime::failure::Failure;
pub use spate_runtime::graph::{Arm, Edge, Graph, Mark, Node, NodeKind, OnError};
pub use spate_runtime::memory::{MemoryRecord, MemorySource};
pub use spate_runtime::pipeline::Pipeline;
pub use spate_runtime::record::{Headers, Meta};
pub use spate_runtime::runtime::{
    ConfiguredPipeline, Runtime, RuntimeOptions, ShutdownHandle, StartError,
};
pub use spate_runtime::{StageError, ops, stats, telemetry};

#[cfg(feature = "clickhouse")]
pub use spate_macros::Row;
#[cfg(not(feature = "clickhouse"))]
#[doc(hidden)]
pub use spate_macros::RowOff as Row;
#[cfg(feature = "avro")]
pub use spate_macros::{AvroEnum, AvroRecord, AvroUnion};
#[cfg(not(feature = "avro"))]
#[doc(hidden)]
pub use spate_macros::{
    AvroEnumOff as AvroEnum, AvroRecordOff as AvroRecord, AvroUnionOff as AvroUnion,
};

/// What connectors are made of: the contracts of sources, decoders and sinks.
pub mod connector {
    pub use spate_runtime::config::{OpenError, Section};
    pub use spate_runtime::{decode, error, record, scratch, sink, source, time};
}

/// The Avro decoder's types.
#[cfg(feature = "avro")]
pub mod avro {
    pub use spate_avro::*;

    // Apart from the others, so that rustc names this feature where it is off.
    #[cfg(feature = "avro-value")]
    #[doc(inline)]
    pub use spate_avro::value::Value;
}

/// The ClickHouse sink's types.
#[cfg(feature = "clickhouse")]
pub mod clickhouse {
    pub use spate_clickhouse::*;
}

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
