//! Variables: what they hold arrives as it is, in whatever quotes, and nothing but `${NAME}` is one.

use serde::Deserialize;

use super::{config, with_env};
use crate::config::ConfigError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    value: String,
}

fn value(text: &str, env: &[(&str, &str)]) -> Result<String, ConfigError> {
    Ok(with_env(text, env)?.section("source").parse::<One>()?.value)
}

fn awkward() -> Vec<String> {
    let json = format!(
        "{{\"keys\": [{}], \"text\": \"a: b # c\"}}",
        "\"0123456789\", ".repeat(300)
    );
    assert!(json.len() > 4000);
    let mut values: Vec<String> = [
        "a: b",
        "ab #cd",
        ">x",
        "|",
        r"\Cde",
        r"\",
        r#""q""#,
        "it's",
        "'",
        "\"",
        "{x}",
        "{",
        "}",
        "[x",
        "*ref",
        "&a",
        "!t",
        "%p",
        "@at",
        "`tick`",
        "- y",
        "-",
        "? k",
        "line1\nline2",
        "a\n  b: c\n",
        "\n",
        "\r\n",
        "\ttab",
        "",
        "  both ends  ",
        " ",
        "~",
        "null",
        "true",
        "yes",
        "0123",
        "1e3",
        "0x1F",
        ".inf",
        "<<",
        "---",
        "...",
        "a$b",
        "$",
        "$$",
        "${X}",
        "${P}",
        "a${Y}b",
        "${",
        "$1-$2",
        "ключ",
        "🔑",
        "\u{feff}",
        "\u{0}",
    ]
    .map(str::to_owned)
    .into();
    values.push(json);
    values
}

#[test]
fn a_variable_arrives_as_it_is_in_all_quoting_forms() {
    for secret in awkward() {
        for (form, prefix, suffix) in [
            ("value: ${P}", "", ""),
            ("value: \"${P}\"", "", ""),
            ("value: '${P}'", "", ""),
            ("value: |-\n    ${P}", "", ""),
            ("value: >-\n    ${P}", "", ""),
            ("value: http://u:${P}@h", "http://u:", "@h"),
            ("value: \"http://u:${P}@h\"", "http://u:", "@h"),
            ("value: 'http://u:${P}@h'", "http://u:", "@h"),
            ("value: ${P:-other}", "", ""),
            ("value: ${P:?must be set}", "", ""),
        ] {
            if secret.is_empty()
                && form.contains(':')
                && (form.contains(":-") || form.contains(":?"))
            {
                continue;
            }
            let text = format!("source:\n  {form}\n");
            let read = value(&text, &[("P", &secret), ("X", "never"), ("Y", "never")]);
            assert_eq!(
                read.expect(form),
                format!("{prefix}{secret}{suffix}"),
                "{form}"
            );
        }
        let flow = value("source: {value: '${P}'}", &[("P", &secret)]);
        assert_eq!(flow.unwrap(), secret);
    }
}

#[test]
fn only_braces_make_a_variable() {
    let text = r#"
source:
  pattern: "^(\\d+)$"
  replace: "$1-$2"
  name: $NAME
  escaped: $${X}
  dollars: a$$b
  both: $$${X}
  # ${UNSET_IN_A_COMMENT} and ${
  end: 5$
"#;
    let read: std::collections::BTreeMap<String, String> =
        with_env(text, &[("X", "x"), ("NAME", "n")])
            .unwrap()
            .section("source")
            .parse()
            .unwrap();
    assert_eq!(read["pattern"], r"^(\d+)$");
    assert_eq!(read["replace"], "$1-$2");
    assert_eq!(read["name"], "$NAME");
    assert_eq!(read["escaped"], "${X}");
    assert_eq!(read["dollars"], "a$b");
    assert_eq!(read["both"], "$x");
    assert_eq!(read["end"], "5$");
}

#[test]
fn defaults_are_for_what_is_unset_or_empty() {
    let read = |form: &str| {
        value(
            &format!("source: {{value: \"{form}\"}}"),
            &[("SET", "s"), ("EMPTY", "")],
        )
        .unwrap()
    };
    assert_eq!(read("${UNSET:-def}"), "def");
    assert_eq!(read("${UNSET:-}"), "");
    assert_eq!(read("${EMPTY:-def}"), "def");
    assert_eq!(read("${SET:-def}"), "s");
    assert_eq!(read("${EMPTY}"), "");
    assert_eq!(read("${UNSET:-http://h:1/?a=b}"), "http://h:1/?a=b");
    assert_eq!(read("${UNSET:-a$b}"), "a$b");
    assert_eq!(read("<${SET}${SET}>"), "<ss>");
}

