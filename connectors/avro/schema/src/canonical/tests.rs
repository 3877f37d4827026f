//! The specification's examples, the traps of names, and what differences are said.

use super::{canonical_form, fingerprint, parse};

fn canonical(text: &str) -> String {
    canonical_form(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_specifications_examples_come_out_as_it_says() {
    // From the test data of Apache Avro (share/test/data/schema-tests.txt), with its own crate as a second opinion.
    for (schema, form) in [
        (r#""null""#, r#""null""#),
        (r#"{"type":"null"}"#, r#""null""#),
        (r#"{ "type" : "long" }"#, r#""long""#),
        (r#"[  ]"#, r#"[]"#),
        (r#"[ "int"  ]"#, r#"["int"]"#),
        (
            r#"[ {"type":"boolean"}, "double" ]"#,
            r#"["boolean","double"]"#,
        ),
        (
            r#"{"fields":[], "type":"record", "name":"foo"}"#,
            r#"{"name":"foo","type":"record","fields":[]}"#,
        ),
        (
            r#"{"fields":[], "type":"record", "name":"foo", "namespace":"x.y"}"#,
            r#"{"name":"x.y.foo","type":"record","fields":[]}"#,
        ),
        (
            r#"{"fields":[], "type":"record", "name":"a.b.foo", "namespace":"x.y"}"#,
            r#"{"name":"a.b.foo","type":"record","fields":[]}"#,
        ),
        (
            r#"{ "fields":[{"type":{"type":"boolean"}, "name":"f1"}], "type":"record", "name":"foo" }"#,
            r#"{"name":"foo","type":"record","fields":[{"name":"f1","type":"boolean"}]}"#,
        ),
        (
            r#"{"type":"enum", "name":"foo", "symbols":["A1", "A2"]}"#,
            r#"{"name":"foo","type":"enum","symbols":["A1","A2"]}"#,
        ),
        (
            r#"{"namespace":"x.y.z", "type":"fixed", "name":"foo", "doc":"foo bar", "size":32}"#,
            r#"{"name":"x.y.z.foo","type":"fixed","size":32}"#,
        ),
        (
            r#"{ "items":{"type":"null"}, "type":"array"}"#,
            r#"{"type":"array","items":"null"}"#,
        ),
        (
            r#"{ "values":"string", "type":"map"}"#,
            r#"{"type":"map","values":"string"}"#,
        ),
    ] {
        assert_eq!(canonical(schema), form);
        let theirs = apache_avro::Schema::parse_str(schema).expect("a schema");
        assert_eq!(theirs.canonical_form(), form);
        let print = theirs.fingerprint::<apache_avro::rabin::Rabin>();
        assert_eq!(
            fingerprint(form).to_le_bytes()[..],
            print.bytes[..],
            "{form}"
        );
    }
    assert_eq!(
        fingerprint(r#""null""#) as i64,
        7195948357588979594,
        "the specification's own number"
    );
}

#[test]
fn names_are_resolved_in_their_namespaces() {
    let form = canonical(
        r#"{"type":"record","name":"Sample","namespace":"test","fields":[
            {"name":"a","type":{"type":"record","name":"Nested","fields":[]}},
            {"name":"b","type":"Nested"}, {"name":"c","type":{"type":"map","values":"test.Nested"}},
            {"name":"d","type":{"type":"enum","name":"Top","namespace":"","symbols":[]}}, {"name":"e","type":"Top"}]}"#,
    );
    for part in [
        r#""name":"b","type":"test.Nested""#,
        r#""values":"test.Nested""#,
        r#""name":"e","type":"Top""#,
    ] {
        assert!(form.contains(part), "{form}");
    }
}

#[test]
fn logical_types_make_a_difference_and_invalid_ones_do_not() {
    let long =
        |logical: &str| canonical(&format!(r#"{{"type":"long","logicalType":"{logical}"}}"#));
    assert_ne!(long("timestamp-millis"), long("timestamp-micros"));
    assert_eq!(long("timestamp-mills"), r#""long""#);
    assert_eq!(
        canonical(r#"{"type":"int","logicalType":"timestamp-millis"}"#),
        r#""int""#
    );
    let decimal = |rest: &str| {
        canonical(&format!(
            r#"{{"type":"bytes","logicalType":"decimal"{rest}}}"#
        ))
    };
    assert_ne!(
        decimal(r#","precision":9,"scale":2"#),
        decimal(r#","precision":9,"scale":4"#)
    );
    assert_eq!(
        decimal(r#","precision":9,"scale":0"#),
        decimal(r#","precision":9"#),
        "zero is the default"
    );
    assert_eq!(decimal(r#","precision":2,"scale":4"#), r#""bytes""#);
    assert_eq!(decimal(""), r#""bytes""#);
}

#[test]
fn what_a_registry_may_answer_is_refused_without_a_panic() {
    for (schema, reason) in [
        ("", "it is not JSON"),
        ("{\"type\":\"rec", "it is not JSON"),
        (
            r#"{"type":"record","name":"R","aliases":[":"],"fields":[]}"#,
            "`:` is not a name",
        ),
        (
            r#"{"type":"record","name":"a-b","fields":[]}"#,
            "`a-b` is not a name",
        ),
        (
            r#"{"type":"record","name":"","fields":[]}"#,
            "`` is not a name",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"R","fields":[]}}]}"#,
            "it defines `R` twice",
        ),
        (
            r#"{"type":"enum","name":"E","symbols":["A","A"]}"#,
            "enum `E` has the symbol `A` twice",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a","type":"Other"}]}"#,
            "it names `Other` and does not define it",
        ),
        (r#"["int",["long"]]"#, "a union contains a union"),
        (r#"["int","int"]"#, "a union has `int` twice"),
        (
            r#"{"type":"fixed","name":"F","size":-1}"#,
            "fixed `F` has no size",
        ),
        ("17", "a type is neither a name, an object nor a list"),
    ] {
        let error = canonical_form(schema).expect_err(schema).to_string();
        assert!(error.starts_with(reason), "{schema}: {error}");
    }
    let deep = format!(
        "{}\"int\"{}",
        r#"{"type":"array","items":"#.repeat(10_000),
        "}".repeat(10_000)
    );
    assert!(canonical_form(&deep).is_err(), "depth is bounded");
}

#[test]
fn a_difference_is_said_with_its_path() {
    let compiled = r#"{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},
        {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
            {"name":"qty","type":"int"},{"name":"sku","type":"string"}]}}},
        {"name":"kind","type":["null",{"type":"enum","name":"Kind","symbols":["A","B"]}]}]}"#;
    let here = parse(compiled).expect("a schema");
    let said = |from: &str, to: &str| {
        assert!(compiled.contains(from), "{from}");
        let there = parse(&compiled.replace(from, to)).expect("a schema");
        there
            .difference(&here)
            .map(|difference| difference.to_string())
    };
    let reordered = r#"{"name":"sku","type":"string"},{"name":"qty","type":"int"}"#;
    for (from, to, expected) in [
        (
            r#""name":"qty","type":"int""#,
            r#""name":"qty","type":"long""#,
            "at field path `lines[].qty`: long there, int here",
        ),
        (
            r#""name":"id","type":"long""#,
            r#""name":"id","type":{"type":"long","logicalType":"timestamp-micros"}"#,
            "at field path `id`: long (timestamp-micros) there, long here",
        ),
        (
            r#"["A","B"]"#,
            r#"["B","A"]"#,
            "at field path `kind`: symbols B, A there, A, B here",
        ),
        (
            r#"{"name":"id","type":"long"},"#,
            "",
            "at field path `lines`: it stands there where `id` stands here",
        ),
        (
            r#"{"name":"id","type":"long"},"#,
            r#"{"name":"id","type":"long"},{"name":"tax","type":"long"},"#,
            "at field path `tax`: only the writer has it",
        ),
        (
            r#"{"name":"qty","type":"int"},{"name":"sku","type":"string"}"#,
            reordered,
            "at field path `lines[].sku`: it stands there where `qty` stands here",
        ),
        (
            r#",{"name":"sku","type":"string"}"#,
            "",
            "at field path `lines[].sku`: the writer does not have it",
        ),
        (
            r#""name":"Order""#,
            r#""name":"Order","namespace":"n""#,
            "at its top: record n.Order there, record Order here",
        ),
    ] {
        assert_eq!(said(from, to).as_deref(), Some(expected));
    }
    assert_eq!(
        said(r#""name":"Order""#, r#""doc":"x","name":"Order""#),
        None
    );
}

#[test]
fn what_registries_are_full_of_is_read_though_the_specification_has_it_otherwise() {
    let of = |ty: &str| {
        canonical(&format!(
            r#"[{{"type":"enum","name":"E","symbols":[]}},{{"type":"record","name":"n.R","fields":[{{"name":"f","type":{ty}}}]}}]"#
        ))
    };
    let expected = |ty: &str| {
        format!(
            r#"[{{"name":"E","type":"enum","symbols":[]}},{{"name":"n.R","type":"record","fields":[{{"name":"f","type":{ty}}}]}}]"#
        )
    };
    // A name that its namespace does not have is one without a namespace; so it is with a dot in front.
    assert_eq!(of("\"E\""), expected("\"E\""));
    assert_eq!(of("\".E\""), expected("\"E\""));
    assert_eq!(of(r#"{"type":{"type":"long"}}"#), expected("\"long\""));
    assert_eq!(
        of(r#"{"type":"error","name":"X","fields":[]}"#),
        expected(r#"{"name":"n.X","type":"record","fields":[]}"#)
    );
}

#[test]
fn types_of_other_texts_in_each_other_are_bounded() {
    let read = |levels: usize| {
        let of = |level: usize| {
            let next = match level + 1 == levels {
                true => "int".to_owned(),
                false => format!("L{}", level + 1),
            };
            format!(
                r#"{{"type":"record","name":"L{level}","fields":[{{"name":"f","type":"{next}"}}]}}"#
            )
        };
        let other: Vec<String> = (0..levels).map(of).collect();
        let other = format!("[{}]", other.join(","));
        super::parse_with(r#"{"type":"array","items":"L0"}"#, &[other])
    };
    assert!(read(100).is_ok());
    let error = read(20_000).expect_err("too deep");
    assert_eq!(error.to_string(), "it nests types more than 256 deep");
}
