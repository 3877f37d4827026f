//! The taxonomy of errors: what may be retried, what concerns one record, what stops the pipeline.

use std::fmt;

/// What the engine does about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// May pass by itself: retried within the configured times.
    Retryable,
    /// Concerns one record only: the stage's `on_error` decides.
    Record,
    /// Will not pass: the pipeline stops with exit code 1.
    Fatal,
}

/// The error of a user's fallible stage: any error converts into it with `?`.
///
/// It does not implement [`std::error::Error`] itself, or the conversion from every error could not exist.
///
/// ```
/// use spate_runtime::StageError;
/// fn cents(text: &str) -> Result<i64, StageError> {
///     let cents: i64 = text.parse()?;
///     if cents < 0 {
///         return Err(StageError::new("negative amount"));
///     }
///     Ok(cents)
/// }
/// assert_eq!(cents("12").ok(), Some(12));
/// assert_eq!(cents("-1").unwrap_err().to_string(), "negative amount");
/// ```
pub struct StageError(Box<dyn std::error::Error + Send + Sync>);

impl StageError {
    /// An error with a text of its own.
    pub fn new(message: impl Into<String>) -> Self {
        StageError(message.into().into())
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for StageError {
    #[cold]
    fn from(error: E) -> Self {
        StageError(Box::new(error))
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl fmt::Debug for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A record could not be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(Box<dyn std::error::Error + Send + Sync>);

impl DecodeError {
    /// From the decoder's own error.
    #[cold]
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        DecodeError(error.into())
    }
}

/// A row could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RowError(Box<dyn std::error::Error + Send + Sync>);

impl RowError {
    /// From the encoder's own error.
    #[cold]
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        RowError(error.into())
    }
}

/// An error of a source or a sink, classified by its connector.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ConnectorError {
    /// What the engine does about it.
    pub class: ErrorClass,
    /// What happened and what to do, without secrets.
    pub message: String,
}

impl ConnectorError {
    /// An error that may pass.
    pub fn retryable(message: impl Into<String>) -> Self {
        ConnectorError {
            class: ErrorClass::Retryable,
            message: message.into(),
        }
    }

    /// An error that will not pass.
    pub fn fatal(message: impl Into<String>) -> Self {
        ConnectorError {
            class: ErrorClass::Fatal,
            message: message.into(),
        }
    }

    /// Whether the engine may try again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.class == ErrorClass::Retryable
    }
}
