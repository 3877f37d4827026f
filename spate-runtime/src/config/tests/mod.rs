//! What the configuration promises, as a user would write it.

mod engine;
mod environment;
mod reading;
mod sections;
mod silence;
mod sink_pool;
mod yaml;

use super::{Config, ConfigError};

/// A configuration without any variable.
fn config(text: &str) -> Config {
    try_config(text).unwrap()
}

fn try_config(text: &str) -> Result<Config, ConfigError> {
    Config::from_yaml_with(text, "spate.yaml", &|_| None)
}

fn with_env(text: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let env = |name: &str| {
        env.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Config::from_yaml_with(text, "spate.yaml", &env)
}

/// The error of a text that must not load.
fn refused(text: &str) -> String {
    try_config(text).expect_err(text).to_string()
}
