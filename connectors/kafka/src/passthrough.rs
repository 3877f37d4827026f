//! Which settings of librdkafka a pipeline may not set itself, and what keeps their values out of texts.
//!
//! The table covers aliases, and names are compared without regard to case although librdkafka takes lower case only: a name
//! that is refused must not get in by another spelling.

/// Whether the settings of TLS and SASL can be used.
pub(crate) const TLS: bool = cfg!(feature = "tls");

/// What to do where they cannot.
pub(crate) const WITHOUT_TLS: &str =
    "this program was built without TLS and SASL; build it with spate's feature `kafka-tls`";

const COMMITS: &str =
    "the engine commits offsets itself, after the rows are durable; use `checkpoint.interval`";
const OFFSETS: &str = "offsets are stored in Kafka, by the engine; remove it";
const BROKERS: &str = "use `source.brokers`";
const CALLBACK: &str = "it is set by programs, not by a configuration; remove it";
const ASSIGNED_BY_BROKER: &str =
    "with `source.group_protocol: consumer` this is the broker's own setting; remove it";

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
    ("group.protocol", "use `source.group_protocol`"),
    (
        "group.protocol.type",
        "members of other kinds cannot share the group; remove it",
    ),
    ("group.instance.id", "use `source.group_instance_id`"),
    (
        "enable.partition.eof",
        "the source needs to know where a partition ends; remove it",
    ),
    ("security.protocol", "use `source.tls` and `source.sasl`"),
    ("ssl.ca.location", "use `source.tls.ca`"),
    ("ssl.ca.pem", "use `source.tls.ca`"),
    ("ssl.certificate.location", "use `source.tls.cert`"),
    ("ssl.certificate.pem", "use `source.tls.cert`"),
    ("ssl.key.location", "use `source.tls.key`"),
    ("ssl.key.pem", "use `source.tls.key`"),
    ("ssl.key.password", "use `source.tls.key_password`"),
    ("sasl.mechanism", "use `source.sasl.mechanism`"),
    ("sasl.mechanisms", "use `source.sasl.mechanism`"),
    ("sasl.username", "use `source.sasl.username`"),
    ("sasl.password", "use `source.sasl.password`"),
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
    ("background_event_cb", CALLBACK),
    ("closesocket_cb", CALLBACK),
    ("connect_cb", CALLBACK),
    ("consume_cb", CALLBACK),
    ("default_topic_conf", CALLBACK),
    ("dr_cb", CALLBACK),
    ("dr_msg_cb", CALLBACK),
    ("error_cb", CALLBACK),
    ("interceptors", CALLBACK),
    ("log_cb", CALLBACK),
    ("oauthbearer_token_refresh_cb", CALLBACK),
    ("offset_commit_cb", CALLBACK),
    ("opaque", CALLBACK),
    ("open_cb", CALLBACK),
    ("rebalance_cb", CALLBACK),
    ("resolve_cb", CALLBACK),
    ("socket_cb", CALLBACK),
    ("ssl.certificate.verify_cb", CALLBACK),
    ("ssl_ca", "use `source.tls.ca`"),
    ("ssl_certificate", "use `source.tls.cert`"),
    ("ssl_engine_callback_data", CALLBACK),
    ("ssl_key", "use `source.tls.key`"),
    ("stats_cb", CALLBACK),
    ("throttle_cb", CALLBACK),
    (
        "log.queue",
        "the client's log goes to the pipeline's log; remove it",
    ),
];

/// What must not be set where the broker assigns the partitions, and what only there.
const CLASSIC_ONLY: &[&str] = &[
    "partition.assignment.strategy",
    "session.timeout.ms",
    "heartbeat.interval.ms",
];
const CONSUMER_ONLY: &[&str] = &["group.remote.assignor"];

/// Families of settings that need TLS or SASL in the client.
const NEEDS_TLS: &[&str] = &[
    "ssl.",
    "ssl_",
    "sasl.",
    "enable.ssl.",
    "enable.sasl.",
    "https.",
];

/// Whether a pipeline may set `key` to `value`; `consumer` tells that the broker assigns the partitions.
///
/// # Errors
/// Why not, and what to do instead. The text holds no value.
pub(crate) fn check(key: &str, value: &str, consumer: bool) -> Result<(), String> {
    let name = key.trim().to_ascii_lowercase();
    // Other programs write settings of topics like this; librdkafka has none.
    let name = name
        .strip_prefix("topic.")
        .filter(|name| is_denied(name))
        .unwrap_or(&name);
    if let Some((_, instead)) = DENIED.iter().find(|(denied, _)| *denied == name) {
        return Err((*instead).to_owned());
    }
    if name != key {
        return Err(format!(
            "librdkafka has no setting of this name; write `{name}`"
        ));
    }
    if consumer && CLASSIC_ONLY.contains(&name) {
        return Err(ASSIGNED_BY_BROKER.to_owned());
    }
    if !consumer && CONSUMER_ONLY.contains(&name) {
        return Err("it needs `source.group_protocol: consumer`".to_owned());
    }
    if name == "partition.assignment.strategy" {
        check_strategy(value)?;
    }
    if !TLS && needs_tls(name, value) {
        return Err(WITHOUT_TLS.to_owned());
    }
    Ok(())
}

