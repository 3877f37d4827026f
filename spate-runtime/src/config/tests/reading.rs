//! From a section to a struct: what each kind of field takes, and what the error says if it does not.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::config;
use crate::config::{ByteSize, Config, Secret};

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    brokers: Vec<String>,
    topic: Option<String>,
    group_id: String,
    on_missing: OnMissing,
    tls: Tls,
    rdkafka: BTreeMap<String, String>,
    port: u16,
    offset: i64,
    ratio: f32,
    flag: bool,
    #[serde(with = "crate::config::duration")]
    wait: Duration,
    #[serde(with = "crate::config::duration::option")]
    maybe_wait: Option<Duration>,
    size: ByteSize,
    #[serde(with = "crate::config::byte_size")]
    bytes: usize,
    password: Secret,
    letter: Option<char>,
    pair: Option<(u8, String)>,
    weights: BTreeMap<u32, f64>,
    limit: Option<std::num::NonZeroUsize>,
    address: Option<std::net::SocketAddr>,
    anything: Option<Anything>,
    #[serde(alias = "older_name")]
    newer_name: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(rename_all = "lowercase")]
enum OnMissing {
    #[default]
    Fail,
    Earliest,
}

/// Without `deny_unknown_fields` on purpose.
#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(default)]
struct Tls {
    verify: bool,
    ca_file: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Anything {
    Number(i64),
    Fraction(f64),
    Flag(bool),
    Text(String),
    List(Vec<Anything>),
    Map(BTreeMap<String, Anything>),
}

fn read(fields: &str) -> Settings {
    source(fields).section("source").parse().unwrap()
}

fn source(fields: &str) -> Config {
    config(&format!("source:\n  {fields}\n"))
}

fn error(fields: &str) -> String {
    source(fields)
        .section("source")
        .parse::<Settings>()
        .expect_err(fields)
        .to_string()
}

#[test]
fn every_kind_of_field_is_read() {
    let read = read(
        "brokers: [a:1, 'b:2']
  topic: 007
  group_id: true
  on_missing: earliest
  tls: {verify: true, ca_file: /etc/ca.pem}
  rdkafka: {fetch.wait.max.ms: 10, enable.x: true, linger: 1.50, quoted: '5', null_text: 'null', version: 1_0}
  port: '9092'
  offset: -3
  ratio: 1
  flag: False
  wait: 250ms
  maybe_wait: 2m
  size: 64KiB
  bytes: 1024
  password: 12345
  letter: x
  pair: [7, seven]
  weights: {1: 0.5, 20: 2}
  limit: 5
  address: 127.0.0.1:80
  anything: [1, -2, 1.5, true, text, '1', {k: 2}]
  older_name: n",
    );
    assert_eq!(read.brokers, ["a:1", "b:2"]);
    assert_eq!(
        read.topic.as_deref(),
        Some("007"),
        "a plain number stays as it was written"
    );
    assert_eq!(read.group_id, "true");
    assert_eq!(read.on_missing, OnMissing::Earliest);
    assert_eq!(
        read.tls,
        Tls {
            verify: true,
            ca_file: Some("/etc/ca.pem".to_owned())
        }
    );
    let rdkafka: Vec<_> = read
        .rdkafka
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        rdkafka,
        [
            ("enable.x", "true"),
            ("fetch.wait.max.ms", "10"),
            ("linger", "1.50"),
            ("null_text", "null"),
            ("quoted", "5"),
            ("version", "1_0"),
        ]
    );
    assert_eq!(
        (read.port, read.offset, read.ratio, read.flag),
        (9092, -3, 1.0, false)
    );
    assert_eq!(
        (read.wait, read.maybe_wait),
        (Duration::from_millis(250), Some(Duration::from_secs(120)))
    );
    assert_eq!((read.size, read.bytes), (ByteSize::kib(64), 1024));
    assert_eq!(read.password.expose(), "12345");
    assert_eq!(
        (read.letter, read.pair),
        (Some('x'), Some((7, "seven".to_owned())))
    );
    assert_eq!(read.weights, BTreeMap::from([(1, 0.5), (20, 2.0)]));
    assert_eq!(read.limit.map(std::num::NonZeroUsize::get), Some(5));
    assert_eq!(read.address.map(|address| address.port()), Some(80));
    assert_eq!(read.newer_name.as_deref(), Some("n"));
    let Some(Anything::List(items)) = read.anything else {
        panic!("no list")
    };
    assert_eq!(
        items,
        [
            Anything::Number(1),
            Anything::Number(-2),
            Anything::Fraction(1.5),
            Anything::Flag(true),
            Anything::Text("text".to_owned()),
            Anything::Text("1".to_owned()),
            Anything::Map(BTreeMap::from([("k".to_owned(), Anything::Number(2))])),
        ]
    );
}

