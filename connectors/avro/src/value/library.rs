//! The library, `apache-avro`, and the way from its values to ours.
//!
//! It sees a schema of the same bytes with plain names and without logical types: what it makes of names, namespaces and logical types
//! does not matter then. It is given records that were looked through, and its panics are caught all the same. It takes kilobytes of
//! the stack for each level, so what is nested deeply is done on a thread with a stack of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use apache_avro::types::Value as Theirs;
use apache_avro::{AvroResult, GenericSingleObjectReader, Schema};
use serde_json::json;

use super::layout::{Layout, Node, NodeId, Unit};
use super::{Record, Symbol, Union, Value};
use crate::logical::{
    BigDecimal, Date, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, Uuid, big_decimal,
    number_of,
};

/// The library's decoder of one schema.
pub(super) struct Library(GenericSingleObjectReader);

impl Library {
    /// # Errors
    /// The library does not take the schema: what it says.
    pub(super) fn new(layout: &Layout) -> Result<Self, String> {
        let mut plain = Plain {
            layout,
            defined: vec![false; layout.nodes.len()],
        };
        let schema = plain.node(layout.root);
        // It owns its schema; the single-object encoding's header is not there.
        let reader = aside(|| {
            let schema = Schema::parse(&schema)?;
            GenericSingleObjectReader::builder()
                .schema(schema)
                .header(Vec::new())
                .build()
        });
        reader.map(Library)
    }

    /// The value in `bytes`, which are a whole record of so many values in each other.
    ///
    /// # Errors
    /// What the library says.
    pub(super) fn decode(
        &self,
        layout: &Layout,
        bytes: &[u8],
        nested: usize,
    ) -> Result<Value, String> {
        let decode = || {
            let mut rest = bytes;
            let theirs = self.0.read_value(&mut rest)?;
            let ours = rest.is_empty().then(|| layout.ours(layout.root, theirs));
            Ok(ours.flatten())
        };
        let decoded = match nested > NESTED_HERE {
            true => aside(decode),
            false => guarded(decode),
        };
        // A record that was looked through has all its bytes, and these types.
        decoded?.ok_or_else(|| "apache-avro decodes another record than the schema's".to_owned())
    }
}

/// How many values in each other are decoded on the thread that asks.
const NESTED_HERE: usize = 32;

/// The stack for more: the most values in each other take a tenth of it without optimizations.
const STACK: usize = 64 << 20;

/// The same as [`guarded`] on a thread with a large stack, which is waited for.
fn aside<T: Send>(call: impl FnOnce() -> AvroResult<T> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("avro-value".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || guarded(call))
            .map_err(|error| format!("no thread for deeply nested values: {error}"))?;
        thread
            .join()
            .unwrap_or_else(|_| Err("apache-avro panicked".to_owned()))
    })
}

/// An error of the library, or its panic, as text.
fn guarded<T>(call: impl FnOnce() -> AvroResult<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("apache-avro: {error}")),
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            let said = said.unwrap_or_else(|| "no message".to_owned());
            Err(format!("apache-avro panicked: {said}"))
        }
    }
}

/// The schema that the library sees.
struct Plain<'l> {
    layout: &'l Layout,
    defined: Vec<bool>,
}

impl Plain<'_> {
    fn node(&mut self, id: NodeId) -> serde_json::Value {
        let named = |kind: &str| format!("{kind}{id}");
        let layout = self.layout;
        match &layout.nodes[id] {
            Node::Null => json!("null"),
            Node::Boolean => json!("boolean"),
            Node::Int | Node::IntTime(_) => json!("int"),
            Node::Long | Node::LongTime(_) => json!("long"),
            Node::Float => json!("float"),
            Node::Double => json!("double"),
            Node::Bytes | Node::BigDecimal | Node::Decimal { fixed: None, .. } => json!("bytes"),
            Node::String | Node::Uuid => json!("string"),
            Node::Fixed(size)
            | Node::Decimal {
                fixed: Some(size), ..
            } => self.fixed(id, *size),
            Node::UuidFixed => self.fixed(id, 16),
            Node::Duration => self.fixed(id, 12),
            Node::Enum(_) if self.defined[id] => json!(named("E")),
            Node::Enum(names) => {
                self.defined[id] = true;
                let symbols: Vec<String> =
                    (0..names.parts.len()).map(|n| format!("S{n}")).collect();
                json!({ "type": "enum", "name": named("E"), "symbols": symbols })
            }
            Node::Array(item) => json!({ "type": "array", "items": self.node(*item) }),
            Node::Map(item) => json!({ "type": "map", "values": self.node(*item) }),
            Node::Union(_, branches) => branches.iter().map(|branch| self.node(*branch)).collect(),
            Node::Record { .. } if self.defined[id] => json!(named("R")),
            Node::Record { fields, .. } => {
                self.defined[id] = true;
                let field = |(n, id): (usize, &NodeId)| json!({ "name": format!("f{n}"), "type": self.node(*id) });
                let fields: Vec<_> = fields.iter().enumerate().map(field).collect();
                json!({ "type": "record", "name": named("R"), "fields": fields })
            }
        }
    }

    fn fixed(&mut self, id: NodeId, size: usize) -> serde_json::Value {
        let name = format!("F{id}");
        match std::mem::replace(&mut self.defined[id], true) {
            true => json!(name),
            false => json!({ "type": "fixed", "name": name, "size": size }),
        }
    }
}

