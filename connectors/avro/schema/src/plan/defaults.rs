//! A field's default as bytes of the compiled schema.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-record>: the table of default values.

use std::collections::HashMap;

use serde_json::Value;

use super::long;
use crate::canonical::{Canonical, Extras};

/// The bytes of a default; `None` if it is no value of the type.
pub(super) fn encode(
    value: &Value,
    ty: &Canonical,
    named: &HashMap<&str, &Canonical>,
    extras: &Extras,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let encoder = Encoder { named, extras };
    encoder.value(value, ty, &mut out)?;
    Some(out)
}

struct Encoder<'s> {
    named: &'s HashMap<&'s str, &'s Canonical>,
    extras: &'s Extras,
}

impl Encoder<'_> {
    fn value(&self, value: &Value, ty: &Canonical, out: &mut Vec<u8>) -> Option<()> {
        match ty {
            Canonical::Named(name) => {
                return self.value(value, self.named.get(name.as_str())?, out);
            }
            Canonical::Primitive(name, _) => return primitive(name, value, out),
            Canonical::Array(items) => {
                let values = value.as_array()?;
                if !values.is_empty() {
                    long(values.len() as i64, out);
                    for value in values {
                        self.value(value, items, out)?;
                    }
                }
                out.push(0);
            }
            Canonical::Map(values) => {
                let entries = value.as_object()?;
                if !entries.is_empty() {
                    long(entries.len() as i64, out);
                    for (key, value) in entries {
                        bytes(key.as_bytes(), out);
                        self.value(value, values, out)?;
                    }
                }
                out.push(0);
            }
            // The first branch that it is a value of.
            Canonical::Union(branches) => {
                let start = out.len();
                return branches.iter().enumerate().find_map(|(n, branch)| {
                    out.truncate(start);
                    long(n as i64, out);
                    self.value(value, branch, out)
                });
            }
            Canonical::Record(name, fields) => {
                let given = value.as_object()?;
                let extra = self.extras.get(name.as_str());
                for (n, (field, ty)) in fields.iter().enumerate() {
                    let own = || extra?.fields.get(n)?.1.as_ref();
                    self.value(given.get(field).or_else(own)?, ty, out)?;
                }
            }
            Canonical::Enum(_, symbols) => {
                let symbol = value.as_str()?;
                long(
                    symbols.iter().position(|known| known == symbol)? as i64,
                    out,
                );
            }
            Canonical::Fixed(_, size, _) => {
                let value = latin(value.as_str()?)?;
                if value.len() != *size {
                    return None;
                }
                out.extend_from_slice(&value);
            }
        }
        Some(())
    }
}

fn primitive(name: &str, value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match name {
        "null" => value.as_null()?,
        "boolean" => out.push(u8::from(value.as_bool()?)),
        "int" => long(i64::from(i32::try_from(value.as_i64()?).ok()?), out),
        "long" => long(value.as_i64()?, out),
        "float" => out.extend_from_slice(&(float(value)? as f32).to_le_bytes()),
        "double" => out.extend_from_slice(&float(value)?.to_le_bytes()),
        "bytes" => bytes(&latin(value.as_str()?)?, out),
        "string" => bytes(value.as_str()?.as_bytes(), out),
        _ => return None,
    }
    Some(())
}

/// A number, or a word for one that JSON has no number for.
fn float(value: &Value) -> Option<f64> {
    match value.as_str() {
        None => value.as_f64(),
        Some("NaN") => Some(f64::NAN),
        Some("INF" | "Infinity") => Some(f64::INFINITY),
        Some("-INF" | "-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
    }
}

/// Characters up to 255 stand for bytes.
fn latin(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|char| u8::try_from(u32::from(char)).ok())
        .collect()
}

fn bytes(value: &[u8], out: &mut Vec<u8>) {
    long(value.len() as i64, out);
    out.extend_from_slice(value);
}
