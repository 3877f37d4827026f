//! How a configuration is split, and what is refused because the pipeline has no use for it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::config;
use crate::config::Section;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Sink {
    url: String,
}

fn url(section: &Section) -> String {
    section.parse::<Sink>().unwrap().url
}

#[test]
fn an_absent_section_is_empty_and_has_its_path() {
    for text in ["", "source:", "source: {}", "source: ~"] {
        let section = config(text).section("source");
        assert_eq!(section.path(), "source");
        assert!(section.is_empty());
    }
    assert!(!config("source: {a: 1}").section("source").is_empty());
    assert!(!config("source: text").section("source").is_empty());
    assert!(!config("source: []").section("source").is_empty());
}

#[test]
fn one_sink_is_sink_or_sinks_by_name() {
    let sink = config("sink: {url: u}")
        .sink_section("clickhouse", true)
        .unwrap();
    assert_eq!((sink.path(), url(&sink).as_str()), ("sink", "u"));
    let sink = config("sinks: {clickhouse: {url: u}}")
        .sink_section("clickhouse", true)
        .unwrap();
    assert_eq!(
        (sink.path(), url(&sink).as_str()),
        ("sinks.clickhouse", "u")
    );
    let absent = config("").sink_section("clickhouse", true).unwrap();
    assert_eq!((absent.path(), absent.is_empty()), ("sink", true));
}

#[test]
fn several_sinks_are_sinks_by_name() {
    let two = config("sinks:\n  a: {url: x}\n  b: {url: y}\n");
    assert_eq!(url(&two.sink_section("a", false).unwrap()), "x");
    assert_eq!(url(&two.sink_section("b", false).unwrap()), "y");
    two.check_sinks(&["a", "b"]).unwrap();
    let absent = two.sink_section("c", false).unwrap();
    assert_eq!((absent.path(), absent.is_empty()), ("sinks.c", true));
    let absent = config("").sink_section("c", false).unwrap();
    assert_eq!((absent.path(), absent.is_empty()), ("sinks.c", true));

    let error = config("source: {}\nsink: {url: x}\n")
        .sink_section("a", false)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "spate.yaml:2:1: sink: the pipeline has several sinks; write `sinks: { a: .. }` with a section for each"
    );
}

#[test]
fn sink_beside_sinks_is_refused() {
    let both = config("sink: {url: x}\nsinks: {a: {url: x}}\n");
    for only_one in [true, false] {
        let error = both.sink_section("a", only_one).unwrap_err().to_string();
        assert!(
            error.starts_with("spate.yaml:2:1: sinks: `sink` and `sinks` are both set; "),
            "{error}"
        );
    }
    assert!(both.check_sinks(&["a"]).is_err());
}

#[test]
fn a_sink_that_the_pipeline_does_not_have_is_refused() {
    let error = config("sinks:\n  orders: {}\n  refnds: {}\n")
        .check_sinks(&["orders", "refunds"])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "spate.yaml:3:3: sinks.refnds: the pipeline has no sink of this name; did you mean `refunds`? known sinks: \
         orders, refunds"
    );
    let error = config("sinks: [a]")
        .check_sinks(&["a"])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "spate.yaml:1:1: sinks: expected a mapping from the name of each sink to its settings"
    );
    config("").check_sinks(&["a", "b"]).unwrap();
    config("sink: {}").check_sinks(&["a"]).unwrap();
    config("").check_sinks(&[]).unwrap();
}

#[test]
fn unknown_unavailable_and_unused_sections_are_refused() {
    let check =
        |text: &str| config(text).check_sections(&["source", "deserializer", "sink", "sinks"]);
    check("pipeline: {}\ncheckpoint:\nbackpressure: {}\nsource: {a: b}\ndeserializer: {a: b}\nsink: {a: b}\n").unwrap();
    assert_eq!(
        check("source: {}\nchekpoint: {}\n")
            .unwrap_err()
            .to_string(),
        "spate.yaml:2:1: chekpoint: unknown section; did you mean `checkpoint`? known sections: pipeline, checkpoint, \
         backpressure, source, deserializer, sink, sinks"
    );
    for name in ["admin", "metrics", "dead_letter", "coordination"] {
        for value in ["{}", "{a: 1}", ""] {
            assert_eq!(
                check(&format!("{name}: {value}\n"))
                    .unwrap_err()
                    .to_string(),
                format!(
                    "spate.yaml:1:1: {name}: this feature is not available yet; remove the section"
                )
            );
        }
    }
    let unused = config("deserializer: {registry: r}")
        .check_sections(&["source", "sink", "sinks"])
        .unwrap_err();
    assert!(
        unused
            .to_string()
            .starts_with("spate.yaml:1:1: deserializer: this pipeline does not use the section")
    );
    config("deserializer: {}")
        .check_sections(&["source"])
        .unwrap();
}

