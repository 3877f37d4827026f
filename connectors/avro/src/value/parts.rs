//! What the variants of a value hold that is more than a number or text.

use std::fmt;
use std::sync::Arc;

use super::Value;
use super::layout::Names;

/// A record: its name, and its fields in the order of the writer's schema.
#[derive(Clone)]
pub struct Record {
    pub(super) names: Arc<Names>,
    pub(super) values: Vec<Value>,
}

/// A symbol of an enum.
#[derive(Clone)]
pub struct Symbol {
    pub(super) names: Arc<Names>,
    pub(super) number: usize,
}

/// A branch of a union and the value in it.
#[derive(Clone)]
pub struct Union {
    pub(super) names: Arc<Names>,
    pub(super) branch: usize,
    pub(super) value: Box<Value>,
}

/// There is no such field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoField {
    /// The record has others.
    #[error("the record `{record}` has no field `{field}`; it has {fields}")]
    Missing {
        /// The record's full name.
        record: String,
        /// The field that was asked for.
        field: String,
        /// Those that it has, with commas between them; of many the first.
        fields: String,
    },
    /// The value is no record.
    #[error("the field `{field}` was asked of {found}, which is no record")]
    NoRecord {
        /// The field that was asked for.
        field: String,
        /// What it was asked of: its type.
        found: &'static str,
    },
}

impl Record {
    /// The record's full name, with its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.names.name
    }

    /// How many fields it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The field of that name.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value> {
        let at = self.names.parts.iter().position(|name| name == field)?;
        self.values.get(at)
    }

    /// The fields with their names, in the order of the schema.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        let names = self.names.parts.iter().map(String::as_str);
        names.zip(&self.values)
    }

    #[cold]
    pub(super) fn missing(&self, field: &str) -> NoField {
        const SHOWN: usize = 20;
        let mut fields = match self.names.parts.len() {
            0 => "none".to_owned(),
            _ => self.names.parts[..self.len().min(SHOWN)].join(", "),
        };
        if self.len() > SHOWN {
            fields.push_str(" ..");
        }
        NoField::Missing {
            record: self.name().to_owned(),
            field: field.to_owned(),
            fields,
        }
    }
}

impl Symbol {
    /// The symbol's text.
    #[must_use]
    pub fn symbol(&self) -> &str {
        &self.names.parts[self.number]
    }

    /// Its number among the symbols of the writer's schema.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The enum's full name, with its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.names.name
    }
}

impl Union {
    /// The branch's number in the writer's schema.
    #[must_use]
    pub fn branch(&self) -> usize {
        self.branch
    }

    /// The branch's name: its type's, as `null`, `long` or `array`, for records, enums and fixed the full name.
    #[must_use]
    pub fn branch_name(&self) -> &str {
        &self.names.parts[self.branch]
    }

    /// What is in it.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// Records are equal if their names, their fields' names and their values are.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.values == other.values
    }
}

/// Symbols are equal if their enums' names and their texts are.
impl PartialEq for Symbol {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.symbol() == other.symbol()
    }
}

impl Eq for Symbol {}

/// Unions are equal if their branches' names and their values are.
impl PartialEq for Union {
    fn eq(&self, other: &Self) -> bool {
        self.branch_name() == other.branch_name() && self.value == other.value
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(self.name());
        for (name, value) in self.fields() {
            shown.field(name, value);
        }
        shown.finish()
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.name(), self.symbol())
    }
}

impl fmt::Debug for Union {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Union { branch, value, .. } = self;
        write!(f, "{branch}, {}: ", self.branch_name())?;
        fmt::Debug::fmt(value, f)
    }
}