#[test]
fn nothing_is_the_default_of_a_struct_a_map_and_an_option() {
    assert_eq!(
        read("tls:\n  rdkafka:\n  topic: ~\n  maybe_wait: null\n  limit:"),
        Settings::default()
    );
    assert_eq!(
        config("source:\n")
            .section("source")
            .parse::<Settings>()
            .unwrap(),
        Settings::default()
    );
    assert_eq!(
        config("").section("source").parse::<Settings>().unwrap(),
        Settings::default()
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_named_by_path_and_kind() {
    for (fields, message) in [
        (
            "port: many",
            "2:9: source.port: expected a whole number, found text",
        ),
        (
            "port: 1.5",
            "2:9: source.port: expected a whole number, found a number with a fraction",
        ),
        (
            "port: 70000",
            "2:9: source.port: expected a whole number from 0 to 65535, found one outside",
        ),
        (
            "port: -1",
            "2:9: source.port: expected a whole number from 0 to 65535, found one outside",
        ),
        (
            "port: ''",
            "2:9: source.port: expected a whole number, found an empty text",
        ),
        (
            "port:",
            "2:3: source.port: expected a whole number, found nothing",
        ),
        (
            "port: [1]",
            "2:9: source.port: expected a whole number, found a list",
        ),
        (
            "port: {a: 1}",
            "2:9: source.port: expected a whole number, found a mapping",
        ),
        (
            "flag: yes",
            "2:9: source.flag: expected `true` or `false`, found text",
        ),
        (
            "flag: 1",
            "2:9: source.flag: expected `true` or `false`, found a number",
        ),
        (
            "ratio: high",
            "2:10: source.ratio: expected a number, found text",
        ),
        (
            "ratio: .inf",
            "2:10: source.ratio: expected a number, found text",
        ),
        (
            "group_id: [a]",
            "2:13: source.group_id: expected a string, found a list",
        ),
        (
            "group_id: {a: b}",
            "2:13: source.group_id: expected a string, found a mapping",
        ),
        (
            "group_id:",
            "2:3: source.group_id: expected a string, found nothing",
        ),
        (
            "brokers: a:1",
            "2:12: source.brokers: expected a list, found text; write one item as `[item]` or on a line of its own after \
             `- `",
        ),
        (
            "brokers: {a: b}",
            "2:12: source.brokers: expected a list, found a mapping",
        ),
        (
            "brokers:",
            "2:3: source.brokers: expected a list, found nothing",
        ),
        (
            "brokers: [a, [b]]",
            "2:16: source.brokers[1]: expected a string, found a list",
        ),
        (
            "tls: true",
            "2:8: source.tls: expected a mapping, found true or false",
        ),
        (
            "tls: [a]",
            "2:8: source.tls: expected a mapping, found a list",
        ),
        (
            "tls: {verify: 5}",
            "2:17: source.tls.verify: expected `true` or `false`, found a number",
        ),
        (
            "rdkafka: {a.b: [1]}",
            "2:18: source.rdkafka.a.b: expected a string, found a list",
        ),
        (
            "rdkafka: {a: }",
            "2:13: source.rdkafka.a: expected a string, found nothing",
        ),
        (
            "weights: {x: 1}",
            "2:13: source.weights.x: expected a whole number, found text",
        ),
        (
            "on_missing: earlest",
            "2:15: source.on_missing: unknown value; did you mean `earliest`? known values: fail, earliest",
        ),
        (
            "on_missing: Zzz",
            "2:15: source.on_missing: unknown value; known values: fail, earliest",
        ),
        (
            "on_missing: {a: 1}",
            "2:15: source.on_missing: expected one of fail, earliest, found a mapping",
        ),
        (
            "on_missing:",
            "2:3: source.on_missing: expected one of fail, earliest, found nothing",
        ),
        (
            "wait: 5",
            "2:9: source.wait: a duration without its unit; write `ms`, `s`, `m`, `h` or `d` after the number",
        ),
        (
            "wait: soon",
            "2:9: source.wait: expected a whole number with a unit (`ms`, `s`, `m`, `h`, `d`) such as `250ms` or `5s`",
        ),
        (
            "wait: [5s]",
            "2:9: source.wait: expected a duration such as `5s`, found a list",
        ),
        (
            "wait:",
            "2:3: source.wait: expected a duration such as `5s`, found nothing",
        ),
        (
            "maybe_wait: {}",
            "2:15: source.maybe_wait: expected a duration such as `5s`, found a mapping",
        ),
        (
            "size: 64K",
            "2:9: source.size: expected a size in bytes such as `64KiB`, `1GiB`, `10MB` or a plain number",
        ),
        (
            "bytes: {}",
            "2:10: source.bytes: expected a size in bytes such as `64KiB`, found a mapping",
        ),
        (
            "letter: xy",
            "2:11: source.letter: expected a character, found another value",
        ),
        (
            "limit: 0",
            "2:10: source.limit: expected a nonzero usize, found another value",
        ),
        (
            "address: localhost",
            "2:12: source.address: invalid socket address syntax",
        ),
        (
            "pair: [1]",
            "2:9: source.pair: invalid length 1, expected a tuple of size 2",
        ),
        (
            "anything: ~x\n  newer_name: a\n  older_name: b",
            "1:1: source: `newer_name` is set twice, once under another name",
        ),
    ] {
        assert_eq!(error(fields), format!("spate.yaml:{message}"), "{fields}");
    }
}

#[test]
fn a_misspelt_key_is_refused_at_every_level_with_the_nearest_name() {
    for (fields, start) in [
        (
            "brokrs: [a]",
            "2:3: source.brokrs: unknown key; did you mean `brokers`? known keys: brokers, topic, group_id, ",
        ),
        (
            "groupId: a",
            "2:3: source.groupId: unknown key; did you mean `group_id`? known keys: ",
        ),
        (
            "on-missing: a",
            "2:3: source.on-missing: unknown key; did you mean `on_missing`? known keys: ",
        ),
        (
            "tls: {verfy: false}",
            "2:9: source.tls.verfy: unknown key; did you mean `verify`? known keys: verify, ca_file",
        ),
        (
            "acknowledgments: 1",
            "2:3: source.acknowledgments: unknown key; known keys: brokers, ",
        ),
        ("'': 1", "2:3: source: a key is missing"),
    ] {
        let found = source_error(fields);
        assert!(found.starts_with(&format!("spate.yaml:{start}")), "{found}");
    }
    let indented = error("topic: t\n  checkpoint: {interval: 1s}");
    assert!(
        indented.ends_with("; `checkpoint` is a section of its own: is it indented too far?"),
        "{indented}"
    );
}

fn source_error(fields: &str) -> String {
    match super::try_config(&format!("source:\n  {fields}\n")) {
        Ok(config) => config
            .section("source")
            .parse::<Settings>()
            .expect_err(fields)
            .to_string(),
        Err(error) => error.to_string(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Required {
    brokers: Vec<String>,
    nested: Option<Nested>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Nested {
    url: String,
}

#[test]
fn a_missing_key_is_named_by_its_own_path() {
    let missing = |text: &str| {
        config(text)
            .section("source")
            .parse::<Required>()
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        missing("source: {nested: {url: u}}"),
        "spate.yaml:1:1: source.brokers: missing; it has no default and must be set"
    );
    assert_eq!(
        missing("source:\n  brokers: [a]\n  nested: {}\n"),
        "spate.yaml:3:11: source.nested.url: missing; it has no default and must be set"
    );
    assert_eq!(
        missing(""),
        "spate.yaml: source.brokers: missing; it has no default and must be set"
    );
}