#[test]
fn an_undefined_variable_is_an_error_with_path_and_line() {
    for (form, message) in [
        (
            "${UNSET}",
            "the environment variable `UNSET` is not set; set it, or write `${UNSET:-default}`",
        ),
        (
            "a${UNSET}b",
            "the environment variable `UNSET` is not set; set it, or write `${UNSET:-default}`",
        ),
        (
            "${UNSET:?ask the team}",
            "the environment variable `UNSET` is not set or empty: ask the team",
        ),
        (
            "${EMPTY:?ask the team}",
            "the environment variable `EMPTY` is not set or empty: ask the team",
        ),
        (
            "${UNSET:?}",
            "the environment variable `UNSET` is not set or empty",
        ),
    ] {
        let text = format!("source:\n  nested:\n    - value: \"{form}\"\n");
        let error = with_env(&text, &[("EMPTY", "")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("spate.yaml:3:14: source.nested[0].value: {message}")
        );
        assert_eq!(error.position(), Some((3, 14)));
        assert_eq!(error.path(), "source.nested[0].value");
    }
}

#[test]
fn a_broken_variable_is_an_error_that_shows_nothing_of_it() {
    for form in [
        "${X",
        "${}",
        "${:-d}",
        "${1X}",
        "${X-hunter2}",
        "${X:hunter2}",
        "${X:+hunter2}",
        "${hunter2 hunter2}",
        "${X:-${hunter2}}",
        "${ X}",
        "${é}",
    ] {
        let error = with_env(&format!("source: {{value: '{form}'}}"), &[("X", "hunter2")])
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("spate.yaml:1:17: source.value: `${"),
            "{form}: {error}"
        );
        assert!(
            !error.contains("hunter2 ") && !error.contains("-hunter2"),
            "{form}: {error}"
        );
    }
}

#[test]
fn a_variable_is_no_key_and_never_changes_the_structure() {
    let error = with_env("source: {\"${X}\": 1}", &[("X", "a: b")])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "spate.yaml:1:10: source: variables are replaced in values, not in keys"
    );
    let error = value("source: ${X}", &[("X", "{value: injected}")])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "spate.yaml:1:9: source: expected a mapping, found text"
    );
}

#[test]
fn a_variable_that_needs_quotes_is_told_so() {
    let error = with_env("source:\n  nested: {a: 1, value: ${X}}\n", &[("X", "x")])
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("spate.yaml:2:"), "{error}");
    assert!(
        error.ends_with("; within `{ }` and `[ ]`, put `${..}` in quotes"),
        "{error}"
    );
    let error = with_env("source:\n  list: [ ${X}, ${X} ]\n", &[("X", "x")])
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("; within `{ }` and `[ ]`, put `${..}` in quotes"),
        "{error}"
    );
}

#[test]
fn what_a_field_asks_for_decides_what_a_variable_or_a_quoted_text_is() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct Fields {
        count: u16,
        flag: bool,
        ratio: f64,
        text: String,
        maybe: Option<i32>,
    }
    let text = "source: {count: '${N}0', flag: \"${B}\", ratio: '${R}', text: '${N}', maybe: '-7'}";
    let read: Fields = with_env(text, &[("N", "12"), ("B", "true"), ("R", "0.5")])
        .unwrap()
        .section("source")
        .parse()
        .unwrap();
    assert_eq!(
        read,
        Fields {
            count: 120,
            flag: true,
            ratio: 0.5,
            text: "12".to_owned(),
            maybe: Some(-7)
        }
    );
}

#[test]
fn a_variable_that_holds_null_or_nothing_is_a_text() {
    #[derive(Deserialize)]
    struct Maybe {
        value: Option<String>,
    }
    for text in ["", "null", "~"] {
        let read: Maybe = with_env("source: {value: '${P}'}", &[("P", text)])
            .unwrap()
            .section("source")
            .parse()
            .unwrap();
        assert_eq!(read.value.as_deref(), Some(text));
        let read: Maybe = with_env("source:\n  value: ${P}", &[("P", text)])
            .unwrap()
            .section("source")
            .parse()
            .unwrap();
        assert_eq!(read.value.as_deref(), Some(text));
    }
    assert_eq!(
        config("source: {value: ~}")
            .section("source")
            .parse::<Maybe>()
            .unwrap()
            .value,
        None
    );
}
