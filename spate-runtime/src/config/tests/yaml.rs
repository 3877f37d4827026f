//! What of YAML is read, and what is refused where it is.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{config, refused, try_config, with_env};

#[test]
fn a_key_set_twice_is_refused_at_every_level() {
    for (text, error) in [
        (
            "sinks: {a: {}}\nsource: {}\nsinks: {b: {}}\n",
            "spate.yaml:3:1: sinks: set twice; the first time in line 1",
        ),
        (
            "source:\n  topic: a\n  topic: a\n",
            "spate.yaml:3:3: source.topic: set twice; the first time in line 2",
        ),
        (
            "source: {rdkafka: {a: 1, 'a': 2}}\n",
            "spate.yaml:1:26: source.rdkafka.a: set twice; the first time in line 1",
        ),
        (
            "source:\n  list:\n    - {a: 1, a: 2}\n",
            "spate.yaml:3:14: source.list[0].a: set twice; the first time in line 3",
        ),
    ] {
        assert_eq!(refused(text), error);
    }
}

#[test]
fn nothing_is_a_configuration_in_which_nothing_is_set() {
    for text in [
        "",
        "\n",
        "# only a comment\n",
        "---\n",
        "---\n...\n",
        "{}",
        "~",
        "\u{feff}",
        "null\n",
    ] {
        let config = config(text);
        assert!(config.section("source").is_empty(), "{text:?}");
        config.check_sections(&[]).unwrap();
    }
}

#[test]
fn what_is_not_one_mapping_is_refused() {
    for (text, error) in [
        (
            "source: {}\n---\nsink: {}\n",
            "spate.yaml:2:1: a second document begins here",
        ),
        (
            "--- {}\n--- {}\n",
            "spate.yaml:2:1: a second document begins here",
        ),
        (
            "- source\n",
            "spate.yaml:1:1: expected the sections of a configuration (pipeline, ",
        ),
        (
            "source",
            "spate.yaml:1:1: expected the sections of a configuration (pipeline, ",
        ),
        (
            "source:\n\ttopic: a\n",
            "spate.yaml:2:2: source: a tab in the indentation; YAML is indented with spaces",
        ),
        ("? [a]\n: b\n", "spate.yaml:1:3: a key must be a text"),
        ("? {a: b}\n: c\n", "spate.yaml:1:3: a key must be a text"),
        (": a\n", "spate.yaml:1:1: a key is missing before the `:`"),
        (
            "source:\n  a: 1\n b: 2\n",
            "spate.yaml:3:2: not indented like the lines before",
        ),
        (
            "source:\n  a: b: c\n",
            "spate.yaml:2:7: source: a `:` where none can be; check the indentation",
        ),
        (
            "source:\n  a: 1\n    b: 1\n",
            "spate.yaml:3:6: source: a `:` where none can be; check the indentation",
        ),
        (
            "source:\n  a: 'x\n",
            "spate.yaml:2:6: source.a: a quote that is not closed",
        ),
        ("source: {a: [}\n", "spate.yaml:1:"),
        ("source: {a: 1\n", "spate.yaml:"),
        ("source: \"a\n", "spate.yaml:"),
        ("%YAML 3.0\n---\na: b\n", "spate.yaml:1:"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(error), "{text:?}: {found}");
    }
}

#[test]
fn a_value_that_yaml_reads_otherwise_is_refused_with_the_way_out() {
    for (value, hint) in [
        ("!t", "put it in quotes"),
        ("!secret abc", "put it in quotes"),
        ("!!int 5", "put it in quotes"),
        ("*ref", "put a value that begins with `*` in quotes"),
        ("@at", "put it in quotes"),
        ("`tick`", "put it in quotes"),
        ("\"\\Cde\"", "in '..' it stands for itself"),
        ("!t {a: 1}", "tags are not supported"),
    ] {
        let error = refused(&format!("source:\n  value: {value}\n"));
        assert!(
            error.starts_with("spate.yaml:2:10: source.value: ")
                || error.starts_with("spate.yaml:2:11: source.value: "),
            "{error}"
        );
        assert!(error.ends_with(hint), "{error}");
    }
    let text: BTreeMap<String, String> = config("source: {value: !!str 5}")
        .section("source")
        .parse()
        .unwrap();
    assert_eq!(text["value"], "5");
    let text: BTreeMap<String, String> = config("source:\n  value: !!str\n")
        .section("source")
        .parse()
        .unwrap();
    assert_eq!(text["value"], "");
}

