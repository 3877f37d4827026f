//! The type of the `kafka` source, so that pipelines which read Kafka are checked without building its client.

use spate_runtime::config::{OpenError, Section};
use spate_runtime::error::ConnectorError;
use spate_runtime::source::{OpenContext, Source, SourceKind};

/// The stage `kafka`.
#[derive(Debug)]
pub struct Kafka;

impl SourceKind for Kafka {
    const KIND: &'static str = "kafka";

    fn open(_: &Section, _: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        Err(ConnectorError::fatal("this `kafka` exists for its type alone").into())
    }
}
