//! A configuration as a list of dotted paths, so that a test says only what it changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Settings by dotted path; values are YAML.
#[derive(Debug, Clone, Default)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// With `path` set to `value`.
    #[must_use]
    pub fn set(mut self, path: &str, value: impl ToString) -> Self {
        self.0.insert(path.to_owned(), value.to_string());
        self
    }

    /// Without `path`.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.0.remove(path);
        self
    }

    /// The text of a configuration file.
    #[must_use]
    pub fn yaml(&self) -> String {
        let mut out = String::new();
        let mut open: Vec<&str> = Vec::new();
        for (path, value) in &self.0 {
            let mut parts: Vec<&str> = path.split('.').collect();
            let key = parts.pop().unwrap_or_default();
            let common = open.iter().zip(&parts).take_while(|(a, b)| a == b).count();
            // Writing to a String cannot fail.
            for (depth, part) in parts.iter().enumerate().skip(common) {
                let _ = writeln!(out, "{:1$}{part}:", "", depth * 2);
            }
            let _ = writeln!(out, "{:1$}{key}: {value}", "", parts.len() * 2);
            open = parts;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_nested_mappings() {
        let settings = Settings::default()
            .set("sink.batch.linger", "1s")
            .set("sink.batch.max_rows", 5)
            .set("sink.url", "u");
        let text = settings
            .set("pipeline.threads", 1)
            .set("sink.gone", 1)
            .without("sink.gone")
            .yaml();
        assert_eq!(
            text,
            "pipeline:\n  threads: 1\nsink:\n  batch:\n    linger: 1s\n    max_rows: 5\n  url: u\n"
        );
    }
}