#[test]
fn anchors_work_and_merge_keys_are_refused() {
    let text =
        "source: &kafka {a: '1', list: &l [x, \"${X}\"]}\nsinks:\n  one: *kafka\n  two: {b: *l}\n";
    let config = with_env(text, &[("X", "*kafka")]).unwrap();
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Source {
        a: String,
        list: Vec<String>,
    }
    let one: Source = config.sink_section("one", false).unwrap().parse().unwrap();
    assert_eq!(
        (one.a.as_str(), one.list),
        ("1", vec!["x".to_owned(), "*kafka".to_owned()])
    );
    let two: BTreeMap<String, Vec<String>> =
        config.sink_section("two", false).unwrap().parse().unwrap();
    assert_eq!(two["b"], ["x", "*kafka"]);

    let error = refused("source: &a {x: 1}\nsink:\n  <<: *a\n");
    assert_eq!(
        error,
        "spate.yaml:3:3: sink: merge keys (`<<`) are not supported; write the settings out"
    );
    assert!(refused("source: &a {x: *a}\n").starts_with("spate.yaml:1:16: source.x: an alias "));
    assert!(refused("source: &a x\nsink: {*a : 1}\n").contains("an alias cannot be a key"));
}

#[test]
fn aliases_cannot_make_a_short_text_large() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [alias.as_str(); 8].join(", ")
        ));
    }
    assert!(refused(&text).contains("more than 20000 values"));
    let long = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(500_000),
        ["*a"; 100].join(", ")
    );
    assert!(refused(&long).contains("aliases repeat more than"));
    assert!(
        refused(&format!("a: \"{}\"\n", "x".repeat(1 << 20))).contains("longer than 1048576 bytes")
    );
    assert!(
        refused(&format!("a: {}1{}", "[".repeat(200), "]".repeat(200))).contains("nested too deep")
    );
    assert!(
        refused(&format!(
            "a:\n{}",
            (1..200)
                .map(|n| format!("{}a:\n", " ".repeat(n)))
                .collect::<String>()
        ))
        .contains("nested too deep")
    );
}

#[test]
fn windows_lines_and_a_byte_order_mark_are_read() {
    let config = config("\u{feff}source:\r\n  a: x y\r\n  b: |\r\n    two\r\n    lines\r\n");
    let read: BTreeMap<String, String> = config.section("source").parse().unwrap();
    assert_eq!(read["a"], "x y");
    assert_eq!(read["b"], "two\nlines\n");
}

/// Texts that look like YAML more often than random ones do.
fn yaml_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "source",
        "sink",
        "a",
        ":",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "&a ",
        "*a",
        "!t ",
        "!!str ",
        "'",
        "\"",
        "|\n",
        ">\n",
        "|2-\n",
        "#",
        " #",
        "${",
        "${A}",
        "${A:-",
        "$$",
        "?",
        "? ",
        "<<",
        "---",
        "...",
        "\t",
        "\r",
        "\\",
        "\\x4",
        "%",
        "@",
        "`",
        "~",
        "null",
        "1",
        "é",
        "\u{feff}",
        "\u{85}",
        "\u{0}",
        "%YAML 1.2\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn never_panics(text: &str) {
    let variable = |name: &str| (name == "A").then(|| "a: [b]\nc".to_owned());
    let Ok(config) = super::Config::from_yaml_with(text, "f", &variable) else {
        return;
    };
    let _ = format!("{config:?}");
    let _ = config.check_sections(&["source", "sink"]);
    let _ = config.check_sinks(&["a", "b"]);
    let _ = crate::config::EngineConfig::from(&config);
    let mut source = config.section("source");
    source.set_default("a.b", "1");
    let _ = source.parse::<BTreeMap<String, String>>();
    let _ = source.parse::<BTreeMap<String, Option<Vec<u8>>>>();
    let _ = crate::config::SinkPoolConfig::take_from(&mut source);
    let _ = source.error("a.b", "x").to_string();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        never_panics(&text);
    }

    #[test]
    fn no_text_that_looks_like_yaml_makes_the_parser_panic(text in yaml_like()) {
        never_panics(&text);
    }

    #[test]
    fn any_variable_arrives_as_it_is(value in any::<String>()) {
        for form in ["${P}", "'${P}'", "\"${P}\""] {
            let config = with_env(&format!("source:\n  value: {form}\n"), &[("P", &value)]).unwrap();
            let read: BTreeMap<String, String> = config.section("source").parse().unwrap();
            prop_assert_eq!(&read["value"], &value);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing =
        std::env::temp_dir().join(format!("spate-no-such-file-{}.yaml", std::process::id()));
    let error = super::Config::from_path(&missing).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: cannot be read: ", missing.display())),
        "{error}"
    );

    let file = std::env::temp_dir().join(format!("spate-latin1-{}.yaml", std::process::id()));
    std::fs::write(&file, b"source:\n  a: caf\xe9\n").unwrap();
    let error = super::Config::from_path(&file).unwrap_err().to_string();
    std::fs::write(&file, "source:\n  a: [caf\u{e9}\n").unwrap();
    let syntax = super::Config::from_path(&file).unwrap_err().to_string();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        error,
        format!("{}: not UTF-8 text in line 2", file.display())
    );
    assert!(
        syntax.starts_with(&format!("{}:", file.display())),
        "{syntax}"
    );
    assert!(try_config("a: b").is_ok());
}
