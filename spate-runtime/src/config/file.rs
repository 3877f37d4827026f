//! A whole configuration: read from a file or a text, then handed out section by section.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::error::ConfigError;
use super::node::{Node, Origin};
use super::section::Section;
use super::suggest::hint;
use super::yaml;

/// Every name that may stand at the left margin.
pub(crate) const SECTIONS: [&str; 11] = [
    "pipeline",
    "admin",
    "checkpoint",
    "backpressure",
    "metrics",
    "source",
    "deserializer",
    "sink",
    "sinks",
    "dead_letter",
    "coordination",
];

/// Accepted names whose features do not exist yet.
const NOT_AVAILABLE: [&str; 4] = ["admin", "metrics", "dead_letter", "coordination"];

/// Sections that every pipeline has.
const ENGINE: [&str; 3] = ["pipeline", "checkpoint", "backpressure"];

/// A configuration. `Debug` shows its keys and no value.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spate_runtime::config::{Config, EngineConfig};
///
/// let config = Config::from_yaml(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/config/example.yaml")))?;
/// let engine = EngineConfig::from(&config)?;
/// assert_eq!(engine.pipeline.name.as_deref(), Some("orders"));
/// assert_eq!(config.section("source").path(), "source");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Config {
    file: Arc<str>,
    root: Node,
}

impl Default for Config {
    /// A configuration in which nothing is set.
    fn default() -> Self {
        Config {
            file: Arc::from("configuration"),
            root: Node::ABSENT,
        }
    }
}

impl Config {
    /// Reads a file; variables come from the environment of the process.
    ///
    /// # Errors
    /// The file cannot be read, is not YAML, or names a variable that is not set.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let file: Arc<str> = path.display().to_string().into();
        let error =
            |message: String| ConfigError::new(Some(file.clone()), Origin::Absent, "", message);
        let bytes =
            std::fs::read(path).map_err(|cause| error(format!("cannot be read: {cause}")))?;
        let text = String::from_utf8(bytes).map_err(|cause| {
            let valid = &cause.as_bytes()[..cause.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            error(format!("not UTF-8 text in line {line}"))
        })?;
        Config::from_yaml_with(&text, &file, &process_environment)
    }

