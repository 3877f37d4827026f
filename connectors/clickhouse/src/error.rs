//! What goes wrong between the sink and a server, whether it may pass, and what to do.
//!
//! One function decides the cause of a server's error ([`codes::cause`]); everything that happens on the way to the
//! server or back may pass.

mod codes;
mod exception;

use std::io;
use std::time::Duration;

use spate_runtime::error::{ConnectorError, ErrorClass};

use codes::Cause;
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
    #[error("the answer is not HTTP: {}", chain(.0))]
    NotHttp(#[source] hyper::Error),
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

/// What was asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// To tell of the table.
    Check,
    /// To store a block.
    Insert,
}

impl From<hyper::Error> for Error {
    fn from(error: hyper::Error) -> Self {
        if error.is_parse() {
            Error::NotHttp(error)
        } else {
            Error::Broken(error)
        }
    }
}

impl Error {
    /// Whether the engine may try again, and what a person can do.
    fn judge(&self, doing: Doing) -> (ErrorClass, &'static str) {
        use ErrorClass::{Fatal, Retryable};
        match self {
            Error::Refused { status, exception } => {
                let cause = codes::cause(exception.code, *status, &exception.text);
                (cause.class(), cause.advice())
            }
            Error::Connect(_) | Error::ConnectTimeout(_) => (
                Retryable,
                "see that the server runs and that the URL has its HTTP port (8123 as a rule)",
            ),
            Error::SendTimeout(_) | Error::EndTimeout(_) | Error::Broken(_) | Error::Closed
                if doing == Doing::Insert =>
            {
                (
                    Retryable,
                    "the block may have been stored all the same; it is sent again under the same deduplication token",
                )
            }
            Error::SendTimeout(_)
            | Error::EndTimeout(_)
            | Error::Broken(_)
            | Error::Closed
            | Error::NotHttp(_) => (Retryable, Cause::Port.advice()),
            Error::Unframed | Error::Unconfirmed { .. } | Error::Garbled(_) => {
                (Retryable, Cause::Proxy.advice())
            }
            Error::NoTable => (Fatal, Cause::Table.advice()),
            Error::Columns(_) => (
                Fatal,
                "change the row type or the table so that they agree, and build again",
            ),
            Error::TooLong => (Fatal, "use shorter column names or fewer settings"),
        }
    }

    /// The engine's error; the engine says where it happened.
    pub(crate) fn into_connector(self, doing: Doing) -> ConnectorError {
        let (class, advice) = self.judge(doing);
        ConnectorError {
            class,
            message: format!("{self}; {advice}"),
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
