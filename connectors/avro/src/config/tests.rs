//! The `deserializer` section: what is read of it, and what is refused.

use spate_runtime::config::Config;

use super::*;

fn read(yaml: &str) -> Result<DecoderConfig, String> {
    let config = Config::from_yaml(yaml).map_err(|error| error.to_string())?;
    DecoderConfig::read(&config.section("deserializer")).map_err(|error| error.to_string())
}

#[test]
fn a_registry_is_read_with_its_defaults() {
    let config =
        read("deserializer: { registry: { url: \"http://registry:8081/base/\" } }").expect("valid");
    assert_eq!(config.framing, Framing::Confluent);
    let registry = config.registry.expect("a registry");
    assert_eq!(registry.shown(), "registry:8081/base");
    assert_eq!(
        (registry.timeout, registry.give_up_after),
        (Duration::from_secs(10), Duration::from_secs(120))
    );
    let registry = read(
        "deserializer: { registry: { urls: [\"http://[::1]\", \"http://b:1/x\"], token: t } }",
    )
    .expect("valid")
    .registry
    .expect("a registry");
    assert_eq!(registry.shown(), "[::1]:80, b:1/x");
    assert_eq!(
        registry.auth.map(|auth| auth.header()),
        Some("Bearer t".to_owned())
    );
}

#[cfg(feature = "value")]
#[test]
fn of_values_everything_that_needs_a_compiled_schema_is_refused_with_what_to_do() {
    let read = |yaml: &str| {
        let config = Config::from_yaml(yaml).expect("valid YAML");
        DecoderConfig::read_for(&config.section("deserializer"), Reads::Values)
            .map_err(|error| error.to_string())
    };
    for (yaml, path, advice) in [
        ("deserializer: {}", "deserializer", "`registry.url`"),
        (
            "deserializer: { schema_ids: [1] }",
            "deserializer.schema_ids",
            "leave them out",
        ),
        (
            "deserializer: { schema_ids: [1], registry: { url: \"http://r\" } }",
            "deserializer.schema_ids",
            "leave them out",
        ),
        (
            "deserializer: { schema: a.avsc, registry: { url: \"http://r\" } }",
            "deserializer.schema",
            "leave it out",
        ),
        (
            "deserializer: { schema: a.avsc }",
            "deserializer.schema",
            "`framing: raw`",
        ),
        (
            "deserializer: { framing: raw }",
            "deserializer.schema",
            ".avsc file",
        ),
        (
            "deserializer: { framing: single_object }",
            "deserializer.schema",
            ".avsc file",
        ),
        (
            "deserializer: { framing: raw, schema: a.avsc, registry: { url: \"http://r\" } }",
            "deserializer.registry",
            "leave the registry out",
        ),
    ] {
        let error = read(yaml).expect_err(yaml);
        assert!(
            error.contains(path) && error.contains(advice),
            "{yaml}: {error}"
        );
    }
    read("deserializer: { framing: single_object, schema: a.avsc }").expect("valid");
    read("deserializer: { registry: { url: \"http://r\", subject: s } }").expect("valid");
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
            "deserializer: { framing: raw, schema: order.avsc }",
            "deserializer.schema",
        ),
        (
            "deserializer: { schema_ids: [0] }",
            "deserializer.schema_ids",
        ),
        (
            "deserializer: { registry: { url: \"registry:8081\" } }",
            "deserializer.registry.url",
        ),
        #[cfg(not(feature = "tls"))]
        (
            "deserializer: { registry: { url: \"https://r\" } }",
            "spate's feature `avro-tls`",
        ),
        #[cfg(feature = "tls")]
        (
            "deserializer: { registry: { url: \"https://r\", tls: { cert: x.pem } } }",
            "deserializer.registry.tls.key",
        ),
        #[cfg(feature = "tls")]
        (
            "deserializer: { registry: { url: \"https://r\", tls: { ca: /nowhere/ca.pem } } }",
            "deserializer.registry.tls.ca",
        ),
        (
            "deserializer: { registry: { url: \"http://r\", tls: {} } }",
            "deserializer.registry.tls",
        ),
        (
            "deserializer: { registry: {} }",
            "deserializer.registry.url",
        ),
        (
            "deserializer: { registry: { urls: [\"http://r\", \"ftp://r\"] } }",
            "deserializer.registry.urls[1]",
        ),
        (
            "deserializer: { registry: { url: \"http://r\", urls: [\"http://r\"] } }",
            "deserializer.registry.urls",
        ),
        (
            "deserializer: { registry: { url: \"http://r\", token: secret, username: me, password: secret } }",
            "deserializer.registry.token",
        ),
        (
            "deserializer: { registry: { url: \"http://r\", subject: \"\" } }",
            "deserializer.registry.subject",
        ),
        (
            "deserializer: { registry: { url: \"http://me:secret@r\" } }",
            "deserializer.registry.url",
        ),
        (
            "deserializer: { registry: { url: \"http://r:99999\" } }",
            "deserializer.registry.url",
        ),
        (
            "deserializer: { registry: { url: \"http://r:x\" } }",
            "deserializer.registry.url",
        ),
        (
            "deserializer: { registry: { url: \"http://r:\" } }",
            "deserializer.registry.url",
        ),
        (
            "deserializer: { registry: { url: \"http://r\", token: \"secret\\n\" } }",
            "deserializer.registry.token",
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
