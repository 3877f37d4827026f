//! The one error of the services: says what happened, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a service could not be installed, started or asked. Cloneable, because a shared service reports the same failure
/// to every test.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// A program that the service needs is not on this machine.
    #[error("{what} is needed and missing ({detail}); install it with `{install}`")]
    Missing {
        /// What is missing, with its lowest version.
        what: String,
        /// What was found instead.
        detail: String,
        /// The command that installs it.
        install: String,
    },
    /// Fetching or unpacking a service's files failed.
    #[error("cannot install {what}: {detail}")]
    Install {
        /// What was being installed.
        what: String,
        /// The failing command and the end of its output.
        detail: String,
    },
    /// The service ended or was not ready in time.
    #[error("{service} did not start: {reason}; the end of its log:\n{log}")]
    Start {
        /// Which service.
        service: &'static str,
        /// What was waited for, and how the wait ended.
        reason: String,
        /// The last lines of the log.
        log: String,
    },
    /// The service is stopped (or an external one, which this process cannot stop).
    #[error("{service}: {detail}")]
    State {
        /// Which service.
        service: &'static str,
        /// Why the call is impossible now.
        detail: String,
    },
    /// No answer, or none that can be read.
    #[error("{service} at {url} gave no answer: {detail}")]
    Unreachable {
        /// Which service.
        service: &'static str,
        /// Where it should be.
        url: String,
        /// The transport's error.
        detail: String,
    },
    /// ClickHouse refused a statement.
    #[error("ClickHouse refused the statement (HTTP {status}): {message}")]
    Query {
        /// HTTP status of the answer.
        status: u16,
        /// ClickHouse's error code, when the answer has one.
        code: Option<u32>,
        /// The whole text of the answer.
        message: String,
    },
    /// A Kafka client call failed.
    #[error("Kafka at {brokers}: {action} failed: {detail}")]
    Kafka {
        /// The bootstrap servers.
        brokers: String,
        /// What was tried.
        action: String,
        /// librdkafka's error.
        detail: String,
    },
    /// A file or process operation failed.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The operation, a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
}

impl ServiceError {
    /// ClickHouse's error code, when ClickHouse answered with one.
    pub fn code(&self) -> Option<u32> {
        match self {
            ServiceError::Query { code, .. } => *code,
            _ => None,
        }
    }

    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> ServiceError {
        let path = path.as_ref().to_owned();
        move |source| ServiceError::Io {
            action,
            path,
            source: Arc::new(source),
        }
    }

    pub(crate) fn state(service: &'static str, detail: impl Into<String>) -> ServiceError {
        ServiceError::State {
            service,
            detail: detail.into(),
        }
    }
}

/// The last lines of `text`, at most `lines` of them and about 4 kB.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut size = 0;
    for line in all.iter().rev().take(lines) {
        size += line.len();
        if size > 4096 && !kept.is_empty() {
            break;
        }
        kept.push(line);
    }
    kept.reverse();
    kept.join("\n")
}
