//! The parts `tls` and `sasl` of the section, turned into the client's settings.

use std::fs::File;
use std::path::PathBuf;

use rdkafka::config::ClientConfig;
use spate_runtime::config::{ConfigError, Secret, Section};

use crate::passthrough::{TLS, WITHOUT_TLS};

/// `tls: {}` is enough where the brokers' certificates are of an authority that the system knows.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tls {
    /// PEM file with the authorities' certificates.
    #[serde(default)]
    ca: Option<PathBuf>,
    /// PEM file with the client's own certificate.
    #[serde(default)]
    cert: Option<PathBuf>,
    /// PEM file with its key.
    #[serde(default)]
    key: Option<PathBuf>,
    #[serde(default)]
    key_password: Option<Secret>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sasl {
    mechanism: Mechanism,
    username: Secret,
    password: Secret,
}

#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
enum Mechanism {
    #[serde(rename = "plain", alias = "PLAIN")]
    Plain,
    #[serde(rename = "scram-sha-256", alias = "SCRAM-SHA-256")]
    ScramSha256,
    #[serde(rename = "scram-sha-512", alias = "SCRAM-SHA-512")]
    ScramSha512,
}

/// Sets what the two parts say; `secrets` gets what must be in no text.
pub(super) fn apply(
    section: &Section,
    tls: Option<&Tls>,
    sasl: Option<&Sasl>,
    client: &mut ClientConfig,
    secrets: &mut Vec<String>,
) -> Result<(), ConfigError> {
    if !TLS && (tls.is_some() || sasl.is_some()) {
        let key = if tls.is_some() { "tls" } else { "sasl" };
        return Err(section.error(key, WITHOUT_TLS));
    }
    if let Some(tls) = tls {
        apply_tls(section, tls, client, secrets)?;
    }
    if let Some(sasl) = sasl {
        for (key, value) in [("username", &sasl.username), ("password", &sasl.password)] {
            if value.expose().is_empty() {
                return Err(section.error(&format!("sasl.{key}"), "it is empty"));
            }
            secrets.push(value.expose().to_owned());
        }
        let mechanism = match sasl.mechanism {
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha512 => "SCRAM-SHA-512",
        };
        client
            .set("sasl.mechanisms", mechanism)
            .set("sasl.username", sasl.username.expose())
            .set("sasl.password", sasl.password.expose());
    }
    client.set(
        "security.protocol",
        match (tls.is_some(), sasl.is_some()) {
            (false, false) => "plaintext",
            (true, false) => "ssl",
            (false, true) => "sasl_plaintext",
            (true, true) => "sasl_ssl",
        },
    );
    Ok(())
}

fn apply_tls(
    section: &Section,
    tls: &Tls,
    client: &mut ClientConfig,
    secrets: &mut Vec<String>,
) -> Result<(), ConfigError> {
    if tls.cert.is_some() != tls.key.is_some() {
        return Err(section.error(
            "tls",
            "a certificate needs its key: set both `cert` and `key`, or none",
        ));
    }
    if tls.key_password.is_some() && tls.key.is_none() {
        return Err(section.error("tls.key_password", "there is no `key` that it could open"));
    }
    let files = [
        ("ca", "ssl.ca.location", &tls.ca),
        ("cert", "ssl.certificate.location", &tls.cert),
        ("key", "ssl.key.location", &tls.key),
    ];
    for (key, setting, path) in files {
        let Some(path) = path else { continue };
        let key = format!("tls.{key}");
        File::open(path).map_err(|error| {
            section.error(&key, format!("the file cannot be read: {}", error.kind()))
        })?;
        let path = path
            .to_str()
            .ok_or_else(|| section.error(&key, "the path is not UTF-8"))?;
        client.set(setting, path);
    }
    if tls.ca.is_none() {
        // An OpenSSL that was built from source looks where no system keeps its authorities.
        client.set("ssl.ca.location", "probe");
    }
    if let Some(password) = &tls.key_password {
        secrets.push(password.expose().to_owned());
        client.set("ssl.key.password", password.expose());
    }
    Ok(())
}
