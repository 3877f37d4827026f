//! What a pipeline's module usually needs: `use spate::prelude::*;`.

pub use std::process::ExitCode;

// The derives are there even if they only say which feature is off.
pub use crate::pipeline;
pub use crate::{AvroEnum, AvroRecord, AvroUnion, Row, StageError};

#[cfg(feature = "avro")]
pub use spate_avro::{Seq, TimestampMillis};
#[cfg(feature = "clickhouse")]
pub use spate_clickhouse::{Date, DateTime, DateTime64Millis};
