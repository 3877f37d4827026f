//! The sink's section: where the servers are, which table, how to log in, and what may not be set.
//!
//! Checked as a whole before anything connects. No error shows a value: a URL or a name can hold a secret.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use serde::Deserialize;
use spate_runtime::config::{ConfigError, Secret, Section, duration};

/// The section as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The server of a table that is not sharded.
    url: Option<String>,
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenShard {
    url: String,
}

fn default_database() -> String {
    "default".to_owned()
}

/// The section `timeouts` of one attempt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Timeouts {
    /// To the established connection. Default: 5s.
    #[serde(with = "duration")]
    pub(crate) connect: Duration,
    /// The longest time in which the server takes nothing of the request. Default: 30s.
    #[serde(with = "duration")]
    pub(crate) send: Duration,
    /// From the request's end to the complete answer, with all that the server does for it. Default: 180s.
    #[serde(with = "duration")]
    pub(crate) end: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(5),
            send: Duration::from_secs(30),
            end: Duration::from_secs(180),
        }
    }
}

/// The checked section.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) shards: Vec<Endpoint>,
    pub(crate) database: String,
    pub(crate) table: String,
    pub(crate) login: Login,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) timeouts: Timeouts,
}

/// Where one shard listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The host without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as the `Host` header has them.
    pub(crate) authority: String,
    /// The path before `?`: `/`, or a proxy's prefix.
    pub(crate) path: String,
}

impl Endpoint {
    /// The address for messages; it holds no credentials.
    pub(crate) fn url(&self) -> String {
        format!(
            "http://{}{}",
            self.authority,
            self.path.trim_end_matches('/')
        )
    }
}

/// The headers that log in; none for the server's default user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    pub(crate) user: Option<HeaderValue>,
    pub(crate) password: Option<HeaderValue>,
}

/// Settings that the sink sends itself or that would break what it promises, and why.
const RESERVED: &[(&str, &str)] = &[
    ("insert_deduplication_token", "each block has its own token"),
    (
        "insert_deduplicate",
        "a repeated block must be recognised by its token",
    ),
    (
        "deduplicate_insert",
        "a repeated block must be recognised by its token",
    ),
    (
        "wait_end_of_query",
        "a block counts as written when the whole insert has ended, and not before",
    ),
    (
        "http_wait_end_of_query",
        "a block counts as written when the whole insert has ended, and not before",
    ),
    (
        "async_insert",
        "a block counts as written when it is stored, not when it is queued",
    ),
    (
        "wait_for_async_insert",
        "a block counts as written when it is stored, not when it is queued",
    ),
    (
        "input_format_with_names_use_header",
        "it makes the server compare the row's column names with the table",
    ),
    (
        "input_format_with_types_use_header",
        "it makes the server compare the row's column types with the table",
    ),
    (
        "input_format_skip_unknown_fields",
        "a column that the table lacks must be an error, not left out",
    ),
    (
        "input_format_binary_decode_types_in_binary_format",
        "the row's types are sent as text",
    ),
    (
        "input_format_allow_errors_num",
        "a row that the server cannot read must be an error, not left out",
    ),
    (
        "input_format_allow_errors_ratio",
        "a row that the server cannot read must be an error, not left out",
    ),
    (
        "http_write_exception_in_output_format",
        "errors are read as text",
    ),
    ("enable_http_compression", "answers are read uncompressed"),
    ("compress", "answers are read uncompressed"),
    ("decompress", "blocks are sent uncompressed"),
    ("query", "the sink writes the statement itself"),
    (
        "query_id",
        "statements that run at the same time cannot share one id",
    ),
    ("session_id", "shards and retries cannot share one session"),
    (
        "session_check",
        "shards and retries cannot share one session",
    ),
    (
        "session_timeout",
        "shards and retries cannot share one session",
    ),
    ("default_format", "the statement names the format"),
    ("database", "set `database` in the section itself"),
    ("user", "set `user` in the section itself"),
    ("password", "set `password` in the section itself"),
];

impl Config {
    /// Reads and checks the section.
    pub(crate) fn read(section: &Section) -> Result<Config, ConfigError> {
        let written: Written = section.parse()?;
        let shards = match (written.url, written.shards) {
            (Some(url), None) => {
                vec![endpoint(&url).map_err(|message| section.error("url", message))?]
            }
            (None, Some(shards)) => read_shards(section, &shards)?,
            (Some(_), Some(_)) => {
                return Err(section.error(
                    "shards",
                    "`url` and `shards` are both set; `url` is for a single shard",
                ));
            }
            (None, None) => {
                return Err(section.error(
                    "url",
                    "missing; set `url: http://host:8123`, or `shards` for several",
                ));
            }
        };
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
        check_settings(section, &written.settings)?;
        let timeouts = written.timeouts;
        for (key, timeout) in [
            ("connect", timeouts.connect),
            ("send", timeouts.send),
            ("end", timeouts.end),
        ] {
            if timeout < Duration::from_millis(1) {
                return Err(section.error(&format!("timeouts.{key}"), "must be at least 1ms"));
            }
        }
        Ok(Config {
            shards,
            database: written.database,
            table,
            login,
            settings: written.settings,
            timeouts,
        })
    }
}

fn read_shards(section: &Section, shards: &[WrittenShard]) -> Result<Vec<Endpoint>, ConfigError> {
    if shards.is_empty() {
        return Err(section.error("shards", "names no shard; at least one is needed"));
    }
    let mut endpoints = Vec::with_capacity(shards.len());
    for (index, shard) in shards.iter().enumerate() {
        let key = format!("shards[{index}].url");
        let endpoint = endpoint(&shard.url).map_err(|message| section.error(&key, message))?;
        if let Some(first) = endpoints.iter().position(|other| *other == endpoint) {
            return Err(section.error(
                &key,
                format!("the same address as shard {first}, which would get two shares"),
            ));
        }
        endpoints.push(endpoint);
    }
    Ok(endpoints)
}

fn endpoint(url: &str) -> Result<Endpoint, &'static str> {
    const SHAPE: &str = "not a URL of the form `http://host:8123`";
    let uri: Uri = url.trim().parse().map_err(|_| SHAPE)?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => {
            return Err("TLS is not available yet: use `http://`, through a tunnel where needed");
        }
        _ => return Err(SHAPE),
    }
    let authority = uri.authority().ok_or(SHAPE)?;
    if authority.as_str().contains('@') {
        return Err("has credentials; set `user` and `password` in the section itself");
    }
    if uri.query().is_some() || url.contains('#') {
        return Err("has a query or fragment; set the server's settings under `settings`");
    }
    if authority.host().is_empty() {
        return Err(SHAPE);
    }
    let path = uri.path().trim_end_matches('/');
    Ok(Endpoint {
        host: authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned(),
        port: authority.port_u16().unwrap_or(80),
        authority: authority.as_str().to_owned(),
        path: format!("{path}/"),
    })
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

fn check_settings(
    section: &Section,
    settings: &BTreeMap<String, String>,
) -> Result<(), ConfigError> {
    let reserved: BTreeMap<&str, &str> = RESERVED.iter().copied().collect();
    for name in settings.keys() {
        let key = format!("settings.{name}");
        if let Some(why) = reserved.get(name.to_ascii_lowercase().as_str()) {
            return Err(section.error(&key, format!("cannot be set: {why}")));
        }
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(section.error("settings", "names of settings are letters, digits and `_`"));
        }
        if name.starts_with("param_") {
            return Err(section.error(&key, "cannot be set: the statement has no parameters"));
        }
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
