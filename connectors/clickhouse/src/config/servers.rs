//! Which servers: a shard is `url` or, where it has several replicas, `replicas`; a section is one shard, or has `shards`.

use hyper::Uri;
use serde::Deserialize;
use spate_runtime::config::{ConfigError, Section};

/// Where one replica listens.
#[derive(Debug, Clone)]
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
    /// Whether both are one server, as far as their spelling tells.
    fn is(&self, other: &Endpoint) -> bool {
        (&self.host, self.port, &self.path) == (&other.host, other.port, &other.path)
    }

    /// The address for messages; it holds no credentials.
    pub(crate) fn url(&self) -> String {
        format!(
            "http://{}{}",
            self.authority,
            self.path.trim_end_matches('/')
        )
    }
}

/// A shard as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenShard {
    url: Option<String>,
    replicas: Option<Vec<String>>,
}

/// The replicas of every shard, in order. Every server is named once.
pub(super) fn read(
    section: &Section,
    url: Option<String>,
    replicas: Option<Vec<String>>,
    shards: Option<Vec<WrittenShard>>,
) -> Result<Vec<Vec<Endpoint>>, ConfigError> {
    let Some(shards) = shards else {
        let written = WrittenShard { url, replicas };
        return Ok(vec![shard(section, "", written, &[])?]);
    };
    for (key, is_set) in [("url", url.is_some()), ("replicas", replicas.is_some())] {
        if is_set {
            let text = format!("`{key}` and `shards` are both set; `{key}` is for a single shard");
            return Err(section.error("shards", text));
        }
    }
    if shards.is_empty() {
        return Err(section.error("shards", "names no shard; at least one is needed"));
    }
    let mut all: Vec<Vec<Endpoint>> = Vec::with_capacity(shards.len());
    for (index, written) in shards.into_iter().enumerate() {
        let read = shard(section, &format!("shards[{index}]."), written, &all)?;
        all.push(read);
    }
    Ok(all)
}

/// The replicas of one shard, whose keys stand at `path`; `others` are the shards before it.
fn shard(
    section: &Section,
    path: &str,
    written: WrittenShard,
    others: &[Vec<Endpoint>],
) -> Result<Vec<Endpoint>, ConfigError> {
    let urls = match (written.url, written.replicas) {
        (Some(url), None) => vec![(format!("{path}url"), url)],
        (None, Some(urls)) if urls.is_empty() => {
            let text = "names no replica; at least one is needed";
            return Err(section.error(&format!("{path}replicas"), text));
        }
        (None, Some(urls)) => {
            let keyed = urls.into_iter().enumerate();
            keyed
                .map(|(index, url)| (format!("{path}replicas[{index}]"), url))
                .collect()
        }
        (Some(_), Some(_)) => {
            let text =
                "`url` and `replicas` are both set; `url` is for a shard with a single replica";
            return Err(section.error(&format!("{path}replicas"), text));
        }
        (None, None) => {
            let more = if path.is_empty() {
                ", or `shards` for several shards"
            } else {
                ""
            };
            let text = format!(
                "missing; set `url: http://host:8123`, or `replicas` for several servers with the same rows{more}"
            );
            return Err(section.error(&format!("{path}url"), text));
        }
    };
    let mut endpoints: Vec<Endpoint> = Vec::with_capacity(urls.len());
    for (key, url) in urls {
        let endpoint = endpoint(&url).map_err(|message| section.error(&key, message))?;
        if let Some(first) = others
            .iter()
            .position(|shard| shard.iter().any(|other| other.is(&endpoint)))
        {
            let text = format!("the same address as in shard {first}, which would get two shares");
            return Err(section.error(&key, text));
        }
        if let Some(first) = endpoints.iter().position(|other| other.is(&endpoint)) {
            let text = format!("the same address as replica {first} of this shard");
            return Err(section.error(&key, text));
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
            .to_ascii_lowercase(),
        port: authority.port_u16().unwrap_or(80),
        authority: authority.as_str().to_owned(),
        path: format!("{path}/"),
    })
}
