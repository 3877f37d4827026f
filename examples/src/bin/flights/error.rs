//! Everything that can end the demo early, each with what to do about it.

use spate::config::ConfigError;
use spate::{ExitReport, StartError};
use spate_test::services::ServiceError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// ClickHouse could not be started on this machine.
    #[error("{0}\n(or use a ClickHouse of your own: --clickhouse http://host:8123)")]
    ClickHouse(ServiceError),
    /// The topic could not be created.
    #[error(
        "{0}\n(the demo fills a topic of its own: name another with --topic, or delete this one)"
    )]
    Topic(ServiceError),
    /// A server failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A file of figures cannot be used.
    #[error("{0}: {1}\n(--truth takes a file like examples/data/flights-truth.json)")]
    Truth(String, String),
    /// The data set cannot be read.
    #[error("the data set (examples/data/flights-2013-01.csv.gz) is damaged: {0}")]
    Data(#[from] csv::Error),
    /// The schema does not fit the data set.
    #[error("a flight cannot be written by the schema examples/schemas/flight.avsc: {0}")]
    Avro(#[from] apache_avro::Error),
    /// The topic does not hold what was sent.
    #[error("the topic holds {held} of {sent} flights; the broker removes what it has no room for")]
    Lost {
        /// In the topic now.
        held: i64,
        /// Sent to it.
        sent: u64,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The pipeline did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The pipeline ended with a failure.
    #[error("{0}")]
    Pipeline(Box<ExitReport>),
    /// The pipeline makes no progress.
    #[error(
        "nothing was committed for {seconds} s, {committed} of {total} flights are; RUST_LOG=info tells more"
    )]
    Stalled {
        /// How long.
        seconds: u64,
        /// Flights committed.
        committed: u64,
        /// Flights in the topic.
        total: u64,
    },
    /// A thread could not be started.
    #[error("no thread could be started: {0}")]
    Thread(std::io::Error),
    /// The pipeline's thread panicked.
    #[error("the pipeline panicked; this is a defect, please report it")]
    Panic,
    /// The table's answer has another shape.
    #[error("ClickHouse answered the report's query with {0:?}")]
    Answer(String),
    /// SIGINT or SIGTERM.
    #[error("interrupted; {committed} of {total} flights are committed")]
    Interrupted {
        /// Flights committed.
        committed: u64,
        /// Flights in the topic.
        total: u64,
    },
}

impl Error {
    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Interrupted { .. } => 130,
            Error::Truth(..) => 2,
            _ => 1,
        }
    }
}
