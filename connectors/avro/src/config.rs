//! The `deserializer` section.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    /// The schema of values that are not framed with an id.
    schema: Option<PathBuf>,
}

/// What the stage makes of records, which decides about the keys that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Records of the compiled schema.
    Compiled,
    /// Values of any schema.
    #[cfg(feature = "value")]
    Values,
}

/// The schema registry as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryConfig {
    /// `http://host:8081`, without credentials.
    url: Option<String>,
    /// Several, which are asked in turn.
    #[serde(default)]
    urls: Vec<String>,
    username: Option<Secret>,
    password: Option<Secret>,
    token: Option<Secret>,
    tls: Option<TlsConfig>,
    /// The subject whose latest schema is compared with the compiled one at the start.
    subject: Option<String>,
    /// How long one request may take.
    #[serde(with = "duration", default = "default_timeout")]
    timeout: Duration,
    /// How long a schema is asked for while the registry does not answer, before the pipeline stops.
    #[serde(with = "duration", default = "default_give_up_after")]
    give_up_after: Duration,
}

/// TLS as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "tls"), allow(dead_code))]
struct TlsConfig {
    /// Certificate authorities beside the system's, a PEM file.
    ca: Option<PathBuf>,
    /// The client's own certificate and key, PEM files.
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
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
    pub(crate) registry: Option<RegistryAccess>,
    /// The file with the schema of values.
    #[cfg(feature = "value")]
    pub(crate) schema: Option<PathBuf>,
}

/// Where the registry is and how it is spoken to.
#[derive(Clone, Debug)]
pub(crate) struct RegistryAccess {
    /// At least one.
    pub(crate) servers: Vec<Server>,
    pub(crate) auth: Option<Auth>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<crate::registry::tls::Tls>,
    pub(crate) subject: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) give_up_after: Duration,
}

/// One server of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// `https`.
    #[cfg_attr(not(feature = "tls"), allow(dead_code))]
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path before `/schemas`, without a slash at its end.
    pub(crate) base: String,
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) enum Auth {
    Basic { username: Secret, password: Secret },
    Bearer(Secret),
}

impl DecoderConfig {
    /// Reads and checks the section of a compiled schema.
    pub(crate) fn read(section: &Section) -> Result<Self, ConfigError> {
        Self::read_for(section, Reads::Compiled)
    }

    /// The same for what the stage makes of records.
    pub(crate) fn read_for(section: &Section, reads: Reads) -> Result<Self, ConfigError> {
        let written: Written = section.parse()?;
        match reads {
            Reads::Compiled if written.schema.is_some() => {
                return Err(section.error(
                    "schema",
                    "the schema is compiled into the program: leave it out; only `avro::<avro::Value>` reads with one of the configuration",
                ));
            }
            Reads::Compiled => {}
            #[cfg(feature = "value")]
            Reads::Values => written.check_values(section)?,
        }
        if let Some(id) = written.schema_ids.iter().find(|id| !is_id(**id)) {
            return Err(section.error(
                "schema_ids",
                format!("{id} is no schema id: registries count from 1"),
            ));
        }
        match written.framing {
            Framing::Raw | Framing::SingleObject if written.registry.is_some() => {
                Err(section.error("registry", "only Confluent-framed payloads name a schema of a registry: leave the registry out"))
            }
            Framing::Raw | Framing::SingleObject if !written.schema_ids.is_empty() => {
                Err(section.error("schema_ids", "only Confluent-framed payloads name a schema by an id: leave the ids out"))
            }
            Framing::Confluent if written.registry.is_none() && written.schema_ids.is_empty() => Err(section.error(
                "",
                "Confluent-framed payloads name their schema by id: set `registry.url`, or `schema_ids` to the ids of the \
                 compiled schema; if records stand alone, set `framing: raw`",
            )),
            framing => Ok(DecoderConfig {
                framing,
                schema_ids: written.schema_ids,
                #[cfg(feature = "value")]
                schema: written.schema,
                registry: written.registry.map(|registry| registry.access(section)).transpose()?,
            }),
        }
    }
}

