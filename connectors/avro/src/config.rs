//! The `deserializer` section.

use std::time::Duration;

use serde::Deserialize;
use spate_runtime::config::{ConfigError, Secret, Section, duration};

use crate::framing::{Framing, is_id};
use crate::limits;

/// The section as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    framing: Framing,
    registry: Option<RegistryConfig>,
    #[serde(default)]
    schema_ids: Vec<u32>,
}

/// The schema registry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryConfig {
    /// `http://host:8081`, without credentials.
    url: String,
    username: Option<Secret>,
    password: Option<Secret>,
    /// How long one request may take.
    #[serde(with = "duration", default = "default_timeout")]
    timeout: Duration,
    /// How long a schema is asked for while the registry does not answer, before the pipeline stops.
    #[serde(with = "duration", default = "default_give_up_after")]
    give_up_after: Duration,
}

fn default_timeout() -> Duration {
    limits::REQUEST_TIMEOUT
}

fn default_give_up_after() -> Duration {
    limits::GIVE_UP_AFTER
}

/// What the decoder is told.
#[derive(Debug)]
pub(crate) struct DecoderConfig {
    pub(crate) framing: Framing,
    /// Ids that are the compiled schema's without asking.
    pub(crate) schema_ids: Vec<u32>,
    pub(crate) registry: Option<Endpoint>,
}

/// Where the registry is and how it is spoken to.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path before `/schemas`, without a slash at its end.
    pub(crate) base: String,
    pub(crate) credentials: Option<(Secret, Secret)>,
    pub(crate) timeout: Duration,
    pub(crate) give_up_after: Duration,
}

impl DecoderConfig {
    /// Reads and checks the section.
    pub(crate) fn read(section: &Section) -> Result<Self, ConfigError> {
        let written: Written = section.parse()?;
        if let Some(id) = written.schema_ids.iter().find(|id| !is_id(**id)) {
            return Err(section.error(
                "schema_ids",
                format!("{id} is no schema id: registries count from 1"),
            ));
        }
        match written.framing {
            Framing::Raw if written.registry.is_some() => {
                Err(section.error("registry", "with `framing: raw` payloads name no schema: leave the registry out"))
            }
            Framing::Raw if !written.schema_ids.is_empty() => {
                Err(section.error("schema_ids", "with `framing: raw` payloads name no schema: leave the ids out"))
            }
            Framing::Confluent if written.registry.is_none() && written.schema_ids.is_empty() => Err(section.error(
                "",
                "Confluent-framed payloads name their schema by id: set `registry.url`, or `schema_ids` to the ids of the \
                 compiled schema; if records stand alone, set `framing: raw`",
            )),
            framing => Ok(DecoderConfig {
                framing,
                schema_ids: written.schema_ids,
                registry: written.registry.map(|registry| registry.endpoint(section)).transpose()?,
            }),
        }
    }
}

impl RegistryConfig {
    fn endpoint(self, section: &Section) -> Result<Endpoint, ConfigError> {
        let wrong = |message: &str| section.error("registry.url", message);
        let uri: http::Uri = self
            .url
            .parse()
            .map_err(|_| wrong("this is no URL: write it as in `http://registry:8081`"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(wrong("TLS is not available yet: use `http://`")),
            _ => return Err(wrong("the URL begins with `http://`")),
        }
        let authority = uri
            .authority()
            .map(http::uri::Authority::as_str)
            .unwrap_or_default();
        if authority.contains('@') {
            return Err(wrong(
                "credentials do not belong into the URL: set `registry.username` and `registry.password`",
            ));
        }
        if uri.query().is_some() {
            return Err(wrong(
                "the URL has no query: `http://registry:8081`, with a path if there is one",
            ));
        }
        // Brackets belong to the URL's spelling of an IPv6 address, not to the address.
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .to_owned();
        if host.is_empty() {
            return Err(wrong(
                "the URL names no host: write it as in `http://registry:8081`",
            ));
        }
        let credentials = match (self.username, self.password) {
            (Some(username), Some(password)) => Some((username, password)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(section.error("registry.password", "a username needs its password"));
            }
            (None, Some(_)) => {
                return Err(section.error("registry.username", "a password needs its username"));
            }
        };
        if self.timeout.is_zero() {
            return Err(section.error("registry.timeout", "a request needs more than no time"));
        }
        Ok(Endpoint {
            host,
            port: uri.port_u16().unwrap_or(80),
            base: uri.path().trim_end_matches('/').to_owned(),
            credentials,
            timeout: self.timeout,
            give_up_after: self.give_up_after,
        })
    }
}

#[cfg(test)]
mod tests {
    use spate_runtime::config::Config;

    use super::*;

    fn read(yaml: &str) -> Result<DecoderConfig, String> {
        let config = Config::from_yaml(yaml).map_err(|error| error.to_string())?;
        DecoderConfig::read(&config.section("deserializer")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_registry_is_read_with_its_defaults() {
        let config = read("deserializer: { registry: { url: \"http://registry:8081/base/\" } }")
            .expect("valid");
        assert_eq!(config.framing, Framing::Confluent);
        let registry = config.registry.expect("a registry");
        assert_eq!(
            (
                registry.host.as_str(),
                registry.port,
                registry.base.as_str()
            ),
            ("registry", 8081, "/base")
        );
        assert_eq!(
            (registry.timeout, registry.give_up_after),
            (Duration::from_secs(10), Duration::from_secs(120))
        );
        let registry = read("deserializer: { registry: { url: \"http://[::1]\" } }")
            .expect("valid")
            .registry;
        assert_eq!(
            registry.map(|registry| (registry.host, registry.port)),
            Some(("::1".to_owned(), 80))
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_path() {
        for (yaml, path) in [
            ("deserializer: {}", "deserializer"),
            ("deserializer: { framing: avro }", "deserializer.framing"),
            (
                "deserializer: { framing: raw, schema_ids: [1] }",
                "deserializer.schema_ids",
            ),
            (
                "deserializer: { framing: raw, registry: { url: \"http://r\" } }",
                "deserializer.registry",
            ),
            (
                "deserializer: { schema_ids: [0] }",
                "deserializer.schema_ids",
            ),
            (
                "deserializer: { registry: { url: \"registry:8081\" } }",
                "deserializer.registry.url",
            ),
            (
                "deserializer: { registry: { url: \"https://r\" } }",
                "deserializer.registry.url",
            ),
            (
                "deserializer: { registry: { url: \"http://me:secret@r\" } }",
                "deserializer.registry.url",
            ),
            (
                "deserializer: { registry: { url: \"http://r\", username: me } }",
                "deserializer.registry.password",
            ),
            (
                "deserializer: { registry: { url: \"http://r\", timeout: 0s } }",
                "deserializer.registry.timeout",
            ),
            (
                "deserializer: { registry: { url: \"http://r\", timout: 1s } }",
                "deserializer.registry.timout",
            ),
        ] {
            let error = read(yaml).expect_err(yaml);
            assert!(error.contains(path), "{yaml}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
