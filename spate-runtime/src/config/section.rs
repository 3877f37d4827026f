//! A part of the configuration that knows its dotted path, handed to the component that it configures.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::de::from_node;
use super::error::ConfigError;
use super::node::{Node, Origin, Scalar, Value, Written, redact};

/// A part of the configuration that knows its dotted path. `Debug` shows its keys and no value.
#[derive(Clone)]
pub struct Section {
    path: String,
    file: Option<Arc<str>>,
    node: Node,
    /// Keys that were taken out; hints name them too.
    taken: Vec<String>,
}

impl Section {
    pub(crate) fn new(path: impl Into<String>, file: Option<Arc<str>>, node: Node) -> Self {
        Section {
            path: path.into(),
            file,
            node,
            taken: Vec::new(),
        }
    }

    /// The dotted path: `source`, `sinks.orders`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Parses the section; unknown keys are refused.
    ///
    /// An absent section is parsed like an empty one: what has no default is reported as missing.
    ///
    /// # Errors
    /// A key that is unknown, missing or of the wrong kind, with its dotted path and place.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        from_node(&self.node, &self.path, &self.taken, self.file.as_ref())
    }

    /// Sets a key (dotted below the section) that the file does not set; a key without a value counts as not set.
    pub fn set_default(&mut self, key: &str, value: &str) {
        self.node.set_default(key, value);
    }

    /// Takes a sub-section out; empty if it is not there. Hints about misspelt keys still name it.
    pub fn take(&mut self, key: &str) -> Section {
        if !self.taken.iter().any(|taken| taken == key) {
            self.taken.push(key.to_owned());
        }
        let absent = Node {
            at: self.node.at,
            value: Value::Null,
        };
        let node = match &mut self.node.value {
            Value::Map(entries) => match entries.iter().position(|entry| entry.key == key) {
                Some(index) => entries.remove(index).into_section(),
                None => absent,
            },
            _ => absent,
        };
        Section::new(join(&self.path, key), self.file.clone(), node)
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    /// An error about `key` of this section (dotted; empty for the section itself).
    ///
    /// The message must not hold a value; one that came from the environment is taken out of it.
    pub fn error(&self, key: &str, message: impl Into<String>) -> ConfigError {
        let mut scalars = Vec::new();
        self.node.scalars(&mut scalars);
        let from_environment = |scalar: &&&Scalar| scalar.written == Written::Environment;
        let values: Vec<&str> = scalars
            .iter()
            .filter(from_environment)
            .map(|s| s.text.as_str())
            .collect();
        let message = redact(message.into(), &values);
        ConfigError::new(
            self.file.clone(),
            self.origin_of(key),
            join(&self.path, key),
            message,
        )
    }

    pub(crate) fn origin_of(&self, key: &str) -> Origin {
        self.node.origin_of(key)
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.path, self.node)
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    match (path, key) {
        ("", key) => key.to_owned(),
        (path, "") => path.to_owned(),
        (path, key) => format!("{path}.{key}"),
    }
}