    /// Reads a text; variables come from the environment of the process.
    ///
    /// # Errors
    /// It is not YAML, or names a variable that is not set.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        Config::from_yaml_with(text, "configuration", &process_environment)
    }

    /// Reads a text that errors call `file_name`; `env` looks variables up.
    ///
    /// # Errors
    /// It is not YAML, or names a variable that is not set.
    ///
    /// ```
    /// use spate_runtime::config::Config;
    /// let env = |name: &str| (name == "BROKER").then(|| "localhost:9092".to_owned());
    /// assert!(Config::from_yaml_with("source: { brokers: ['${BROKER}'] }", "spate.yaml", &env).is_ok());
    /// let error = Config::from_yaml_with("source: { brokers: ['${BROKRE}'] }", "spate.yaml", &env).unwrap_err();
    /// assert!(error.to_string().starts_with("spate.yaml:1:21: source.brokers[0]: the environment variable `BROKRE` is not set"));
    /// ```
    pub fn from_yaml_with(
        text: &str,
        file_name: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let file: Arc<str> = file_name.into();
        let root = yaml::parse(text, &file, env)?;
        if root.entries().is_none() {
            let message = format!(
                "expected the sections of a configuration ({}) at the left margin",
                SECTIONS.join(", ")
            );
            return Err(ConfigError::new(Some(file), root.at, "", message));
        }
        // What no section has has no place either.
        let root = Node {
            at: Origin::Absent,
            ..root
        };
        Ok(Config { file, root })
    }

    /// A top-level section; empty, with the right path, if it is not there.
    #[must_use]
    pub fn section(&self, name: &str) -> Section {
        Section::new(name, Some(self.file.clone()), self.node(name))
    }

    /// The section of one sink: `sink` if the pipeline has only this one and the file does not use `sinks`, else
    /// `sinks.<name>`; empty if it is not there.
    ///
    /// # Errors
    /// `sink` beside `sinks`, or `sink` for a pipeline with several.
    pub fn sink_section(&self, name: &str, only_one: bool) -> Result<Section, ConfigError> {
        let sink = self.root.entry("sink");
        let sinks = self.root.entry("sinks");
        if let (Some(_), Some(sinks)) = (sink, sinks) {
            let message = "`sink` and `sinks` are both set; use `sink` for a pipeline with one sink, else `sinks`";
            return Err(ConfigError::new(
                Some(self.file.clone()),
                sinks.at,
                "sinks",
                message,
            ));
        }
        if let (Some(sink), false) = (sink, only_one) {
            let message = format!(
                "the pipeline has several sinks; write `sinks: {{ {name}: .. }}` with a section for each"
            );
            return Err(ConfigError::new(
                Some(self.file.clone()),
                sink.at,
                "sink",
                message,
            ));
        }
        let Some(sinks) = sinks else {
            let path = if only_one {
                "sink".to_owned()
            } else {
                format!("sinks.{name}")
            };
            return Ok(Section::new(
                path,
                Some(self.file.clone()),
                self.node("sink"),
            ));
        };
        if sinks.node.entries().is_none() {
            let message = "expected a mapping from the name of each sink to its settings";
            return Err(ConfigError::new(
                Some(self.file.clone()),
                sinks.at,
                "sinks",
                message,
            ));
        }
        let node = sinks
            .node
            .entry(name)
            .map_or(Node::ABSENT, |entry| entry.clone().into_section());
        Ok(Section::new(
            format!("sinks.{name}"),
            Some(self.file.clone()),
            node,
        ))
    }

    /// Refuses a section under `sinks` for a sink that the pipeline does not have.
    ///
    /// # Errors
    /// The first such name, with the nearest one that exists; and what [`sink_section`](Config::sink_section) refuses.
    pub fn check_sinks(&self, names: &[&str]) -> Result<(), ConfigError> {
        for name in names {
            self.sink_section(name, names.len() == 1)?;
        }
        let Some(sinks) = self.root.entry("sinks") else {
            return Ok(());
        };
        for entry in sinks.node.entries().unwrap_or_default() {
            if !names.contains(&entry.key.as_str()) {
                let message = format!(
                    "the pipeline has no sink of this name{}",
                    hint(&entry.key, "sinks", names.iter().copied())
                );
                let path = format!("sinks.{}", entry.key);
                return Err(ConfigError::new(
                    Some(self.file.clone()),
                    entry.at,
                    path,
                    message,
                ));
            }
        }
        Ok(())
    }

    /// Refuses top-level sections that do not exist, that belong to features which do not exist yet, and those not empty
    /// that this pipeline does not use. `known` are the sections that it uses, besides `pipeline`, `checkpoint` and
    /// `backpressure`.
    ///
    /// # Errors
    /// The first such section, with the nearest one that exists.
    pub fn check_sections(&self, known: &[&str]) -> Result<(), ConfigError> {
        let used = |name: &str| ENGINE.contains(&name) || known.contains(&name);
        for entry in self.root.entries().unwrap_or_default() {
            let name = entry.key.as_str();
            let message = if used(name) {
                continue;
            } else if !SECTIONS.contains(&name) {
                let available = SECTIONS.into_iter().filter(|section| used(section));
                format!("unknown section{}", hint(name, "sections", available))
            } else if NOT_AVAILABLE.contains(&name) {
                "this feature is not available yet; remove the section".to_owned()
            } else if entry.node.is_empty() {
                continue;
            } else {
                "this pipeline does not use the section: no stage of it has such settings; remove it".to_owned()
            };
            return Err(ConfigError::new(
                Some(self.file.clone()),
                entry.at,
                name,
                message,
            ));
        }
        Ok(())
    }

    /// An error about a dotted path of this configuration. The message must not hold a value.
    pub fn error(&self, path: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(
            Some(self.file.clone()),
            self.root.origin_of(path),
            path,
            message,
        )
    }

    fn node(&self, name: &str) -> Node {
        self.root
            .entry(name)
            .map_or(Node::ABSENT, |entry| entry.clone().into_section())
    }
}

fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.file, self.root)
    }
}
