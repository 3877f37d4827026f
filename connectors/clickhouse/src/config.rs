//! The sink's section: where the servers are, which table, how to log in, and what may not be set.
//!
//! Checked as a whole before anything connects. No error shows a value: a URL or a name can hold a secret.

mod servers;
mod settings;

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::Deserialize;
use spate_runtime::config::{ConfigError, Secret, Section, duration};

pub(crate) use servers::Endpoint;
use servers::WrittenShard;

/// The section as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The server of a table that is neither sharded nor replicated.
    url: Option<String>,
    /// The servers of a table that is replicated and not sharded.
    replicas: Option<Vec<String>>,
    /// The servers of a sharded table, in order.
    shards: Option<Vec<WrittenShard>>,
    #[serde(default = "default_database")]
    database: String,
    /// Default: the stage's option `table`.
    table: Option<String>,
    user: Option<String>,
    password: Option<Secret>,
    /// Settings of the server, sent with every insert.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default)]
    timeouts: Timeouts,
}

fn default_database() -> String {
    "default".to_owned()
}

/// The section `timeouts` of one attempt, all of which `retry.attempt_timeout` bounds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Timeouts {
    #[serde(with = "duration::option")]
    connect: Option<Duration>,
    #[serde(with = "duration::option")]
    send: Option<Duration>,
    #[serde(with = "duration::option")]
    end: Option<Duration>,
}

impl Timeouts {
    /// To the established connection. Default: 5s.
    pub(crate) fn connect(&self) -> Duration {
        self.connect.unwrap_or(Duration::from_secs(5))
    }

    /// The longest time in which the server takes nothing of the request. Default: 30s.
    pub(crate) fn send(&self) -> Duration {
        self.send.unwrap_or(Duration::from_secs(30))
    }

    /// From the request's end to the complete answer, with all that the server does for it. Default: no bound of its own.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.end
    }

    /// What those that are set allow for one attempt.
    pub(crate) fn slowest_attempt(&self) -> Option<Duration> {
        let after = self.send.max(self.end);
        match (self.connect, after) {
            (None, None) => None,
            (connect, after) => Some(connect.unwrap_or_default() + after.unwrap_or_default()),
        }
    }

    fn check(&self, section: &Section) -> Result<(), ConfigError> {
        for (key, timeout) in [
            ("connect", self.connect),
            ("send", self.send),
            ("end", self.end),
        ] {
            if timeout.is_some_and(|timeout| timeout < Duration::from_millis(1)) {
                return Err(section.error(&format!("timeouts.{key}"), "must be at least 1ms"));
            }
        }
        Ok(())
    }
}

/// The checked section.
#[derive(Debug)]
pub(crate) struct Config {
    /// The replicas of every shard.
    pub(crate) shards: Vec<Vec<Endpoint>>,
    pub(crate) database: String,
    pub(crate) table: String,
    pub(crate) login: Login,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) timeouts: Timeouts,
}

/// The headers that log in; none for the server's default user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    pub(crate) user: Option<HeaderValue>,
    pub(crate) password: Option<HeaderValue>,
}

impl Config {
    /// Reads and checks the section.
    pub(crate) fn read(section: &Section) -> Result<Config, ConfigError> {
        let written: Written = section.parse()?;
        let shards = servers::read(section, written.url, written.replicas, written.shards)?;
        check_name(&written.database).map_err(|message| section.error("database", message))?;
        let table = written.table.ok_or_else(|| {
            section.error(
                "table",
                "missing; set it here or in the pipeline: `clickhouse::<Row>(table = \"..\")`",
            )
        })?;
        if table.contains('.') {
            return Err(section.error(
                "table",
                "has a dot; the database has a key of its own, `database`",
            ));
        }
        check_name(&table).map_err(|message| section.error("table", message))?;
        let password = written
            .password
            .filter(|password| !password.expose().is_empty());
        let user = written
            .user
            .or_else(|| password.as_ref().map(|_| "default".to_owned()));
        let login = Login {
            user: user
                .map(|user| header(section, "user", &user))
                .transpose()?,
            password: password
                .map(|password| header(section, "password", password.expose()))
                .transpose()?,
        };
        settings::check(section, &written.settings)?;
        written.timeouts.check(section)?;
        Ok(Config {
            shards,
            database: written.database,
            table,
            login,
            settings: written.settings,
            timeouts: written.timeouts,
        })
    }
}

/// Names are sent quoted; what would need escaping is refused, since nobody means it.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("must not be empty");
    }
    if name
        .chars()
        .any(|c| c.is_control() || matches!(c, '`' | '"' | '\'' | '\\'))
    {
        return Err(
            "must not have quotes, backslashes or control characters; write the name without quotes",
        );
    }
    Ok(())
}

fn header(section: &Section, key: &str, text: &str) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        section.error(
            key,
            "has control characters, which no HTTP header can carry",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}
