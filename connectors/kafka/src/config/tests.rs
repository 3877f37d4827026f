use spate_runtime::config::Config;

use super::*;

const FULL: &str = "
source:
  brokers: [one:9092, 'two:9093']
  topics: [orders, lines]
  group_id: etl
  group_instance_id: etl-1
  start_offset: latest
  on_offset_gap: earliest
  startup_timeout: 10s
  assignment_timeout: 1m
  rdkafka:
    session.timeout.ms: 6000
    isolation.level: read_uncommitted
";

fn read(yaml: &str) -> Result<Settings, String> {
    let config = Config::from_yaml(yaml).expect("it is YAML");
    Settings::read(&config.section("source")).map_err(|error| error.to_string())
}

/// The section with one more or other line.
fn with(line: &str) -> Result<Settings, String> {
    let key = line.split(':').next().expect("a key");
    let kept = [
        "  brokers: one:9092",
        "  topics: [orders]",
        "  group_id: etl",
    ];
    let kept = kept
        .iter()
        .filter(|kept| kept.trim().split(':').next() != Some(key));
    read(&format!(
        "source:\n{}\n  {line}\n",
        kept.copied().collect::<Vec<_>>().join("\n")
    ))
}

fn refused(line: &str) -> String {
    with(line).map(|_| ()).expect_err(line)
}

#[test]
fn every_setting_reaches_the_client() {
    let settings = read(FULL).expect("it is valid");
    assert_eq!(settings.subscription.listed(), ["orders", "lines"]);
    assert_eq!(settings.start_offset, StartOffset::Latest);
    assert_eq!(
        (
            settings.startup_timeout.as_secs(),
            settings.assignment_timeout.as_secs()
        ),
        (10, 60)
    );
    assert!(!settings.read_committed);
    let client = settings.client(0);
    for (key, value) in [
        ("bootstrap.servers", "one:9092,two:9093"),
        ("group.id", "etl"),
        ("session.timeout.ms", "6000"),
        ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "false"),
        ("enable.partition.eof", "true"),
        ("group.instance.id", "etl-1"),
        ("fetch.queue.backoff.ms", "5"),
        ("auto.offset.reset", "earliest"),
        ("group.protocol", "classic"),
    ] {
        assert_eq!(client.get(key), Some(value), "{key}");
    }
    assert_eq!(
        settings.client_without_brokers().get("bootstrap.servers"),
        None
    );
}

#[test]
fn three_settings_are_enough() {
    let settings = read("source: {brokers: 'one:9092, two:9092', topic: orders, group_id: etl}")
        .expect("it is valid");
    assert_eq!(settings.subscription.listed(), ["orders"]);
    assert_eq!(settings.client(0).get("auto.offset.reset"), Some("error"));
    assert_eq!(
        settings.client(0).get("security.protocol"),
        Some("plaintext")
    );
    assert_eq!(settings.start_offset, StartOffset::Earliest);
    assert_eq!(
        (
            settings.startup_timeout.as_secs(),
            settings.assignment_timeout.as_secs()
        ),
        (30, 300)
    );
    assert!(settings.read_committed);
    assert_eq!(
        settings.client(0).get("bootstrap.servers"),
        Some("one:9092,two:9092")
    );
}

#[test]
fn where_a_start_and_where_a_gap_lead_are_set_apart() {
    for (gap, reset) in [
        ("fail", "error"),
        ("earliest", "earliest"),
        ("latest", "latest"),
    ] {
        for start in ["fail", "earliest", "latest"] {
            let settings = with(&format!("start_offset: {start}\n  on_offset_gap: {gap}"));
            let settings = settings.expect("it is valid");
            assert_eq!(settings.client(0).get("auto.offset.reset"), Some(reset));
        }
    }
}

