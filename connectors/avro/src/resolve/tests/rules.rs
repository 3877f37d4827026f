//! The specification's rules, one by one.

use apache_avro::types::Value;

use super::{encoded, ours, resolver};

/// A record `n.R` with these fields.
fn record(fields: &str) -> String {
    format!("{{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":[{fields}]}}")
}

fn fields(pairs: &[(&str, Value)]) -> Value {
    let pairs = pairs.iter();
    Value::Record(
        pairs
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    )
}

fn resolved(writer: &str, reader: &str, value: Value) -> Result<Value, String> {
    ours(writer, reader, &encoded(writer, value))
}

fn refused(writer: &str, reader: &str) -> String {
    resolver(writer, reader)
        .expect_err("incompatible")
        .to_string()
}

#[test]
fn numbers_and_texts_are_promoted_and_never_narrowed() {
    for (writer, value, reader, expected) in [
        ("int", Value::Int(-7), "long", Value::Long(-7)),
        (
            "int",
            Value::Int(i32::MAX),
            "float",
            Value::Float(i32::MAX as f32),
        ),
        (
            "int",
            Value::Int(i32::MIN),
            "double",
            Value::Double(f64::from(i32::MIN)),
        ),
        (
            "long",
            Value::Long(i64::MAX),
            "float",
            Value::Float(i64::MAX as f32),
        ),
        (
            "long",
            Value::Long(1 << 60),
            "double",
            Value::Double((1u64 << 60) as f64),
        ),
        (
            "float",
            Value::Float(0.1),
            "double",
            Value::Double(f64::from(0.1f32)),
        ),
        (
            "string",
            Value::String("ü".into()),
            "bytes",
            Value::Bytes("ü".into()),
        ),
        (
            "bytes",
            Value::Bytes(b"ab".to_vec()),
            "string",
            Value::String("ab".into()),
        ),
    ] {
        let (writer, reader) = (format!("\"{writer}\""), format!("\"{reader}\""));
        assert_eq!(
            resolved(&writer, &reader, value),
            Ok(expected),
            "{writer} {reader}"
        );
    }
    for (writer, reader) in [
        ("long", "int"),
        ("double", "float"),
        ("float", "long"),
        ("double", "long"),
        ("string", "int"),
        ("boolean", "int"),
        ("null", "string"),
    ] {
        let error = refused(&format!("\"{writer}\""), &format!("\"{reader}\""));
        assert_eq!(
            error,
            format!("at its top: {writer} there cannot be read as {reader} here")
        );
    }
}

#[test]
fn fields_are_found_by_name_and_alias_in_any_order_and_the_others_take_their_defaults() {
    let writer = record(
        r#"{"name":"c","type":"string"},{"name":"gone","type":{"type":"map","values":"long"}},{"name":"b","type":"int"},{"name":"a","type":"long"}"#,
    );
    let reader = record(
        r#"{"name":"a","type":"double"},{"name":"new","type":"string","default":"x"},{"name":"b2","aliases":["q","b"],"type":"long"},{"name":"c","type":"string"}"#,
    );
    let value = fields(&[
        ("c", Value::String("text".into())),
        (
            "gone",
            Value::Map([("k".to_owned(), Value::Long(1))].into()),
        ),
        ("b", Value::Int(2)),
        ("a", Value::Long(3)),
    ]);
    assert_eq!(
        resolved(&writer, &reader, value),
        Ok(fields(&[
            ("a", Value::Double(3.0)),
            ("new", Value::String("x".into())),
            ("b2", Value::Long(2)),
            ("c", Value::String("text".into())),
        ]))
    );
}