fn is_denied(name: &str) -> bool {
    DENIED.iter().any(|(denied, _)| *denied == name)
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
    fn a_setting_of_the_source_is_refused_under_every_name_and_spelling() {
        for (key, named) in [
            ("enable.auto.commit", "checkpoint.interval"),
            ("auto.commit.enable", "checkpoint.interval"),
            ("auto.commit.interval.ms", "checkpoint.interval"),
            ("enable.auto.offset.store", "checkpoint.interval"),
            ("offset.store.method", "stored in Kafka"),
            ("offset.store.path", "stored in Kafka"),
            ("offset.store.sync.interval.ms", "stored in Kafka"),
            ("bootstrap.servers", "source.brokers"),
            ("metadata.broker.list", "source.brokers"),
            ("group.id", "source.group_id"),
            ("group.instance.id", "source.group_instance_id"),
            ("group.protocol", "source.group_protocol"),
            ("group.protocol.type", "remove it"),
            ("auto.offset.reset", "source.start_offset"),
            ("enable.partition.eof", "ends"),
            ("statistics.interval.ms", "not read"),
            ("enabled_events", "events"),
            ("log.queue", "log"),
            ("test.mock.num.brokers", "brokers"),
            ("security.protocol", "source.tls"),
            ("ssl.ca.location", "source.tls.ca"),
            ("ssl.ca.pem", "source.tls.ca"),
            ("ssl.certificate.location", "source.tls.cert"),
            ("ssl.certificate.pem", "source.tls.cert"),
            ("ssl.key.location", "source.tls.key"),
            ("ssl.key.pem", "source.tls.key"),
            ("ssl.key.password", "source.tls.key_password"),
            ("sasl.mechanism", "source.sasl.mechanism"),
            ("sasl.mechanisms", "source.sasl.mechanism"),
            ("sasl.username", "source.sasl.username"),
            ("sasl.password", "source.sasl.password"),
            ("rebalance_cb", "programs"),
            ("offset_commit_cb", "programs"),
            ("default_topic_conf", "programs"),
            ("opaque", "programs"),
        ] {
            let capitals: String = key
                .split('.')
                .map(|word| word[..1].to_uppercase() + &word[1..])
                .collect::<Vec<_>>()
                .join(".");
            for spelling in [
                key.to_owned(),
                key.to_uppercase(),
                capitals,
                format!(" {key}"),
                format!("{key}\t"),
                format!("topic.{key}"),
                format!("Topic.{}", key.to_uppercase()),
            ] {
                for consumer in [false, true] {
                    let message = check(&spelling, "anything", consumer).expect_err(&spelling);
                    assert!(message.contains(named), "{spelling}: {message}");
                    assert!(!message.contains("anything"), "{spelling}: {message}");
                }
            }
        }
    }

    #[test]
    fn settings_of_librdkafka_whose_names_begin_with_topic_are_its_own() {
        for key in ["topic.blacklist", "topic.metadata.refresh.interval.ms"] {
            assert_eq!(check(key, "^x", false), Ok(()), "{key}");
        }
    }

    #[test]
    fn the_right_spelling_of_a_name_is_told() {
        assert!(
            check("Session.Timeout.Ms", "6000", false)
                .is_err_and(|message| message.contains("`session.timeout.ms`"))
        );
        assert_eq!(check("session.timeout.ms", "6000", false), Ok(()));
    }

    #[test]
    fn eager_and_cooperative_strategies_do_not_mix() {
        let key = "partition.assignment.strategy";
        for eager in ["range", "roundrobin", "range,roundrobin"] {
            assert_eq!(check(key, eager, false), Ok(()), "{eager}");
        }
        assert_eq!(check(key, "cooperative-sticky", false), Ok(()));
        for mixed in [
            "range,cooperative-sticky",
            "cooperative-sticky, roundrobin",
            "Cooperative-Sticky,range",
        ] {
            assert!(
                check(key, mixed, false).is_err_and(|message| message.contains("mixed")),
                "{mixed}"
            );
        }
    }

    #[test]
    fn tls_and_sasl_settings_need_a_client_that_has_them() {
        for (key, value) in [
            ("ssl.cipher.suites", "AES"),
            ("ssl.endpoint.identification.algorithm", "none"),
            ("sasl.kerberos.keytab", "/etc/keytab"),
            ("enable.ssl.certificate.verification", "false"),
            ("enable.sasl.oauthbearer.unsecure.jwt", "true"),
            ("https.ca.location", "probe"),
            ("builtin.features", "gzip,sasl_scram"),
        ] {
            let refused = check(key, value, false);
            assert_eq!(refused.is_err(), !TLS, "{key}: {refused:?}");
            if let Err(message) = refused {
                assert!(message.contains("kafka-tls"), "{key}: {message}");
            }
        }
        assert_eq!(check("builtin.features", "gzip,snappy", false), Ok(()));
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
