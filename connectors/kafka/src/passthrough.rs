//! Which settings of librdkafka a pipeline may not set itself, and what keeps their values out of texts.
//!
//! The table covers aliases, and names are compared without regard to case although librdkafka takes lower case only: a name
//! that is refused must not get in by another spelling.

/// Whether the settings of TLS and SASL can be used.
const TLS: bool = cfg!(feature = "tls");

const COMMITS: &str =
    "the engine commits offsets itself, after the rows are durable; use `checkpoint.interval`";
const OFFSETS: &str = "offsets are stored in Kafka, by the engine; remove it";
const BROKERS: &str = "use `source.brokers`";

/// What must not be set, and what to do instead.
const DENIED: &[(&str, &str)] = &[
    ("enable.auto.commit", COMMITS),
    ("auto.commit.enable", COMMITS),
    ("auto.commit.interval.ms", COMMITS),
    ("enable.auto.offset.store", COMMITS),
    ("offset.store.method", OFFSETS),
    ("offset.store.path", OFFSETS),
    ("offset.store.sync.interval.ms", OFFSETS),
    ("bootstrap.servers", BROKERS),
    ("metadata.broker.list", BROKERS),
    ("group.id", "use `source.group_id`"),
    ("auto.offset.reset", "use `source.start_offset`"),
    (
        "group.protocol",
        "only the classic group protocol is supported; remove it",
    ),
    (
        "group.protocol.type",
        "only the classic group protocol is supported; remove it",
    ),
    (
        "group.remote.assignor",
        "it belongs to another group protocol; use `partition.assignment.strategy`",
    ),
    (
        "enable.partition.eof",
        "a Kafka source has no end; remove it",
    ),
    (
        "statistics.interval.ms",
        "the client's statistics are not read; remove it",
    ),
    (
        "test.mock.num.brokers",
        "it replaces the brokers; remove it",
    ),
    (
        "enabled_events",
        "the source decides which events it takes; remove it",
    ),
    (
        "log.queue",
        "the client's log goes to the pipeline's log; remove it",
    ),
];

/// Families of settings that need TLS or SASL in the client.
const NEEDS_TLS: &[&str] = &[
    "ssl.",
    "ssl_",
    "sasl.",
    "enable.ssl.",
    "enable.sasl.",
    "https.",
];

/// Whether a pipeline may set `key` to `value`.
///
/// # Errors
/// Why not, and what to do instead. The text holds no value.
pub(crate) fn check(key: &str, value: &str) -> Result<(), String> {
    let name = key.trim().to_ascii_lowercase();
    if let Some((_, instead)) = DENIED.iter().find(|(denied, _)| *denied == name) {
        return Err((*instead).to_owned());
    }
    if name != key {
        return Err(format!(
            "librdkafka has no setting of this name; write `{name}`"
        ));
    }
    if name == "partition.assignment.strategy" {
        check_strategy(value)?;
    }
    if !TLS && needs_tls(&name, value) {
        return Err("this program was built without TLS and SASL; build it with spate's feature `kafka-tls`".to_owned());
    }
    Ok(())
}

/// Eager and cooperative strategies cannot serve one group together.
fn check_strategy(value: &str) -> Result<(), String> {
    let names = || {
        value
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
    };
    let cooperative = names()
        .filter(|name| name.to_ascii_lowercase().starts_with("cooperative"))
        .count();
    if cooperative != 0 && cooperative != names().count() {
        return Err(
            "eager and cooperative strategies are mixed; list strategies of one kind, \
                    and change the kind of a running group by stopping all its members first"
                .to_owned(),
        );
    }
    Ok(())
}

fn needs_tls(name: &str, value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    match name {
        "security.protocol" => value.contains("ssl") || value.contains("sasl"),
        "builtin.features" => value.split(',').any(|feature| {
            let feature = feature.trim();
            feature == "ssl" || feature == "oidc" || feature.starts_with("sasl")
        }),
        _ => NEEDS_TLS.iter().any(|family| name.starts_with(family)),
    }
}