#[test]
fn what_a_record_lacks_is_named_by_its_path() {
    let inner = |field: &str| {
        format!(
            r#"{{"name":"lines","type":{{"type":"array","items":{{"type":"record","name":"L","fields":[{field}]}}}}}}"#
        )
    };
    let writer = record(&inner(r#"{"name":"sku","type":"string"}"#));
    assert_eq!(
        refused(&writer, &record(&inner(r#"{"name":"qty","type":"int"}"#))),
        "at field path `lines[].qty`: the writer does not have it, and it has no default here"
    );
    assert_eq!(
        refused(&writer, &record(&inner(r#"{"name":"sku","type":"int"}"#))),
        "at field path `lines[].sku`: string there cannot be read as int here"
    );
    let other = writer.replace("\"R\"", "\"S\"");
    assert_eq!(
        refused(&writer, &other),
        "at its top: record n.R there cannot be read as record n.S here"
    );
    // Without its namespace it is the same name; so it is with an alias.
    assert!(resolver(&writer, &writer.replace("\"n\"", "\"m\"")).is_ok());
    let alias = other.replace("\"name\":\"S\"", "\"name\":\"S\",\"aliases\":[\"n.R\"]");
    assert!(resolver(&writer, &alias).is_ok());
}

#[test]
fn defaults_of_every_type_are_values_of_it() {
    for (ty, default, expected) in [
        ("\"null\"", "null", Value::Null),
        ("\"boolean\"", "true", Value::Boolean(true)),
        ("\"int\"", "-3", Value::Int(-3)),
        (
            "\"long\"",
            "9007199254740993",
            Value::Long(9_007_199_254_740_993),
        ),
        ("\"float\"", "1", Value::Float(1.0)),
        ("\"double\"", "0.25", Value::Double(0.25)),
        (
            "\"bytes\"",
            "\"\\u00ff\\u0000\"",
            Value::Bytes(vec![255, 0]),
        ),
        ("\"string\"", "\"\\u00ff\"", Value::String("ÿ".into())),
        (
            r#"{"type":"array","items":"int"}"#,
            "[1,2]",
            Value::Array(vec![Value::Int(1), Value::Int(2)]),
        ),
        (
            r#"{"type":"array","items":"int"}"#,
            "[]",
            Value::Array(vec![]),
        ),
        (
            r#"{"type":"map","values":"int"}"#,
            "{\"a\":1}",
            Value::Map([("a".to_owned(), Value::Int(1))].into()),
        ),
        (
            r#"["null","int"]"#,
            "null",
            Value::Union(0, Box::new(Value::Null)),
        ),
        (
            r#"["null","int"]"#,
            "5",
            Value::Union(1, Box::new(Value::Int(5))),
        ),
        (
            r#"{"type":"enum","name":"E","symbols":["A","B"]}"#,
            "\"B\"",
            Value::Enum(1, "B".into()),
        ),
        (
            r#"{"type":"fixed","name":"F","size":2}"#,
            "\"\\u0001\\u00fe\"",
            Value::Fixed(2, vec![1, 254]),
        ),
        (
            r#"{"type":"record","name":"I","fields":[{"name":"x","type":"int"},{"name":"y","type":"int","default":4}]}"#,
            "{\"x\":3}",
            fields(&[("x", Value::Int(3)), ("y", Value::Int(4))]),
        ),
    ] {
        let reader = record(&format!(
            "{{\"name\":\"f\",\"type\":{ty},\"default\":{default}}}"
        ));
        let writer = record("");
        let found = resolved(&writer, &reader, fields(&[]));
        assert_eq!(found, Ok(fields(&[("f", expected)])), "{ty} {default}");
    }
    let reader = record(r#"{"name":"f","type":"int","default":"text"}"#);
    assert_eq!(
        resolver(&record(""), &reader)
            .expect_err("no int")
            .to_string(),
        "at field path `f`: its default is no value of its type"
    );
}

#[test]
fn symbols_are_found_by_name_and_unknown_ones_take_the_default() {
    let of = |symbols: &str, more: &str| {
        format!("{{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[{symbols}]{more}}}")
    };
    let writer = of(r#""A","B","C""#, "");
    let value = |n: u32, symbol: &str| Value::Enum(n, symbol.to_owned());
    let reader = of(r#""C","U","A""#, ",\"default\":\"U\"");
    assert_eq!(resolved(&writer, &reader, value(0, "A")), Ok(value(2, "A")));
    assert_eq!(resolved(&writer, &reader, value(1, "B")), Ok(value(1, "U")));
    let reader = of(r#""C","A""#, "");
    assert_eq!(resolved(&writer, &reader, value(2, "C")), Ok(value(0, "C")));
    let error = resolved(&writer, &reader, value(1, "B")).expect_err("no such symbol");
    assert!(error.contains("symbol 1 of the writer's enum"), "{error}");
    assert_eq!(
        refused(&writer, &of(r#""X""#, "")),
        "at its top: none of the symbols A, B, C is one of X"
    );
}

#[test]
fn unions_go_both_ways_and_a_branch_without_a_place_is_the_records_error() {
    let (long, text) = (Value::Long(7), Value::String("t".into()));
    let union = |branch: u32, value: &Value| Value::Union(branch, Box::new(value.clone()));
    // Into a union: the very type first, wherever it stands.
    assert_eq!(
        resolved("\"int\"", r#"["double","int"]"#, Value::Int(7)),
        Ok(union(1, &Value::Int(7)))
    );
    assert_eq!(
        resolved("\"int\"", r#"["null","double","long"]"#, Value::Int(7)),
        Ok(union(1, &Value::Double(7.0)))
    );
    // Out of a union.
    let writer = r#"["null","string","long"]"#;
    assert_eq!(
        resolved(writer, "\"long\"", union(2, &long)),
        Ok(long.clone())
    );
    let error = resolved(writer, "\"long\"", union(1, &text)).expect_err("no long");
    assert!(error.contains("branch 1 of the writer's union"), "{error}");
    // From one into the other.
    assert_eq!(
        resolved(writer, r#"["long","null","string"]"#, union(1, &text)),
        Ok(union(2, &text))
    );
    assert_eq!(
        refused(r#"["boolean","string"]"#, "\"long\""),
        "at its top: string there cannot be read as long here"
    );
    assert_eq!(
        refused("\"boolean\"", r#"["null","long"]"#),
        "at its top: boolean there fits no branch of union of null, long here"
    );
}

#[test]
fn logical_types_that_differ_are_other_values_and_never_resolved() {
    let of =
        |ty: &str, logical: &str| format!("{{\"type\":\"{ty}\",\"logicalType\":\"{logical}\"}}");
    let (millis, micros) = (
        of("long", "timestamp-millis"),
        of("long", "timestamp-micros"),
    );
    assert_eq!(
        refused(&millis, &micros),
        "at its top: long (timestamp-millis) there cannot be read as long (timestamp-micros) here"
    );
    for (writer, reader) in [
        ("\"long\"", millis.as_str()),
        (&millis, "\"long\""),
        ("\"int\"", &millis),
    ] {
        assert!(resolver(writer, reader).is_ok(), "{writer} {reader}");
    }
    let decimal = |scale: u32| {
        format!(
            "{{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":{scale}}}"
        )
    };
    assert!(resolver(&decimal(2), &decimal(3)).is_err());
}

#[test]
fn records_that_contain_themselves_are_resolved_to_any_depth_but_a_bounded_one() {
    let list = |ty: &str, more: &str| {
        record(&format!(
            "{{\"name\":\"v\",\"type\":\"{ty}\"}},{{\"name\":\"next\",\"type\":[\"null\",\"R\"]}}{more}"
        ))
    };
    let (writer, reader) = (
        list("int", ""),
        list("long", r#",{"name":"x","type":"int","default":1}"#),
    );
    // v=1 -> v=2 -> end
    assert_eq!(
        ours(&writer, &reader, &[2, 2, 4, 0]),
        Ok(fields(&[
            ("v", Value::Long(1)),
            (
                "next",
                Value::Union(
                    1,
                    Box::new(fields(&[
                        ("v", Value::Long(2)),
                        ("next", Value::Union(0, Box::new(Value::Null))),
                        ("x", Value::Int(1)),
                    ]))
                )
            ),
            ("x", Value::Int(1)),
        ]))
    );
    let deep = [2u8, 2].repeat(100_000);
    let error = ours(&writer, &reader, &deep).expect_err("too deep");
    assert!(error.contains("nested more than"), "{error}");
    // In a record that is passed over as well.
    let (with, without) = (
        format!(
            r#"{{"type":"record","name":"O","fields":[{{"name":"r","type":{writer}}},{{"name":"k","type":"int"}}]}}"#
        ),
        r#"{"type":"record","name":"O","fields":[{"name":"k","type":"int"}]}"#,
    );
    assert_eq!(
        ours(&with, without, &[2, 2, 4, 0, 6]),
        Ok(fields(&[("k", Value::Int(3))]))
    );
    let error = ours(&with, without, &deep).expect_err("too deep");
    assert!(error.contains("nested more than"), "{error}");
    // Through an array, whose items stand where the array does.
    let tree = record(r#"{"name":"kids","type":{"type":"array","items":"R"}}"#);
    let (with, nested) = (with.replace(&writer, &tree), [2u8].repeat(100_000));
    assert!(ours(&with, without, &[2, 0, 0, 6]).is_ok());
    let error = ours(&with, without, &nested).expect_err("too deep");
    assert!(error.contains("nested more than"), "{error}");
}

#[test]
fn a_record_that_failed_half_way_is_planned_anew_where_it_is_met_again() {
    // `B` refers to `A`; `A` cannot be read, so the first branch falls away, and the second meets `B` by itself.
    let writer = r#"[{"type":"record","name":"A","fields":[{"name":"b","type":["null",{"type":"record","name":"B","fields":[{"name":"a","type":["null","A"]}]}]},{"name":"bad","type":"string"}]},"B"]"#;
    let reader = r#"[{"type":"record","name":"A","fields":[{"name":"b","type":["null",{"type":"record","name":"B","fields":[{"name":"a","type":["null","A"]}]}]},{"name":"bad","type":"int"}]},"B"]"#;
    let bytes = [2, 0];
    let null = || Box::new(Value::Null);
    assert_eq!(
        ours(writer, reader, &bytes),
        Ok(Value::Union(
            1,
            Box::new(fields(&[("a", Value::Union(0, null()))]))
        ))
    );
    // B with an A inside: the A cannot be read, and is not taken for nothing.
    let error = ours(writer, reader, &[2, 2, 0, 2, b'x']).expect_err("A is unreadable");
    assert!(error.contains("branch 1 of the writer's union"), "{error}");
}

#[test]
fn items_without_bytes_do_not_fill_the_memory_with_their_defaults() {
    let of = |fields: &str| {
        record(&format!(
            r#"{{"name":"l","type":{{"type":"array","items":{{"type":"record","name":"E","fields":[{fields}]}}}}}}"#
        ))
    };
    let long = format!(
        r#"{{"name":"x","type":"string","default":"{}"}}"#,
        "y".repeat(1000)
    );
    // 60,000 items of nothing.
    let bytes = [0xc0, 0xa9, 0x07, 0];
    let error = ours(&of(""), &of(&long), &bytes).expect_err("too large");
    assert!(error.contains("more than"), "{error}");
}

#[test]
fn damaged_bytes_are_errors_with_the_path_of_the_writers_field() {
    let writer = record(r#"{"name":"a","type":"string"},{"name":"b","type":"int"}"#);
    // A default behind them: what is read by the plan has to end where the record ends.
    let reader = record(r#"{"name":"b","type":"long"},{"name":"c","type":"int","default":7}"#);
    for (bytes, said) in [
        (&[][..], "field `a`, byte 0 of 0: the payload ends here"),
        (
            &[4, b'x', b'y'],
            "field `b`, byte 3 of 3: the payload ends here",
        ),
        (&[1], "field `a`, byte 1 of 1: a length of -1"),
        (
            &[0, 0xff, 0xff, 0xff, 0xff, 0x7f],
            "field `b`, byte 6 of 6: ",
        ),
        (&[0, 2, 7], "byte 2 of 3: 1 bytes are left"),
    ] {
        let error = ours(&writer, &reader, bytes).expect_err(said);
        assert!(error.starts_with(said), "{said}: {error}");
    }
}

#[test]
fn a_rest_that_stays_as_it_is_keeps_its_damage() {
    let writer = record(r#"{"name":"gone","type":"int"},{"name":"a","type":"string"}"#);
    let reader = record(r#"{"name":"a","type":"string"}"#);
    let read = |bytes: &[u8]| ours(&writer, &reader, bytes);
    let text = fields(&[("a", Value::String("xy".into()))]);
    assert_eq!(read(&[2, 4, b'x', b'y']), Ok(text));
    for damaged in [&[2, 4, b'x'][..], &[2, 4, b'x', b'y', 0], &[2, 1], &[2]] {
        assert!(read(damaged).is_err(), "{damaged:?}");
    }
}

#[test]
fn what_a_body_lacks_is_never_taken_from_a_default_behind_it() {
    let writer = record(r#"{"name":"a","type":"string"}"#);
    // Defaults that a decoder of all bytes in a row could take for the end of the text, or the end of the text for them.
    let reader =
        record(r#"{"name":"a","type":"string"},{"name":"b","type":"string","default":"zz"}"#);
    let read = |bytes: &[u8]| ours(&writer, &reader, bytes);
    let whole = fields(&[
        ("a", Value::String("xy".into())),
        ("b", Value::String("zz".into())),
    ]);
    assert_eq!(read(&[4, b'x', b'y']), Ok(whole));
    for damaged in [&[4, b'x'][..], &[10, b'x', b'y'], &[4, b'x', b'y', 0], &[]] {
        assert!(read(damaged).is_err(), "{damaged:?}");
    }
}

#[test]
fn what_the_writers_type_does_not_have_is_refused_though_the_compiled_one_has_it() {
    let of = |ty: &str| record(&format!(r#"{{"name":"a","type":{ty}}}"#));
    let list = |ty: &str| format!(r#"{{"type":"array","items":{ty}}}"#);
    let (int, long) = (r#""int""#, r#""long""#);
    // 2^31.
    let wide = [0x80, 0x80, 0x80, 0x80, 0x10];
    let in_a_list = [&[2][..], &wide, &[0]].concat();
    // Also behind a size by which the block could be passed over.
    let in_a_sized_list = [&[1, 10][..], &wide, &[0]].concat();
    let behind_null = [&[2][..], &wide].concat();
    for (writer, reader, bytes) in [
        (int.to_owned(), long.to_owned(), &wide[..]),
        (list(int), list(long), &in_a_list),
        (list(int), list(long), &in_a_sized_list),
        (
            r#"["null","int"]"#.to_owned(),
            r#"["null","long"]"#.to_owned(),
            &behind_null,
        ),
        // A branch that only the reader has.
        (
            r#"["null"]"#.to_owned(),
            r#"["null","int"]"#.to_owned(),
            &[2, 2],
        ),
    ] {
        let what = format!("{writer} -> {reader}");
        assert!(ours(&of(&reader), &of(&reader), bytes).is_ok(), "{what}");
        assert!(ours(&of(&writer), &of(&reader), bytes).is_err(), "{what}");
    }
}

#[test]
fn fields_that_are_made_stand_between_fields_that_are_read_where_they_are() {
    let of = |types: [&str; 6], more: [&str; 2]| {
        let names = ["a", "b", "c", "d", "e", "f"];
        let plain = names.iter().zip(types).map(|(name, ty)| {
            let default = if ty == "null" {
                r#","default":null"#
            } else {
                ""
            };
            format!(r#"{{"name":"{name}","type":"{ty}"{default}}}"#)
        });
        let mut all: Vec<String> = plain.collect();
        all.insert(3, more[0].to_owned());
        all.push(more[1].to_owned());
        all.retain(|field| !field.is_empty());
        record(&all.join(","))
    };
    // Made, as it is, made, one that is gone, made, as it is, made, a default; and nothing in front of it at all.
    let writer = of(
        ["int", "int", "float", "int", "string", "int"],
        [r#"{"name":"gone","type":"string"}"#, ""],
    );
    let reader = of(
        ["long", "int", "double", "double", "string", "double"],
        ["", r#"{"name":"g","type":["null","int"],"default":null}"#],
    );
    let value = fields(&[
        ("a", Value::Int(1)),
        ("b", Value::Int(-2)),
        ("c", Value::Float(0.5)),
        ("gone", Value::String("gone".into())),
        ("d", Value::Int(4)),
        ("e", Value::String("five".into())),
        ("f", Value::Int(6)),
    ]);
    let expected = fields(&[
        ("a", Value::Long(1)),
        ("b", Value::Int(-2)),
        ("c", Value::Double(0.5)),
        ("d", Value::Double(4.0)),
        ("e", Value::String("five".into())),
        ("f", Value::Double(6.0)),
        ("g", Value::Union(0, Box::new(Value::Null))),
    ]);
    assert_eq!(resolved(&writer, &reader, value), Ok(expected));
}

#[test]
fn a_union_of_the_writers_around_the_record_is_no_obstacle() {
    let reader = record(r#"{"name":"a","type":"long"},{"name":"b","type":"int","default":3}"#);
    let writer = format!("[\"null\",{}]", record(r#"{"name":"a","type":"int"}"#));
    let expected = fields(&[("a", Value::Long(1)), ("b", Value::Int(3))]);
    assert_eq!(ours(&writer, &reader, &[2, 2]), Ok(expected));
    let error = ours(&writer, &reader, &[0]).expect_err("null is no record");
    assert!(error.contains("branch 0 of the writer's union"), "{error}");
    assert!(ours(&writer, &reader, &[2, 2, 0]).is_err());
}
