//! What generated code names. Not an interface: it changes with the macros.

#[cfg(feature = "avro")]
pub use spate_macros::avro_schema_impl;
#[cfg(not(feature = "avro"))]
pub use spate_macros::avro_schema_off as avro_schema_impl;
pub use spate_macros::pipeline_impl;
pub use spate_runtime::capture::Capture;
pub use spate_runtime::decode::{Bytes, Decoder, decoder};
pub use spate_runtime::discard::Discard;
pub use spate_runtime::graph::{Graph, Mark};
pub use spate_runtime::memory::Memory;
pub use spate_runtime::pipeline::{Pipeline, PipelineBuilder, StageOptions, parameter};
pub use spate_runtime::record::{Batch, Meta, Record};
pub use spate_runtime::sink::{SinkWitness, sink};
pub use spate_runtime::{DriveEnd, Output, StageError, Thread, stage};

#[cfg(feature = "avro")]
pub use spate_avro as avro;
#[cfg(feature = "clickhouse")]
pub use spate_clickhouse as clickhouse;
#[cfg(feature = "kafka")]
pub use spate_kafka as kafka;
