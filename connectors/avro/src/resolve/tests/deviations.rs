//! Where apache-avro 0.22 resolves otherwise than the specification says, held from both sides: what we make of the same bytes, and what it
//! makes of them. A row that fails after an update of apache-avro is one that it has mended: it goes, here and in
//! `docs/avro-deviations.md`, and into what the random schemas are compared by.

use apache_avro::types::Value;

use super::{ours, theirs};

/// A record with these fields.
fn record(name: &str, fields: &str) -> String {
    format!(r#"{{"type":"record","name":"{name}","fields":[{fields}]}}"#)
}

/// A record with a field `f` of this type.
fn field(ty: &str) -> String {
    record("R", &format!(r#"{{"name":"f","type":{ty}}}"#))
}

/// A record with a field `f` that has a default.
fn defaulted(ty: &str, default: &str) -> String {
    record(
        "R",
        &format!(r#"{{"name":"f","type":{ty},"default":{default}}}"#),
    )
}

fn logical(ty: &str, logical: &str) -> String {
    format!(r#"{{"type":"{ty}","logicalType":"{logical}"}}"#)
}

fn fixed(name: &str) -> String {
    format!(r#"{{"type":"fixed","name":"{name}","size":2}}"#)
}

fn symbols(name: &str) -> String {
    format!(r#"{{"type":"enum","name":"{name}","symbols":["A","B"]}}"#)
}

/// A record `name` that has an int.
fn holder(name: &str) -> String {
    record(name, r#"{"name":"x","type":"int"}"#)
}

const PRICE: &str = r#"{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}"#;

/// The value of the field, whatever it is called.
fn value(of: Result<Value, String>) -> Option<Value> {
    match of.ok()? {
        Value::Record(fields) => fields.into_iter().next().map(|(_, value)| value),
        other => Some(other),
    }
}

/// Compares what both make of the bytes; `None` is an error.
fn differ(rows: impl IntoIterator<Item = (String, String, Vec<u8>, Option<Value>, Option<Value>)>) {
    for (writer, reader, bytes, we, they) in rows {
        let found = value(ours(&writer, &reader, &bytes));
        assert_eq!(found, we, "ours: {writer} -> {reader}");
        let found = value(theirs(&writer, &reader, &bytes));
        assert_eq!(found, they, "theirs: {writer} -> {reader}");
        assert_ne!(we, they, "no deviation: {writer} -> {reader}");
    }
}

#[test]
fn apache_avro_looks_at_no_names_of_types() {
    let (one, two) = (holder("A"), holder("B"));
    let held = |n: i32| Value::Record(vec![("x".to_owned(), Value::Int(n))]);
    let branch = |n: u32| Some(Value::Union(n, Box::new(held(1))));
    differ([
        (one.clone(), two.clone(), vec![2], None, Some(Value::Int(1))),
        (
            field(&symbols("E")),
            field(&symbols("F")),
            vec![2],
            None,
            Some(Value::Enum(1, "B".to_owned())),
        ),
        (
            field(&fixed("E")),
            field(&fixed("F")),
            vec![1, 2],
            None,
            Some(Value::Fixed(2, vec![1, 2])),
        ),
        // Of two records with the same fields the first is taken, also from a union that says which one it is.
        (
            field(&two),
            field(&format!(r#"["null",{one},{two}]"#)),
            vec![2],
            branch(2),
            branch(1),
        ),
        (
            field(&format!("[{one},{two}]")),
            field(&format!(r#"["null",{one},{two}]"#)),
            vec![2, 2],
            branch(2),
            branch(1),
        ),
    ]);
}

#[test]
fn apache_avro_does_not_find_a_field_by_its_alias() {
    let reader = |more: &str| {
        record(
            "R",
            &format!(r#"{{"name":"g","aliases":["f"],"type":"int"{more}}}"#),
        )
    };
    let found = Some(Value::Int(1));
    differ([
        (field("\"int\""), reader(""), vec![2], found.clone(), None),
        // And so takes the default for a value that was written.
        (
            field("\"int\""),
            reader(r#","default":9"#),
            vec![2],
            found,
            Some(Value::Int(9)),
        ),
    ]);
}

#[test]
fn apache_avro_narrows_numbers_and_converts_by_the_value() {
    differ([
        (
            field("\"long\""),
            field("\"int\""),
            vec![2],
            None,
            Some(Value::Int(1)),
        ),
        (
            field("\"double\""),
            field("\"float\""),
            1.5f64.to_le_bytes().to_vec(),
            None,
            Some(Value::Float(1.5)),
        ),
        (
            field("\"string\""),
            field(&symbols("E")),
            vec![2, b'A'],
            None,
            Some(Value::Enum(0, "A".to_owned())),
        ),
        (
            field("\"bytes\""),
            field(&fixed("F")),
            vec![4, 1, 2],
            None,
            Some(Value::Fixed(2, vec![1, 2])),
        ),
        (
            field(r#"{"type":"map","values":"int"}"#),
            field(&record("M", r#"{"name":"a","type":"int"}"#)),
            vec![2, 2, b'a', 2, 0],
            None,
            Some(Value::Record(vec![("a".to_owned(), Value::Int(1))])),
        ),
        // Nothing is there that could not be converted.
        (
            field(r#"{"type":"array","items":"string"}"#),
            field(r#"{"type":"array","items":"int"}"#),
            vec![0],
            None,
            Some(Value::Array(vec![])),
        ),
    ]);
}

#[test]
fn apache_avro_does_not_read_a_logical_type_as_its_plain_type() {
    let text = b"936da01f-9abd-4d9d-80c7-02af85c822a8";
    let date = field(&logical("int", "date"));
    let millis = field(&logical("long", "timestamp-millis"));
    let number = |value| Some(value);
    differ([
        (
            date.clone(),
            field("\"int\""),
            vec![2],
            number(Value::Int(1)),
            None,
        ),
        (
            date,
            field("\"long\""),
            vec![2],
            number(Value::Long(1)),
            None,
        ),
        (
            millis.clone(),
            field("\"long\""),
            vec![2],
            number(Value::Long(1)),
            None,
        ),
        (
            millis,
            field("\"double\""),
            vec![2],
            number(Value::Double(1.0)),
            None,
        ),
        (
            field(PRICE),
            field("\"bytes\""),
            vec![2, 5],
            number(Value::Bytes(vec![5])),
            None,
        ),
        (
            field(&logical("string", "uuid")),
            field("\"string\""),
            [&[72][..], text].concat(),
            Some(Value::String(String::from_utf8_lossy(text).into_owned())),
            None,
        ),
        // A precision is the most that the digits may be, not how many bytes there are.
        (
            field("\"bytes\""),
            field(PRICE),
            vec![2, 5],
            Some(Value::Decimal(vec![5].into())),
            None,
        ),
    ]);
}

#[test]
fn apache_avro_takes_other_defaults() {
    let nothing = || record("R", "");
    let union = |branch: u32, value: Value| Some(Value::Union(branch, Box::new(value)));
    differ([
        // The first branch that it is a value of, since 1.12.
        (
            nothing(),
            defaulted(r#"["null","int"]"#, "5"),
            vec![],
            union(1, Value::Int(5)),
            union(0, Value::Null),
        ),
        (
            nothing(),
            defaulted(r#"["int","null"]"#, "null"),
            vec![],
            union(1, Value::Null),
            None,
        ),
        // Characters are bytes, not their UTF-8.
        (
            nothing(),
            defaulted("\"bytes\"", r#""\u00ff""#),
            vec![],
            Some(Value::Bytes(vec![0xff])),
            Some(Value::Bytes(vec![0xc3, 0xbf])),
        ),
        (
            nothing(),
            defaulted(r#"{"type":"fixed","name":"F","size":1}"#, r#""\u00ff""#),
            vec![],
            Some(Value::Fixed(1, vec![0xff])),
            Some(Value::Fixed(2, vec![0xc3, 0xbf])),
        ),
        // The default of an enum stands for a writer's symbol, not for a default that is none.
        (
            nothing(),
            defaulted(
                r#"{"type":"enum","name":"E","symbols":["A"],"default":"A"}"#,
                "\"C\"",
            ),
            vec![],
            None,
            Some(Value::Enum(0, "A".to_owned())),
        ),
    ]);
}
