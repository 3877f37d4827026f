//! The error of a configuration: where it is in the file, which setting it is about, what to do. Never a value.

use std::fmt;
use std::sync::Arc;

use super::node::Origin;

/// What is wrong with a configuration.
///
/// It reads `<file>:<line>:<column>: <dotted path>: <what is wrong and what to do>`. It holds no value of the file or of
/// the environment, since any of them may be a secret.
#[derive(Clone, thiserror::Error)]
pub struct ConfigError {
    file: Option<Arc<str>>,
    origin: Origin,
    path: String,
    message: String,
}

impl ConfigError {
    pub(crate) fn new(
        file: Option<Arc<str>>,
        origin: Origin,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        ConfigError {
            file,
            origin,
            path: path.into(),
            message: message.into(),
        }
    }

    /// The dotted path of the setting (`source.brokers`); empty if the whole file is meant.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line and column in the file, both counted from 1; `None` for what the file does not contain.
    #[must_use]
    pub fn position(&self) -> Option<(u32, u32)> {
        match self.origin {
            Origin::File { line, column } => Some((line, column)),
            Origin::Code | Origin::Absent => None,
        }
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.origin, &self.file) {
            (Origin::File { line, column }, Some(file)) => write!(f, "{file}:{line}:{column}: ")?,
            (Origin::File { line, column }, None) => write!(f, "{line}:{column}: ")?,
            (Origin::Absent, Some(file)) => write!(f, "{file}: ")?,
            (Origin::Code, _) => f.write_str("in the pipeline's code: ")?,
            (Origin::Absent, None) => {}
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