/// Replaces every value of three characters or more by `***`: what the client says about its settings may quote them.
pub(crate) fn redact(text: &str, values: &[String]) -> String {
    let mut values: Vec<&str> = values
        .iter()
        .map(String::as_str)
        .filter(|value| value.len() >= 3)
        .collect();
    // The longest first, or a value that is part of another would leave the rest of it.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
        .iter()
        .fold(text.to_owned(), |text, value| text.replace(value, "***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_engine_is_refused_under_every_name_and_spelling() {
        for (key, named) in [
            ("enable.auto.commit", "checkpoint.interval"),
            ("auto.commit.enable", "checkpoint.interval"),
            ("Enable.Auto.Commit", "checkpoint.interval"),
            ("enable.auto.offset.store", "checkpoint.interval"),
            ("ENABLE.AUTO.OFFSET.STORE", "checkpoint.interval"),
            ("auto.commit.interval.ms", "checkpoint.interval"),
            ("bootstrap.servers", "source.brokers"),
            ("metadata.broker.list", "source.brokers"),
            ("Metadata.Broker.List", "source.brokers"),
            ("group.id", "source.group_id"),
            ("auto.offset.reset", "source.start_offset"),
            ("enable.partition.eof", "no end"),
            ("group.protocol", "classic"),
            ("group.remote.assignor", "partition.assignment.strategy"),
            (" group.id ", "source.group_id"),
            ("test.mock.num.brokers", "brokers"),
        ] {
            let message = check(key, "anything").expect_err(key);
            assert!(message.contains(named), "{key}: {message}");
            assert!(!message.contains("anything"), "{key}: {message}");
        }
    }

    #[test]
    fn the_right_spelling_of_a_name_is_told() {
        assert!(
            check("Session.Timeout.Ms", "6000")
                .is_err_and(|message| message.contains("`session.timeout.ms`"))
        );
        assert_eq!(check("session.timeout.ms", "6000"), Ok(()));
    }

    #[test]
    fn eager_and_cooperative_strategies_do_not_mix() {
        let key = "partition.assignment.strategy";
        for eager in ["range", "roundrobin", "range,roundrobin"] {
            assert_eq!(check(key, eager), Ok(()), "{eager}");
        }
        assert_eq!(check(key, "cooperative-sticky"), Ok(()));
        for mixed in [
            "range,cooperative-sticky",
            "cooperative-sticky, roundrobin",
            "Cooperative-Sticky,range",
        ] {
            assert!(
                check(key, mixed).is_err_and(|message| message.contains("mixed")),
                "{mixed}"
            );
        }
    }

    #[test]
    fn tls_and_sasl_settings_need_a_client_that_has_them() {
        for (key, value) in [
            ("security.protocol", "ssl"),
            ("security.protocol", "SASL_SSL"),
            ("security.protocol", "sasl_plaintext"),
            ("ssl.ca.location", "/etc/ca.pem"),
            ("sasl.username", "etl"),
            ("sasl.mechanism", "PLAIN"),
            ("sasl.mechanisms", "PLAIN"),
            ("enable.ssl.certificate.verification", "false"),
            ("enable.sasl.oauthbearer.unsecure.jwt", "true"),
            ("https.ca.location", "probe"),
            ("builtin.features", "gzip,sasl_scram"),
        ] {
            let refused = check(key, value);
            assert_eq!(refused.is_err(), !TLS, "{key}: {refused:?}");
            if let Err(message) = refused {
                assert!(message.contains("kafka-tls"), "{key}: {message}");
            }
        }
        assert_eq!(check("security.protocol", "plaintext"), Ok(()));
        assert_eq!(check("builtin.features", "gzip,snappy"), Ok(()));
    }

    #[test]
    fn no_value_is_left_in_a_text() {
        let values = [
            "hunter2".to_owned(),
            "hunter2-and-more".to_owned(),
            "1".to_owned(),
            String::new(),
        ];
        let text = redact("bad value \"hunter2-and-more\" (hunter2) at 1", &values);
        assert_eq!(text, "bad value \"***\" (***) at 1");
    }
}