#[test]
fn topics_are_listed_or_matched_and_never_both() {
    let read = |more: &str| {
        read(&format!(
            "source: {{brokers: one:9092, group_id: etl, {more}}}"
        ))
        .map(|settings| settings.subscription)
    };
    let pattern = read("topic_pattern: '^orders\\.(eu|us)'").expect("it is valid");
    assert_eq!(
        pattern,
        Subscription::Pattern("^orders\\.(eu|us)".to_owned())
    );
    assert_eq!(pattern.entries(), ["^orders\\.(eu|us)"]);
    assert_eq!(pattern.listed(), [""; 0]);
    assert_eq!(pattern.to_string(), "topics that match `^orders\\.(eu|us)`");
    let list = read("topics: 'a, b'").expect("it is valid");
    assert_eq!(list.to_string(), "`a`, `b`");
    for (more, path, words) in [
        (
            "topic_pattern: '^a', topics: [b]",
            "source.topic_pattern",
            "not both",
        ),
        (
            "topic_pattern: '^a', topic: b",
            "source.topic_pattern",
            "not both",
        ),
        (
            "topic_pattern: '^a', topic: b, topics: [c]",
            "source.topic_pattern",
            "not both",
        ),
        (
            "topic_pattern: secret",
            "source.topic_pattern",
            "begins with `^`",
        ),
        (
            "topic_pattern: '^'",
            "source.topic_pattern",
            "begins with `^`",
        ),
        ("topics: [a, '^secret']", "source.topics", "topic_pattern"),
        ("topic: '^secret'", "source.topic", "topic_pattern"),
    ] {
        let error = read(more).expect_err(more);
        assert!(
            error.contains(&format!("{path}: ")) && error.contains(words),
            "{more}: {error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn the_broker_assigns_or_the_group_and_each_has_its_settings() {
    let consumer = |more: &str| with(&format!("group_protocol: consumer\n  rdkafka: {{{more}}}"));
    let settings = consumer("group.remote.assignor: uniform").expect("it is valid");
    assert_eq!(settings.client(0).get("group.protocol"), Some("consumer"));
    for key in [
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "partition.assignment.strategy",
    ] {
        let error = consumer(&format!("{key}: 6000"))
            .map(|_| ())
            .expect_err(key);
        assert!(
            error.contains(&format!("source.rdkafka.{key}: ")) && error.contains("group_protocol"),
            "{error}"
        );
    }
    let error = refused("rdkafka: {group.remote.assignor: uniform}");
    assert!(error.contains("source.group_protocol: consumer"), "{error}");
    assert!(refused("group_protocol: secret").contains("classic"));
    assert!(refused("group_instance_id: ''").contains("source.group_instance_id"));
}

#[test]
fn a_default_may_be_set_and_what_the_engine_owns_may_not() {
    let settings =
        with("rdkafka: {fetch.queue.backoff.ms: 50, client.id: me}").expect("it is valid");
    assert_eq!(settings.client(0).get("fetch.queue.backoff.ms"), Some("50"));
    assert_eq!(settings.client(0).get("client.id"), Some("me"));
    for (key, named) in [
        ("enable.auto.commit", "checkpoint.interval"),
        ("auto.commit.enable", "checkpoint.interval"),
        ("Enable.Auto.Offset.Store", "checkpoint.interval"),
        ("metadata.broker.list", "source.brokers"),
        ("group.id", "source.group_id"),
        ("auto.offset.reset", "source.start_offset"),
    ] {
        let error = refused(&format!("rdkafka: {{{key}: true}}"));
        assert!(
            error.contains(&format!("source.rdkafka.{key}: ")) && error.contains(named),
            "{error}"
        );
    }
}

#[test]
fn a_wrong_setting_is_named_with_its_path_and_without_its_value() {
    for (line, path, words) in [
        ("brokers: []", "source.brokers", "host:port"),
        ("brokers: kafka-secret", "source.brokers", "host:port"),
        (
            "brokers: ['kafka-secret:99999']",
            "source.brokers",
            "host:port",
        ),
        (
            "brokers: ['kafka-secret:1,two:2']",
            "source.brokers",
            "comma",
        ),
        ("topics: []", "source.topics", "at least one"),
        ("topics: ['^secret.*']", "source.topics", "topic_pattern"),
        (
            "topics: ['secret topic']",
            "source.topics",
            "not a topic's name",
        ),
        ("topics: [secret, secret]", "source.topics", "twice"),
        ("topic: secret", "source.topics", "one of the two"),
        ("group_id: ''", "source.group_id", "consumer group"),
        ("start_offset: secret", "source.start_offset", "earliest"),
        ("startup_timeout: 30", "source.startup_timeout", "unit"),
        ("topik: secret", "source.topik", "topic"),
        (
            "rdkafka: {no.such.setting: secret}",
            "source.rdkafka.no.such.setting",
            "no setting of this name",
        ),
        (
            "rdkafka: {session.timeout.ms: secret}",
            "source.rdkafka.session.timeout.ms",
            "does not take this value",
        ),
        (
            "rdkafka: {partition.assignment.strategy: 'range,cooperative-sticky'}",
            "partition.assignment.strategy",
            "mixed",
        ),
    ] {
        let error = refused(line);
        assert!(
            error.contains(path) && error.contains(words),
            "{line}: {error}"
        );
        assert!(!error.contains("secret"), "{line}: {error}");
    }
    let error = read("source: {brokers: one:9092, group_id: etl}")
        .map(|_| ())
        .expect_err("no topic");
    assert!(
        error.contains("source.topics") && error.contains("kafka(topic"),
        "{error}"
    );
}

#[test]
fn brokers_are_addresses_with_a_port() {
    for good in [
        "localhost:9092",
        "10.0.0.1:1",
        "[::1]:9092",
        "PLAINTEXT://kafka:9092",
        "ssl://kafka:9092",
    ] {
        assert!(is_broker(good), "{good}");
    }
    for bad in [
        "",
        "localhost",
        ":9092",
        "localhost:",
        "localhost:0",
        "localhost:x",
        "::1:9092",
        "a b:9092",
    ] {
        assert!(!is_broker(bad), "{bad}");
    }
}

#[test]
fn no_debug_shows_a_value() {
    let settings = with("rdkafka: {client.id: hunter2}").expect("it is valid");
    let shown = format!("{settings:?} {settings:#?}");
    assert!(
        shown.contains("orders") && !shown.contains("hunter2") && !shown.contains("etl"),
        "{shown}"
    );
}
