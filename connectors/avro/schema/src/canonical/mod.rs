//! The canonical form of a schema text: whether two writers mean the same bytes.
//!
//! It is Avro's Parsing Canonical Form plus the logical types that the specification's would strip (with precision and
//! scale): a writer that changed only those must not be taken for the same. Logical types that are unknown or not valid
//! where they stand are dropped, as the specification wants readers to do. Schemas come from a registry, so nothing in
//! here panics and nothing recurses deeper than the JSON parser allows.

mod difference;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

pub use parse::{Extra, Extras, parse, parse_reader, parse_with};

/// How deep types may be nested: whatever is done with a schema is done by recursion.
pub(crate) const MAX_LEVELS: usize = 256;

/// Why a schema text cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

impl SchemaError {
    /// One that says this.
    #[doc(hidden)]
    #[must_use]
    pub fn new(what: String) -> Self {
        SchemaError(what)
    }
}

/// A schema without anything that does not matter to its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// `null`, `long` and the like.
    Primitive(&'static str, Option<Logical>),
    /// Of these items.
    Array(Box<Canonical>),
    /// Of these values.
    Map(Box<Canonical>),
    /// Of these branches.
    Union(Vec<Canonical>),
    /// Its full name, its fields with their names.
    Record(String, Vec<(String, Canonical)>),
    /// Its full name, its symbols.
    Enum(String, Vec<String>),
    /// Its full name, its bytes.
    Fixed(String, usize, Option<Logical>),
    /// A named type that was defined before.
    Named(String),
}

/// A logical type with the numbers that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logical {
    name: &'static str,
    precision_and_scale: Option<(u64, u64)>,
}

impl Logical {
    /// Its name in a schema: `timestamp-millis`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Of a decimal.
    #[must_use]
    pub fn precision_and_scale(&self) -> Option<(u64, u64)> {
        self.precision_and_scale
    }
}

/// The canonical form of a schema text.
///
/// ```
/// # use spate_avro_schema as spate_avro;
/// let text = r#"{"type": "record", "name": "R", "namespace": "n", "doc": "..", "fields": []}"#;
/// assert_eq!(spate_avro::canonical_form(text).unwrap(), r#"{"name":"n.R","type":"record","fields":[]}"#);
/// ```
///
/// # Errors
/// It is not JSON, or breaks a rule of the specification.
pub fn canonical_form(schema: &str) -> Result<String, SchemaError> {
    parse(schema).map(|canonical| canonical.to_string())
}

/// The 64-bit Rabin fingerprint of a text (CRC-64-AVRO), as `AvroRecord::FINGERPRINT`
/// is of a record's canonical form.
#[must_use]
pub fn fingerprint(text: &str) -> u64 {
    const EMPTY: u64 = 0xc15d_213a_a4d7_a795;
    text.bytes().fold(EMPTY, |fingerprint, byte| {
        let mut low = (fingerprint ^ u64::from(byte)) & 0xff;
        for _ in 0..8 {
            low = (low >> 1) ^ (EMPTY & (low & 1).wrapping_neg());
        }
        (fingerprint >> 8) ^ low
    })
}

impl Canonical {
    /// The fingerprint that the single-object encoding has: CRC-64-AVRO of the Parsing Canonical Form, which knows no logical types.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(&self.clone().without_logical().to_string())
    }

    fn without_logical(self) -> Self {
        let boxed = |inner: Box<Canonical>| Box::new(inner.without_logical());
        match self {
            Canonical::Primitive(name, _) => Canonical::Primitive(name, None),
            Canonical::Fixed(name, size, _) => Canonical::Fixed(name, size, None),
            Canonical::Array(items) => Canonical::Array(boxed(items)),
            Canonical::Map(values) => Canonical::Map(boxed(values)),
            Canonical::Union(branches) => {
                Canonical::Union(branches.into_iter().map(Self::without_logical).collect())
            }
            Canonical::Record(name, fields) => {
                let plain = |(name, ty): (String, Canonical)| (name, ty.without_logical());
                Canonical::Record(name, fields.into_iter().map(plain).collect())
            }
            Canonical::Enum(..) | Canonical::Named(_) => self,
        }
    }
}

impl Canonical {
    /// A type as a reader would say it.
    pub fn describe(&self) -> String {
        match self {
            Canonical::Primitive(name, None) => (*name).to_owned(),
            Canonical::Primitive(name, Some(logical)) => format!("{name} ({})", logical.describe()),
            Canonical::Array(_) => "array".to_owned(),
            Canonical::Map(_) => "map".to_owned(),
            Canonical::Union(branches) => {
                let branches: Vec<String> = branches.iter().map(Canonical::describe).collect();
                format!("union of {}", branches.join(", "))
            }
            Canonical::Record(name, _) => format!("record {name}"),
            Canonical::Enum(name, _) => format!("enum {name}"),
            Canonical::Fixed(name, size, None) => format!("fixed {name} of {size} bytes"),
            Canonical::Fixed(name, size, Some(logical)) => {
                format!("fixed {name} of {size} bytes ({})", logical.describe())
            }
            Canonical::Named(name) => format!("type {name}"),
        }
    }
}

impl Logical {
    /// Its name, and for a decimal its numbers.
    fn describe(&self) -> String {
        match self.precision_and_scale {
            None => self.name.to_owned(),
            Some((precision, scale)) => format!("{}({precision}, {scale})", self.name),
        }
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Canonical::Primitive(name, None) => write!(f, "\"{name}\""),
            Canonical::Primitive(name, Some(logical)) => {
                write!(f, "{{\"type\":\"{name}\"{logical}}}")
            }
            Canonical::Array(items) => write!(f, "{{\"type\":\"array\",\"items\":{items}}}"),
            Canonical::Map(values) => write!(f, "{{\"type\":\"map\",\"values\":{values}}}"),
            Canonical::Union(branches) => list(f, branches, |f, branch| write!(f, "{branch}")),
            Canonical::Record(name, fields) => {
                write!(f, "{{\"name\":\"{name}\",\"type\":\"record\",\"fields\":")?;
                list(f, fields, |f, (name, ty)| {
                    write!(f, "{{\"name\":\"{name}\",\"type\":{ty}}}")
                })?;
                f.write_str("}")
            }
            Canonical::Enum(name, symbols) => {
                write!(f, "{{\"name\":\"{name}\",\"type\":\"enum\",\"symbols\":")?;
                list(f, symbols, |f, symbol| write!(f, "\"{symbol}\""))?;
                f.write_str("}")
            }
            Canonical::Fixed(name, size, logical) => {
                write!(
                    f,
                    "{{\"name\":\"{name}\",\"type\":\"fixed\",\"size\":{size}"
                )?;
                if let Some(logical) = logical {
                    write!(f, "{logical}")?;
                }
                f.write_str("}")
            }
            Canonical::Named(name) => write!(f, "\"{name}\""),
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    mut print: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            f.write_str(",")?;
        }
        print(f, item)?;
    }
    f.write_str("]")
}

impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ",\"logicalType\":\"{}\"", self.name)?;
        match self.precision_and_scale {
            None => Ok(()),
            Some((precision, 0)) => write!(f, ",\"precision\":{precision}"),
            Some((precision, scale)) => write!(f, ",\"precision\":{precision},\"scale\":{scale}"),
        }
    }
}
