//! Why a run has no outcome.

use std::path::PathBuf;

use spate_test::services::ServiceError;

/// What keeps a run from its end; a broken promise is an outcome and none of these.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A server failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A call of the Kafka client failed.
    #[error("Kafka: {action} failed: {source}")]
    Kafka {
        /// What was tried.
        action: &'static str,
        /// librdkafka's error.
        source: rdkafka::error::KafkaError,
    },
    /// What was produced is not known.
    #[error("the producer: {0}")]
    Producer(String),
    /// The topic does not end where the delivery reports say it does.
    #[error(
        "partition {partition} ends at {end}, but what was acknowledged ends at {acknowledged}: the broker has lost or doubled records"
    )]
    Topic {
        /// The partition.
        partition: usize,
        /// Its end.
        end: i64,
        /// The offset behind the last delivery report.
        acknowledged: i64,
    },
    /// The table's answer cannot be read.
    #[error("ClickHouse answered the auditor with {0:?}")]
    Answer(String),
    /// The last look at commits and table did not come about.
    #[error("the servers do not answer the auditor: {0}")]
    Unaudited(String),
    /// A file cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SIGINT or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Interrupted => 130,
            _ => 2,
        }
    }

    pub(crate) fn kafka(action: &'static str) -> impl FnOnce(rdkafka::error::KafkaError) -> Error {
        move |source| Error::Kafka { action, source }
    }
}
