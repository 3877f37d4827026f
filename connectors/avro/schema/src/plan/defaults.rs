//! A field's default as bytes of the compiled schema.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-record>: the table of default values.

use std::collections::HashMap;

use serde_json::Value;

use super::long;
use crate::canonical::{Canonical, Extras, MAX_LEVELS};

/// The most values that are looked at for one default. It may leave fields out that have defaults, which may do so again: a few short
/// records can stand for any number of values, or lead back to themselves.
const MOST_VALUES: usize = 1 << 20;

/// The most bytes that one may take.
const MOST_BYTES: usize = 1 << 20;

/// Why a default has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It is no value of the type.
    Value,
    /// With the defaults that it leaves to fields it has no end, or is beyond any use.
    Endless,
}

/// The bytes of a default.
pub(super) fn encode(
    value: &Value,
    ty: &Canonical,
    named: &HashMap<&str, &Canonical>,
    extras: &Extras,
) -> Result<Vec<u8>, Unfit> {
    let mut out = Vec::new();
    let mut encoder = Encoder {
        named,
        extras,
        level: 0,
        left: MOST_VALUES,
        endless: false,
    };
    match encoder.value(value, ty, &mut out) {
        _ if encoder.endless => Err(Unfit::Endless),
        Some(()) => Ok(out),
        None => Err(Unfit::Value),
    }
}

struct Encoder<'s> {
    named: &'s HashMap<&'s str, &'s Canonical>,
    extras: &'s Extras,
    level: usize,
    /// Values that may still be looked at.
    left: usize,
    /// Whether a bound was reached: then nothing else is tried.
    endless: bool,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value, ty: &Canonical, out: &mut Vec<u8>) -> Option<()> {
        self.endless |= self.level == MAX_LEVELS || self.left == 0 || out.len() > MOST_BYTES;
        if self.endless {
            return None;
        }
        self.left -= 1;
        self.level += 1;
        let done = self.value_of(value, ty, out);
        self.level -= 1;
        done
    }

    fn value_of(&mut self, value: &Value, ty: &Canonical, out: &mut Vec<u8>) -> Option<()> {
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
        "float" => {
            let value = float(value)?;
            let single = value as f32;
            // One that is beyond a float's range would become infinite.
            if single.is_infinite() && value.is_finite() {
                return None;
            }
            out.extend_from_slice(&single.to_le_bytes());
        }
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
