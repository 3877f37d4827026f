//! From a [`Node`] to any type that derives `Deserialize`: the field's type decides what a scalar is, every error has the
//! dotted path, and none has a value.
//!
//! A struct refuses unknown keys even where `deny_unknown_fields` was forgotten. `#[serde(flatten)]` and enums with
//! content hide their fields from this check, and a place from their errors: they are not for settings.

mod access;
mod error;

use std::sync::Arc;

use serde::de::{DeserializeOwned, Deserializer, Visitor};

use super::error::ConfigError;
use super::file::SECTIONS;
use super::node::{Entry, Node, Scalar, Value, Written};
use super::scalar::{self, Untyped};
use super::suggest::hint;
use access::{EnumAccess, Fields, Items};
use error::{Error, Path, Place, Step};

/// Reads `T` out of the node of a section; `taken` are keys that were taken out before, to be named in hints.
pub(crate) fn from_node<T: DeserializeOwned>(
    node: &Node,
    path: &str,
    taken: &[String],
    file: Option<&Arc<str>>,
) -> Result<T, ConfigError> {
    let root = Path {
        parent: None,
        step: Step::Key(path),
    };
    T::deserialize(Reader {
        node,
        path: &root,
        taken,
    })
    .map_err(|error| {
        let error = error.at(&root, node);
        let place = error.place.unwrap_or_else(|| Place {
            path: path.to_owned(),
            at: node.at,
        });
        ConfigError::new(file.cloned(), place.at, place.path, error.message)
    })
}

/// What a node is, in the words of an error.
fn found(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "nothing",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
        Value::Scalar(scalar) if scalar.text.is_empty() => "an empty text",
        Value::Scalar(scalar) if scalar.written == Written::Plain => {
            Untyped::of(&scalar.text).kind()
        }
        Value::Scalar(_) => "text",
    }
}

#[derive(Clone, Copy)]
struct Reader<'r> {
    node: &'r Node,
    path: &'r Path<'r>,
    taken: &'r [String],
}

impl<'r> Reader<'r> {
    fn new(node: &'r Node, path: &'r Path<'r>) -> Self {
        Reader {
            node,
            path,
            taken: &[],
        }
    }

    fn located(self, error: Error) -> Error {
        error.at(self.path, self.node)
    }

    fn wrong(self, message: impl Into<String>) -> Error {
        Error::new(message).in_place(self.path, self.node.at)
    }

    fn expected(self, what: &str) -> Error {
        self.wrong(format!("expected {what}, found {}", found(self.node)))
    }

    fn scalar(self, what: &str) -> Result<&'r str, Error> {
        match &self.node.value {
            Value::Scalar(scalar) => Ok(&scalar.text),
            _ => Err(self.expected(what)),
        }
    }

    fn read_map<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let entries = self
            .node
            .entries()
            .ok_or_else(|| self.expected("a mapping"))?;
        visitor
            .visit_map(Fields::new(entries, self.path))
            .map_err(|error| self.located(error))
    }

    fn check_known(self, entry: &Entry, fields: &'static [&'static str]) -> Result<(), Error> {
        if fields.contains(&entry.key.as_str()) {
            return Ok(());
        }
        let known = fields
            .iter()
            .copied()
            .chain(self.taken.iter().map(String::as_str));
        let mut message = format!("unknown key{}", hint(&entry.key, "keys", known));
        if SECTIONS.contains(&entry.key.as_str()) {
            message.push_str(&format!(
                "; `{}` is a section of its own: is it indented too far?",
                entry.key
            ));
        }
        Err(Error::new(message).in_place(&self.path.key(&entry.key), entry.at))
    }
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $type:ty;)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let text = self.scalar("a whole number")?;
            let number = scalar::whole::<$type>(text, <$type>::MIN.into(), <$type>::MAX.into());
            let number = number.map_err(|message| self.wrong(message))?;
            visitor.$visit(number).map_err(|error| self.located(error))
        }
    )* };
}

macro_rules! texts {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let text = match &self.node.value {
                Value::Scalar(scalar) => &scalar.text,
                // The visitor knows better what it expects: `a duration such as 5s`.
                Value::Null => return visitor.visit_unit().map_err(|error| self.located(error)),
                Value::List(items) => {
                    return visitor.visit_seq(Items::new(items, self.path)).map_err(|error| self.located(error));
                }
                Value::Map(_) => return self.read_map(visitor),
            };
            visitor.visit_str(text).map_err(|error| self.located(error))
        }
    )* };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    whole_numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    texts! { deserialize_str deserialize_string deserialize_char deserialize_bytes deserialize_byte_buf
    deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::List(_) => return self.deserialize_seq(visitor),
            Value::Map(_) => return self.read_map(visitor),
            Value::Scalar(Scalar {
                text,
                written: Written::Plain,
            }) => match Untyped::of(text) {
                Untyped::Bool(value) => visitor.visit_bool(value),
                Untyped::Unsigned(value) => visitor.visit_u64(value),
                Untyped::Signed(value) => visitor.visit_i64(value),
                Untyped::Float(value) => visitor.visit_f64(value),
                Untyped::Text => visitor.visit_str(text),
            },
            Value::Scalar(Scalar { text, .. }) => visitor.visit_str(text),
        }
        .map_err(|error| self.located(error))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = scalar::boolean(self.scalar("`true` or `false`")?)
            .map_err(|message| self.wrong(message))?;
        visitor
            .visit_bool(value)
            .map_err(|error| self.located(error))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value =
            scalar::number(self.scalar("a number")?).map_err(|message| self.wrong(message))?;
        visitor
            .visit_f64(value)
            .map_err(|error| self.located(error))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Null => visitor.visit_none().map_err(|error| self.located(error)),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.node.is_empty() {
            visitor.visit_unit().map_err(|error| self.located(error))
        } else {
            Err(self.expected("nothing"))
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor
            .visit_newtype_struct(self)
            .map_err(|error| self.located(error))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::List(items) => {
                visitor.visit_seq(Items::new(items, self.path)).map_err(|error| self.located(error))
            }
            Value::Scalar(_) => Err(self.wrong(format!(
                "expected a list, found {}; write one item as `[item]` or on a line of its own after `- `",
                found(self.node)
            ))),
            Value::Null | Value::Map(_) => Err(self.expected("a list")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.read_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        for entry in self.node.entries().unwrap_or_default() {
            self.check_known(entry, fields)?;
        }
        self.read_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Scalar(scalar) = &self.node.value else {
            return Err(self.expected(&format!("one of {}", variants.join(", "))));
        };
        visitor
            .visit_enum(EnumAccess(&scalar.text))
            .map_err(|error| self.located(error))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit().map_err(|error| self.located(error))
    }
}
