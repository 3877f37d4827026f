//! Random schemas, changed as people change them.

use std::collections::HashSet;

use apache_avro::types::Value;
use proptest::prelude::*;

use super::{decoded, encoded, ours, theirs};

/// A type and a value of it, as two schemas have them.
#[derive(Clone, Debug)]
struct Both {
    writer: String,
    reader: String,
    value: Value,
}

fn same(ty: &str, value: Value) -> Both {
    let ty = format!("\"{ty}\"");
    Both {
        writer: ty.clone(),
        reader: ty,
        value,
    }
}

fn promoted(writer: &str, reader: &str, value: Value) -> Both {
    Both {
        writer: format!("\"{writer}\""),
        reader: format!("\"{reader}\""),
        value,
    }
}

fn leaf() -> impl Strategy<Value = Both> {
    // Whole numbers that a float holds, so that the two libraries' conversions cannot differ in the last bit.
    let small = -1000i32..1000;
    prop_oneof![
        Just(same("null", Value::Null)),
        any::<bool>().prop_map(|value| same("boolean", Value::Boolean(value))),
        any::<i32>().prop_map(|value| same("int", Value::Int(value))),
        any::<i64>().prop_map(|value| same("long", Value::Long(value))),
        small
            .clone()
            .prop_map(|value| same("float", Value::Float(value as f32))),
        any::<i32>().prop_map(|value| same("double", Value::Double(value.into()))),
        "[a-zü]{0,6}".prop_map(|value| same("string", Value::String(value))),
        proptest::collection::vec(any::<u8>(), 0..6)
            .prop_map(|value| same("bytes", Value::Bytes(value))),
        any::<i32>().prop_map(|value| promoted("int", "long", Value::Int(value))),
        small
            .clone()
            .prop_map(|value| promoted("int", "float", Value::Int(value))),
        any::<i32>().prop_map(|value| promoted("int", "double", Value::Int(value))),
        small
            .clone()
            .prop_map(|value| promoted("long", "float", Value::Long(value.into()))),
        any::<i32>().prop_map(|value| promoted("long", "double", Value::Long(value.into()))),
        small.prop_map(|value| promoted("float", "double", Value::Float(value as f32))),
        "[a-z]{0,6}".prop_map(|value| promoted("string", "bytes", Value::String(value))),
    ]
}

/// A type with others inside.
fn nested(inner: impl Strategy<Value = Both> + Clone + 'static) -> impl Strategy<Value = Both> {
    let array = (inner.clone(), 0usize..3).prop_map(|(both, count)| Both {
        writer: format!("{{\"type\":\"array\",\"items\":{}}}", both.writer),
        reader: format!("{{\"type\":\"array\",\"items\":{}}}", both.reader),
        value: Value::Array(vec![both.value; count]),
    });
    let map = (inner.clone(), 0usize..3).prop_map(|(both, count)| Both {
        writer: format!("{{\"type\":\"map\",\"values\":{}}}", both.writer),
        reader: format!("{{\"type\":\"map\",\"values\":{}}}", both.reader),
        value: Value::Map(
            (0..count)
                .map(|n| (format!("k{n}"), both.value.clone()))
                .collect(),
        ),
    });
    let nullable = (inner.clone(), any::<bool>())
        .prop_filter("no union in a union", |(both, _)| {
            plain(&both.writer) && plain(&both.reader)
        })
        .prop_map(|(both, null)| Both {
            writer: format!("[\"null\",{}]", both.writer),
            reader: format!("[\"null\",{}]", both.reader),
            value: match null {
                true => Value::Union(0, Box::new(Value::Null)),
                false => Value::Union(1, Box::new(both.value)),
            },
        });
    let widened = inner
        .clone()
        .prop_filter("no union in a union", |both| {
            plain(&both.writer) && plain(&both.reader)
        })
        .prop_map(|both| Both {
            writer: both.writer.clone(),
            reader: format!("[\"null\",{}]", both.writer),
            value: both.value,
        });
    let record = (
        proptest::collection::vec((inner, 0u8..4), 0..5),
        any::<u64>(),
    )
        .prop_map(|(fields, tag)| {
            let mut writer = Vec::new();
            let mut reader = Vec::new();
            let mut values = Vec::new();
            for (n, (both, fate)) in fields.into_iter().enumerate() {
                let theirs = format!("{{\"name\":\"f{n}\",\"type\":{}}}", both.writer);
                let ours = format!("{{\"name\":\"f{n}\",\"type\":{}}}", both.reader);
                match fate {
                    // Only the writer has it.
                    0 => writer.push(theirs),
                    // Only the reader, with a default.
                    1 => {
                        reader.push(format!(
                            "{{\"name\":\"d{n}\",\"type\":\"int\",\"default\":{n}}}"
                        ));
                        continue;
                    }
                    // In front of the others.
                    2 => {
                        writer.push(theirs);
                        reader.insert(0, ours);
                    }
                    _ => {
                        writer.push(theirs);
                        reader.push(ours);
                    }
                }
                values.push((format!("f{n}"), both.value));
            }
            let of = |fields: Vec<String>| {
                format!(
                    "{{\"type\":\"record\",\"name\":\"R{tag:x}\",\"fields\":[{}]}}",
                    fields.join(",")
                )
            };
            Both {
                writer: of(writer),
                reader: of(reader),
                value: Value::Record(values),
            }
        });
    prop_oneof![2 => array, 2 => map, 2 => nullable, 1 => widened, 4 => record]
}

/// Neither a union nor null.
fn plain(ty: &str) -> bool {
    !ty.starts_with('[') && ty != "\"null\""
}

/// Two schemas, each with every name defined once.
fn schemas() -> impl Strategy<Value = Both> {
    let level = leaf().prop_recursive(2, 12, 3, |inner| nested(inner).boxed());
    nested(level).prop_filter("a name is defined once", |both| {
        let names: Vec<&str> = both.writer.split("\"name\":\"R").skip(1).collect();
        let name = |text: &&str| text.split('"').next().unwrap_or_default().to_owned();
        let distinct: HashSet<String> = names.iter().map(name).collect();
        distinct.len() == names.len()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// The same value as apache-avro.
    #[test]
    fn resolution_gives_what_apache_avro_gives(both in schemas()) {
        let Both { writer, reader, value } = both;
        let bytes = encoded(&writer, value);
        let (ours, theirs) = (ours(&writer, &reader, &bytes), theirs(&writer, &reader, &bytes));
        prop_assert_eq!(ours, theirs, "{} -> {}", writer, reader);
    }

    /// A schema resolved to itself gives the same bytes' value.
    #[test]
    fn a_schema_resolves_to_itself(both in schemas()) {
        let bytes = encoded(&both.writer, both.value);
        prop_assert_eq!(ours(&both.writer, &both.writer, &bytes), decoded(&both.writer, &bytes));
    }

    /// Bytes that were changed give an error or a value, whatever the plan does with them.
    #[test]
    fn changed_bytes_never_panic(both in schemas(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = encoded(&both.writer, both.value);
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        let _ = ours(&both.writer, &both.reader, &bytes);
    }
}
