//! What a pipeline's module usually needs: `use spate::prelude::*;`.

pub use std::process::ExitCode;

pub use crate::StageError;
pub use crate::pipeline;

#[cfg(feature = "avro")]
pub use crate::AvroRecord;
#[cfg(feature = "clickhouse")]
pub use crate::Row;
#[cfg(feature = "avro")]
pub use spate_avro::{Seq, TimestampMillis};
#[cfg(feature = "clickhouse")]
pub use spate_clickhouse::{Date, DateTime, DateTime64Millis};