#[cfg(feature = "value")]
impl Written {
    /// What values need, and what makes no sense with them.
    fn check_values(&self, section: &Section) -> Result<(), ConfigError> {
        let framed = self.framing == Framing::Confluent;
        if !self.schema_ids.is_empty() {
            return Err(section.error(
                "schema_ids",
                "`avro::<avro::Value>` has no compiled schema that ids could stand for: leave them out and set `registry.url`",
            ));
        }
        match &self.schema {
            Some(_) if framed => Err(section.error(
                "schema",
                "Confluent-framed payloads name their schema by id, which the registry has: leave it out, or set `framing: raw` or `single_object`",
            )),
            None if framed && self.registry.is_none() => Err(section.error(
                "",
                "Confluent-framed payloads name their schema by id: set `registry.url`; if records stand alone, set `framing: raw` \
                 and `schema` to the file of their schema",
            )),
            None if !framed && self.registry.is_none() => Err(section.error(
                "schema",
                "`avro::<avro::Value>` has no compiled schema, and these payloads name none that a registry has: set the path of an .avsc file",
            )),
            _ => Ok(()),
        }
    }
}

impl RegistryConfig {
    fn access(self, section: &Section) -> Result<RegistryAccess, ConfigError> {
        let urls: Vec<(String, &String)> = match (&self.url, self.urls.as_slice()) {
            (Some(url), []) => vec![("registry.url".to_owned(), url)],
            (None, urls @ [_, ..]) => urls
                .iter()
                .enumerate()
                .map(|(n, url)| (format!("registry.urls[{n}]"), url))
                .collect(),
            (Some(_), _) => {
                return Err(section.error("registry.urls", "set `url` or `urls`, not both"));
            }
            (None, []) => {
                return Err(section.error(
                    "registry.url",
                    "set the registry's URL, as in `http://registry:8081`",
                ));
            }
        };
        let servers: Result<Vec<Server>, ConfigError> = urls
            .into_iter()
            .map(|(key, url)| server(url).map_err(|message| section.error(&key, message)))
            .collect();
        let servers = servers?;
        if self.timeout.is_zero() {
            return Err(section.error("registry.timeout", "a request needs more than no time"));
        }
        if self.subject.as_deref() == Some("") {
            return Err(section.error("registry.subject", "a subject has a name"));
        }
        #[cfg(feature = "tls")]
        let tls = tls(section, self.tls, &servers)?;
        #[cfg(not(feature = "tls"))]
        without_tls(section, self.tls.as_ref(), &servers)?;
        Ok(RegistryAccess {
            servers,
            auth: auth(section, self.username, self.password, self.token)?,
            #[cfg(feature = "tls")]
            tls,
            subject: self.subject,
            timeout: self.timeout,
            give_up_after: self.give_up_after,
        })
    }
}

/// Reads a URL.
fn server(url: &str) -> Result<Server, &'static str> {
    let uri: http::Uri = url
        .parse()
        .map_err(|_| "this is no URL: write it as in `http://registry:8081`")?;
    let tls = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err("the URL begins with `http://` or `https://`"),
    };
    let authority = uri
        .authority()
        .map(http::uri::Authority::as_str)
        .unwrap_or_default();
    if authority.contains('@') {
        return Err(
            "credentials do not belong into the URL: set `registry.username` and `registry.password`",
        );
    }
    // What stands behind the host and is no port would be taken for the default one.
    let host = uri.host().unwrap_or_default();
    if authority.len() > host.len() && uri.port_u16().is_none() {
        return Err(
            "the URL's port is a number up to 65535: write it as in `http://registry:8081`",
        );
    }
    if uri.query().is_some() {
        return Err("the URL has no query: `http://registry:8081`, with a path if there is one");
    }
    // Brackets belong to the URL's spelling of an IPv6 address, not to the address.
    let host = host.trim_matches(['[', ']']).to_owned();
    if host.is_empty() {
        return Err("the URL names no host: write it as in `http://registry:8081`");
    }
    Ok(Server {
        tls,
        host,
        port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        base: uri.path().trim_end_matches('/').to_owned(),
    })
}

