//! What goes wrong between the sink and a server, whether it may pass, and what to do.
//!
//! One function decides the class of a server's error ([`codes::class`]); everything that happens on the way to the
//! server or back may pass.

mod codes;
mod exception;

use std::io;
use std::time::Duration;

use spate_runtime::error::{ConnectorError, ErrorClass};

pub(crate) use exception::Exception;

/// Why an attempt did not end in a confirmation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    #[error("no connection within {0:?} (`timeouts.connect`)")]
    ConnectTimeout(Duration),
    #[error("the server took nothing of the request for {0:?} (`timeouts.send`)")]
    SendTimeout(Duration),
    #[error("no complete answer within {0:?} of the request's end (`timeouts.end`)")]
    EndTimeout(Duration),
    #[error("the connection broke before the answer was complete: {}", chain(.0))]
    Broken(#[source] hyper::Error),
    #[error("the connection was closed before the request was sent")]
    Closed,
    #[error("the answer does not tell its length, so a part of it could be missing")]
    Unframed,
    #[error("{}", refusal(.status, .exception))]
    Refused { status: u16, exception: Exception },
    #[error("the answer confirms nothing: status {status} with a body that no insert has: {text}")]
    Unconfirmed { status: u16, text: String },
    #[error("the answer is not ClickHouse's: {0}")]
    Garbled(&'static str),
    #[error("the table does not exist, or the user may not see it")]
    NoTable,
    #[error("the compiled row and the table differ: {}", .0.join("; "))]
    Columns(Vec<String>),
    #[error("the statement and its token do not fit a URL")]
    TooLong,
}

impl Error {
    /// Whether the engine may try again, and what a person can do.
    fn judge(&self) -> (ErrorClass, &'static str) {
        match self {
            Error::Refused { status, exception } => {
                let (class, advice) = codes::class(exception.code, *status, &exception.text);
                if (300..400).contains(status) && exception.code.is_none() {
                    return (
                        class,
                        "redirects are not followed: give the server's own address in the URL",
                    );
                }
                (class, advice.text())
            }
            Error::Connect(_) | Error::ConnectTimeout(_) => (
                ErrorClass::Retryable,
                "see that the server runs and that the URL has its HTTP port (8123 as a rule)",
            ),
            Error::SendTimeout(_) | Error::EndTimeout(_) | Error::Broken(_) | Error::Closed => (
                ErrorClass::Retryable,
                "the block may have been stored all the same; it is sent again under the same deduplication token",
            ),
            Error::Unframed | Error::Unconfirmed { .. } | Error::Garbled(_) => (
                ErrorClass::Retryable,
                "see whether a proxy answers in place of the server",
            ),
            Error::NoTable => (ErrorClass::Fatal, codes::Advice::Table.text()),
            Error::Columns(_) => (
                ErrorClass::Fatal,
                "change the row type or the table so that they agree, and build again",
            ),
            Error::TooLong => (
                ErrorClass::Fatal,
                "use shorter column names or fewer settings",
            ),
        }
    }

    /// The engine's error. `place` names the shard's URL and the table, without credentials.
    pub(crate) fn into_connector(self, place: &str) -> ConnectorError {
        let (class, advice) = self.judge();
        ConnectorError {
            class,
            message: format!("clickhouse: {place}: {self}; {advice}"),
        }
    }
}

fn refusal(status: &u16, exception: &Exception) -> String {
    let mut text = String::from("the server answered ");
    match (exception.code, &exception.name) {
        (Some(code), Some(name)) => text.push_str(&format!("code {code} ({name})")),
        (Some(code), None) => text.push_str(&format!("code {code}")),
        (None, _) => text.push_str("without a code"),
    }
    text.push_str(&format!(", status {status}"));
    if !exception.text.is_empty() {
        text.push_str(": ");
        text.push_str(&exception.text);
    }
    text
}

/// The client library keeps the cause apart from the error.
fn chain(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