impl Layout {
    /// A value of the library's as the type says it; `None` if it is of another one.
    fn ours(&self, id: NodeId, theirs: Theirs) -> Option<Value> {
        Some(match (&self.nodes[id], theirs) {
            (Node::Null, Theirs::Null) => Value::Null,
            (Node::Boolean, Theirs::Boolean(value)) => Value::Boolean(value),
            (Node::Int, Theirs::Int(value)) => Value::Int(value),
            (Node::Long, Theirs::Long(value)) => Value::Long(value),
            (Node::Float, Theirs::Float(value)) => Value::Float(value),
            (Node::Double, Theirs::Double(value)) => Value::Double(value),
            (Node::Bytes, Theirs::Bytes(value)) => Value::Bytes(value),
            (Node::String, Theirs::String(value)) => Value::String(value),
            (Node::Fixed(_), Theirs::Fixed(_, value)) => Value::Fixed(value),
            (
                Node::Decimal {
                    precision, scale, ..
                },
                Theirs::Bytes(bytes) | Theirs::Fixed(_, bytes),
            ) => Value::Decimal(BigDecimal {
                unscaled: number_of(&bytes, *precision).ok()?,
                scale: *scale,
            }),
            (Node::BigDecimal, Theirs::Bytes(bytes)) => {
                Value::BigDecimal(big_decimal(&bytes).ok()?)
            }
            (Node::Uuid, Theirs::String(text)) => Value::Uuid(Uuid::parse(&text)?),
            (Node::UuidFixed, Theirs::Fixed(_, bytes)) => Value::Uuid(Uuid(bytes.try_into().ok()?)),
            (Node::Duration, Theirs::Fixed(_, bytes)) => {
                Value::Duration(Duration::from_bytes(&bytes.try_into().ok()?))
            }
            (Node::IntTime(time), Theirs::Int(value)) => int_time(*time, value)?,
            (Node::LongTime(time), Theirs::Long(value)) => long_time(*time, value)?,
            (Node::Enum(names), Theirs::Enum(number, _)) => {
                let number = usize::try_from(number).ok()?;
                names.parts.get(number)?;
                Value::Enum(Symbol {
                    names: Arc::clone(names),
                    number,
                })
            }
            (Node::Array(item), Theirs::Array(items)) => {
                let items: Option<_> = items.into_iter().map(|it| self.ours(*item, it)).collect();
                Value::Array(items?)
            }
            (Node::Map(item), Theirs::Map(entries)) => {
                let entry = |(key, it)| Some((key, self.ours(*item, it)?));
                let entries: Option<_> = entries.into_iter().map(entry).collect();
                Value::Map(entries?)
            }
            (Node::Union(names, branches), Theirs::Union(branch, value)) => {
                let branch = usize::try_from(branch).ok()?;
                Value::Union(Union {
                    names: Arc::clone(names),
                    branch,
                    value: Box::new(self.ours(*branches.get(branch)?, *value)?),
                })
            }
            (Node::Record { names, fields, .. }, Theirs::Record(values))
                if fields.len() == values.len() =>
            {
                let both = fields.iter().zip(values);
                let values: Option<_> = both.map(|(id, (_, it))| self.ours(*id, it)).collect();
                Value::Record(Record {
                    names: Arc::clone(names),
                    values: values?,
                })
            }
            _ => return None,
        })
    }
}

fn int_time(time: Unit, value: i32) -> Option<Value> {
    match time {
        Unit::Date => Some(Value::Date(Date(value))),
        Unit::TimeMillis => Some(Value::TimeMillis(TimeMillis(value))),
        _ => None,
    }
}

fn long_time(time: Unit, value: i64) -> Option<Value> {
    Some(match time {
        Unit::TimeMicros => Value::TimeMicros(TimeMicros(value)),
        Unit::TimestampMillis => Value::TimestampMillis(TimestampMillis(value)),
        Unit::TimestampMicros => Value::TimestampMicros(TimestampMicros(value)),
        Unit::TimestampNanos => Value::TimestampNanos(TimestampNanos(value)),
        Unit::LocalTimestampMillis => Value::LocalTimestampMillis(LocalTimestampMillis(value)),
        Unit::LocalTimestampMicros => Value::LocalTimestampMicros(LocalTimestampMicros(value)),
        Unit::LocalTimestampNanos => Value::LocalTimestampNanos(LocalTimestampNanos(value)),
        Unit::Date | Unit::TimeMillis => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_library_is_an_error_with_its_message() {
        let said: Result<(), String> = guarded(|| panic!("no name"));
        assert_eq!(said, Err("apache-avro panicked: no name".to_owned()));
        let n = 7;
        let said: Result<(), String> = guarded(|| panic!("name {n}"));
        assert_eq!(said, Err("apache-avro panicked: name 7".to_owned()));
    }

    #[test]
    fn an_error_of_the_library_is_one_of_ours() {
        let said = guarded(|| Schema::parse(&json!("nothing"))).expect_err("no schema");
        assert!(said.starts_with("apache-avro: "), "{said}");
    }
}