fn auth(
    section: &Section,
    username: Option<Secret>,
    password: Option<Secret>,
    token: Option<Secret>,
) -> Result<Option<Auth>, ConfigError> {
    match (username, password, token) {
        (None, None, None) => Ok(None),
        (Some(username), Some(password), None) => Ok(Some(Auth::Basic { username, password })),
        (None, None, Some(token)) => {
            let auth = Auth::Bearer(token);
            match http::HeaderValue::from_str(&auth.header()) {
                Ok(_) => Ok(Some(auth)),
                Err(_) => Err(section.error(
                    "registry.token",
                    "a token is one line of text: it has a line break or another character that no header can have",
                )),
            }
        }
        (_, _, Some(_)) => {
            Err(section.error("registry.token", "either a token, or username and password"))
        }
        (Some(_), None, None) => {
            Err(section.error("registry.password", "a username needs its password"))
        }
        (None, Some(_), None) => {
            Err(section.error("registry.username", "a password needs its username"))
        }
    }
}

#[cfg(feature = "tls")]
fn tls(
    section: &Section,
    written: Option<TlsConfig>,
    servers: &[Server],
) -> Result<Option<crate::registry::tls::Tls>, ConfigError> {
    if !servers.iter().any(|server| server.tls) {
        return match written {
            None => Ok(None),
            Some(_) => Err(section.error(
                "registry.tls",
                "no URL of the registry begins with `https://`",
            )),
        };
    }
    let TlsConfig { ca, cert, key } = written.unwrap_or_default();
    let identity = match (&cert, &key) {
        (Some(cert), Some(key)) => Some((cert.as_path(), key.as_path())),
        (None, None) => None,
        (Some(_), None) => {
            return Err(section.error("registry.tls.key", "a certificate needs its key"));
        }
        (None, Some(_)) => {
            return Err(section.error("registry.tls.cert", "a key needs its certificate"));
        }
    };
    let tls = crate::registry::tls::Tls::new(ca.as_deref(), identity);
    tls.map(Some).map_err(|(key, message)| {
        let path = match key {
            "" => "registry.tls".to_owned(),
            key => format!("registry.tls.{key}"),
        };
        section.error(&path, message)
    })
}

#[cfg(not(feature = "tls"))]
fn without_tls(
    section: &Section,
    written: Option<&TlsConfig>,
    servers: &[Server],
) -> Result<(), ConfigError> {
    const OFF: &str = "this program was built without TLS to the registry; build it with spate's feature `avro-tls`";
    if servers.iter().any(|server| server.tls) {
        return Err(section.error("registry.url", OFF));
    }
    match written {
        Some(_) => Err(section.error("registry.tls", OFF)),
        None => Ok(()),
    }
}

impl Server {
    /// Host and port as in a URL.
    pub(crate) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.authority(), self.base)
    }
}

impl Auth {
    /// The value of the header `Authorization`.
    pub(crate) fn header(&self) -> String {
        match self {
            Auth::Basic { username, password } => {
                let pair = format!("{}:{}", username.expose(), password.expose());
                format!("Basic {}", STANDARD.encode(pair))
            }
            Auth::Bearer(token) => format!("Bearer {}", token.expose()),
        }
    }
}

impl RegistryAccess {
    /// The servers, for messages.
    pub(crate) fn shown(&self) -> String {
        let servers: Vec<String> = self.servers.iter().map(Server::to_string).collect();
        servers.join(", ")
    }
}

#[cfg(test)]
mod tests;
