//! No value of the file or of the environment is shown: not by an error, not by `Debug`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::{try_config, with_env};
use crate::config::{ByteSize, Secret};

const SECRET: &str = "hunter2-correct-horse";

/// Takes nothing, and its error quotes what it was given, as a careless type does.
#[derive(Debug)]
struct Quoting;

impl<'de> Deserialize<'de> for Quoting {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Err(serde::de::Error::custom(format!(
            "`{text}` is no such thing"
        )))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>")]
struct QuotingMap;

impl TryFrom<BTreeMap<String, String>> for QuotingMap {
    type Error = String;

    fn try_from(map: BTreeMap<String, String>) -> Result<Self, String> {
        Err(format!("bad settings: {map:?}"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Safe,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Fields {
    number: Option<u32>,
    float: Option<f64>,
    flag: Option<bool>,
    mode: Option<Mode>,
    #[serde(default, with = "crate::config::duration::option")]
    wait: Option<Duration>,
    size: Option<ByteSize>,
    list: Option<Vec<u8>>,
    map: Option<BTreeMap<String, u8>>,
    address: Option<std::net::IpAddr>,
    letter: Option<char>,
    nothing: Option<()>,
    quoting: Option<Quoting>,
    quoting_map: Option<QuotingMap>,
    secret: Option<Secret>,
    untagged: Option<Untagged>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only read")]
enum Untagged {
    Number(u8),
    Map { url: u8 },
}

#[test]
fn a_wrong_value_is_in_no_error_of_any_type() {
    for field in [
        "number", "float", "flag", "mode", "wait", "size", "list", "map", "address", "letter",
        "nothing", "quoting", "untagged", "secret",
    ] {
        for value in [
            "${P}",
            "'${P}'",
            "[\"${P}\"]",
            "{url: \"${P}\"}",
            SECRET,
            "'hunter2-correct-horse'",
        ] {
            if field == "secret" && !value.contains(['[', ' '])
                || value == "{url: \"${P}\"}" && field == "nothing"
            {
                continue;
            }
            let text = format!("source:\n  {field}: {value}\n");
            let config = with_env(&text, &[("P", SECRET)]).unwrap();
            let error = config.section("source").parse::<Fields>().expect_err(&text);
            let shown = format!("{error} {error:?} {} {}", error.message(), error.path());
            assert!(!shown.contains("hunter2"), "{text}: {shown}");
            assert!(
                shown.contains(&format!("source.{field}")),
                "{text}: {shown}"
            );
        }
    }
    let text = "source: {quoting_map: {a: \"${P}\", b: hunter2}}";
    let error = with_env(text, &[("P", SECRET)])
        .unwrap()
        .section("source")
        .parse::<Fields>()
        .unwrap_err();
    let shown = error.to_string();
    assert_eq!(
        shown,
        "spate.yaml:1:23: source.quoting_map: bad settings: {\"a\": \"<value>\", \"b\": \"<value>\"}"
    );
}

#[test]
fn a_number_that_was_quoted_or_a_variable_is_as_secret_as_a_text() {
    for value in ["${P}", "'123456'"] {
        let text = format!("source:\n  quoting: {value}\n");
        let config = with_env(&text, &[("P", "123456")]).unwrap();
        let error = config.section("source").parse::<Fields>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "spate.yaml:2:12: source.quoting: `<value>` is no such thing"
        );
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}

#[test]
fn a_careless_message_of_a_connector_does_not_show_a_variable() {
    let section = with_env("source: {url: \"${P}\"}", &[("P", SECRET)])
        .unwrap()
        .section("source");
    let error = section.error("url", format!("cannot parse `{SECRET}`"));
    assert_eq!(
        error.to_string(),
        "spate.yaml:1:10: source.url: cannot parse `<value>`"
    );
}

#[test]
fn debug_shows_keys_and_no_values() {
    let text =
        "source: {user: u-hunter2, password: \"${P}\", list: [hunter2], n: ~}\nsink: hunter2\n";
    let config = with_env(text, &[("P", SECRET)]).unwrap();
    let shown = format!("{config:?} {config:#?} {:?}", config.section("source"));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(
        shown.contains("password") && shown.contains("user"),
        "{shown}"
    );
    assert_eq!(
        format!("{:?}", config.section("source")),
        "source: {\"user\": <value>, \"password\": <value>, \"list\": [<value>], \"n\": null}"
    );
}

#[test]
fn a_syntax_error_shows_nothing_of_its_line() {
    for value in [
        "\"hunter2",
        "'hunter2",
        "hunter2: hunter2: x",
        "{hunter2",
        "[hunter2",
        "\"\\qhunter2\"",
        "@hunter2",
        "%hunter2",
        "*hunter2",
        "!hunter2",
        "!hunter2!hunter2 x",
        "&hunter2 *hunter2",
        "\"hunter2\" hunter2",
        "|hunter2",
        "\"\\u12\"",
        "]hunter2",
        "\thunter2: x",
        "|2\n hunter2",
        "!<hunter2 x",
        "'a'hunter2",
    ] {
        let text = format!("source:\n  password: {value}\n");
        if let Err(error) = try_config(&text) {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("hunter2"), "{value}: {shown}");
            assert!(shown.contains("spate.yaml:"), "{shown}");
        }
    }
}