#[test]
fn a_default_of_the_code_fills_what_the_file_leaves_out() {
    let mut section = config("source: {a: file, b: , c: {d: file}, s: text}").section("source");
    for (key, value) in [
        ("a", "code"),
        ("b", "code"),
        ("c.d", "code"),
        ("c.e", "5"),
        ("x.y.z", "true"),
        ("s.t", "lost"),
    ] {
        section.set_default(key, value);
    }
    #[derive(Debug, Deserialize)]
    struct Deep {
        a: String,
        b: String,
        c: Inner,
        x: BTreeMap<String, BTreeMap<String, bool>>,
        s: String,
    }
    #[derive(Debug, Deserialize)]
    struct Inner {
        d: String,
        e: u8,
    }
    let read: Deep = section.parse().unwrap();
    assert_eq!(
        (
            read.a.as_str(),
            read.b.as_str(),
            read.c.d.as_str(),
            read.c.e
        ),
        ("file", "code", "file", 5)
    );
    assert!(read.x["y"]["z"]);
    assert_eq!(read.s, "text");

    let mut absent = config("").section("source");
    absent.set_default("url", "u");
    assert_eq!(url(&absent), "u");
    absent.set_default("port", "1");
    assert_eq!(
        absent.parse::<Sink>().unwrap_err().to_string(),
        "in the pipeline's code: source.port: unknown key; known keys: url"
    );
}

#[test]
fn what_is_taken_out_is_gone_but_still_named_in_hints() {
    let mut section = config("sink: {url: u, batch: {url: b}, bacth: {}}")
        .sink_section("x", true)
        .unwrap();
    let batch = section.take("batch");
    assert_eq!((batch.path(), url(&batch).as_str()), ("sink.batch", "b"));
    assert_eq!(
        section.parse::<Sink>().unwrap_err().to_string(),
        "spate.yaml:1:33: sink.bacth: unknown key; did you mean `batch`? known keys: url, batch"
    );
    let again = section.take("batch");
    assert_eq!((again.path(), again.is_empty()), ("sink.batch", true));
    assert_eq!(
        url(&{
            let mut section = config("sink: {url: u, batch: {}}")
                .sink_section("x", true)
                .unwrap();
            section.take("batch");
            section
        }),
        "u"
    );
    let scalar = config("sink: {batch: 5}")
        .sink_section("x", true)
        .unwrap()
        .take("batch");
    assert_eq!(
        scalar.parse::<Sink>().unwrap_err().to_string(),
        "spate.yaml:1:15: sink.batch: expected a mapping, found a number"
    );
    assert!(
        config("sink: 5")
            .sink_section("x", true)
            .unwrap()
            .take("batch")
            .is_empty()
    );
}

#[test]
fn an_error_of_a_component_has_path_and_place() {
    let config = config("source:\n  brokers: [a]\n  tls:\n    ca: x\n");
    let section = config.section("source");
    for (key, message) in [
        ("brokers", "spate.yaml:2:3: source.brokers: wrong"),
        ("tls.ca", "spate.yaml:4:5: source.tls.ca: wrong"),
        ("tls.key", "spate.yaml:3:3: source.tls.key: wrong"),
        ("absent", "spate.yaml:1:1: source.absent: wrong"),
        ("", "spate.yaml:1:1: source: wrong"),
    ] {
        assert_eq!(section.error(key, "wrong").to_string(), message);
    }
    assert_eq!(
        config.error("source.tls.ca", "wrong").to_string(),
        "spate.yaml:4:5: source.tls.ca: wrong"
    );
    assert_eq!(
        config.error("sink", "wrong").to_string(),
        "spate.yaml: sink: wrong"
    );
}
