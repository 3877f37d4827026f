//! The types of a schema file: an arena of named types, and trees that refer to them by number.

use std::fmt;
use std::sync::Arc;

use proc_macro2::TokenStream;

use super::rules::short;
use crate::files::SourceFile;

/// A named type's number within its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub(super) usize);

/// Everything that a schema file defines.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(super) file: Arc<SourceFile>,
    pub(super) with: Vec<Arc<SourceFile>>,
    pub(super) names: Vec<Named>,
    pub(super) root: Type,
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it is on the wire.
    pub kind: Kind,
    /// What the values mean.
    pub logical: Option<Logical>,
    /// A `logicalType` that is written there but not known or not valid: ignored, as the specification wants it.
    pub ignored_logical: Option<String>,
    /// The byte offset of the type in the file.
    pub offset: usize,
}

/// A type's shape on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: zero bytes.
    Null,
    /// One byte, 0 or 1.
    Boolean,
    /// A zigzag varint of 32 bits.
    Int,
    /// A zigzag varint of 64 bits.
    Long,
    /// Four bytes.
    Float,
    /// Eight bytes.
    Double,
    /// A length and that many bytes.
    Bytes,
    /// A length and that many bytes of UTF-8.
    String,
    /// Blocks of items.
    Array(Box<Type>),
    /// Blocks of keys and values.
    Map(Box<Type>),
    /// A branch number and that branch's value.
    Union(Vec<Type>),
    /// A record, an enum or a fixed.
    Named(NameId),
}

/// What a value means beyond its wire type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    /// An unscaled two's complement number.
    Decimal {
        /// Digits in all.
        precision: u32,
        /// Digits behind the point.
        scale: u32,
    },
    /// An unscaled number with its scale.
    BigDecimal,
    /// A UUID.
    Uuid,
    /// Days since the Unix epoch.
    Date,
    /// Milliseconds of the day.
    TimeMillis,
    /// Microseconds of the day.
    TimeMicros,
    /// Milliseconds since the Unix epoch.
    TimestampMillis,
    /// Microseconds since the Unix epoch.
    TimestampMicros,
    /// Nanoseconds since the Unix epoch.
    TimestampNanos,
    /// Milliseconds since 1970 in an unnamed time zone.
    LocalTimestampMillis,
    /// Microseconds since 1970 in an unnamed time zone.
    LocalTimestampMicros,
    /// Nanoseconds since 1970 in an unnamed time zone.
    LocalTimestampNanos,
    /// Months, days and milliseconds.
    Duration,
}

/// A record, an enum or a fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name with its namespace.
    pub name: String,
    /// Other names, with their namespaces.
    pub aliases: Vec<String>,
    /// What it says of itself.
    pub doc: Option<String>,
    /// What it is.
    pub definition: Definition,
    /// The file that defines it.
    pub file: Arc<SourceFile>,
    /// The byte offset of the name in that file.
    pub offset: usize,
}

/// The definition behind a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Fields in wire order.
    Record(Vec<Field>),
    /// Symbols in wire order, and the one that stands for unknown ones.
    Enum {
        /// The symbols.
        symbols: Vec<String>,
        /// The default symbol.
        default: Option<String>,
    },
    /// That many bytes.
    Fixed {
        /// The length.
        size: usize,
        /// What they mean.
        logical: Option<Logical>,
    },
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// The type.
    pub ty: Type,
    /// The default as JSON text.
    pub default: Option<String>,
    /// What it says of itself.
    pub doc: Option<String>,
    /// The byte offset of the name in the file.
    pub offset: usize,
}

impl Type {
    /// A named type, as it stands where it is used.
    pub(crate) fn of(id: NameId) -> Self {
        Type {
            kind: Kind::Named(id),
            logical: None,
            ignored_logical: None,
            offset: 0,
        }
    }
}

impl Logical {
    /// The specification's name.
    pub fn name(self) -> &'static str {
        match self {
            Logical::Decimal { .. } => "decimal",
            Logical::BigDecimal => "big-decimal",
            Logical::Uuid => "uuid",
            Logical::Date => "date",
            Logical::TimeMillis => "time-millis",
            Logical::TimeMicros => "time-micros",
            Logical::TimestampMillis => "timestamp-millis",
            Logical::TimestampMicros => "timestamp-micros",
            Logical::TimestampNanos => "timestamp-nanos",
            Logical::LocalTimestampMillis => "local-timestamp-millis",
            Logical::LocalTimestampMicros => "local-timestamp-micros",
            Logical::LocalTimestampNanos => "local-timestamp-nanos",
            Logical::Duration => "duration",
        }
    }
}

impl Named {
    /// The name without its namespace.
    pub fn short(&self) -> &str {
        short(&self.name)
    }
}

impl Schema {
    /// The file that it was read from.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// That file and those whose types it uses, as items that have cargo build again when one changes.
    pub fn track(&self) -> TokenStream {
        let files = [&self.file].into_iter().chain(&self.with);
        files.map(|file| file.track()).collect()
    }

    /// The type at the top of the file.
    pub fn root(&self) -> &Type {
        &self.root
    }

    /// The named type of that number.
    pub fn named(&self, id: NameId) -> &Named {
        &self.names[id.0]
    }

    /// All named types, in the order of their definitions.
    pub fn all(&self) -> impl Iterator<Item = (NameId, &Named)> {
        let names = self.names.iter().enumerate();
        names.map(|(n, named)| (NameId(n), named))
    }

    /// All records, in the order of their definitions.
    pub fn records(&self) -> impl Iterator<Item = (NameId, &Named)> {
        self.all()
            .filter(|(_, named)| matches!(named.definition, Definition::Record(_)))
    }

    /// A record's fields in wire order; none for other named types.
    pub fn fields(&self, id: NameId) -> &[Field] {
        match &self.named(id).definition {
            Definition::Record(fields) => fields,
            _ => &[],
        }
    }

    /// The fewest bytes that a record takes.
    pub fn least(&self, record: NameId) -> usize {
        // What a record contains was looked at before it: each is counted once, however often it is used.
        let mut known: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut open = vec![record];
        while let Some(&id) = open.last() {
            let inner = self
                .fields(id)
                .iter()
                .filter_map(|field| match field.ty.kind {
                    // It ends: a record that contains itself on every path was refused.
                    Kind::Named(inner) if known[inner.0].is_none() => Some(inner),
                    _ => None,
                });
            let inner: Vec<NameId> = inner.collect();
            if inner.is_empty() {
                known[id.0] = Some(self.least_of(id, &known));
                open.pop();
            }
            open.extend(inner);
        }
        known[record.0].unwrap_or_default()
    }

    /// The fewest bytes of a named type, those that it contains being known.
    fn least_of(&self, id: NameId, known: &[Option<usize>]) -> usize {
        let of = |ty: &Type| match &ty.kind {
            Kind::Null => 0,
            Kind::Float => 4,
            Kind::Double => 8,
            Kind::Named(inner) => known[inner.0].unwrap_or_default(),
            // A number, a boolean, a length, a branch or the end of blocks.
            _ => 1,
        };
        match &self.named(id).definition {
            Definition::Record(fields) => fields
                .iter()
                .fold(0, |sum, field| of(&field.ty).saturating_add(sum)),
            Definition::Enum { .. } => 1,
            Definition::Fixed { size, .. } => *size,
        }
    }

    /// Whether a record can contain itself, at whatever depth.
    pub fn is_recursive(&self, id: NameId) -> bool {
        self.reaches(id, id)
    }

    /// Whether a record can contain another, at whatever depth.
    pub fn reaches(&self, id: NameId, other: NameId) -> bool {
        let mut reached = vec![false; self.names.len()];
        let mut open: Vec<&Type> = self.fields(id).iter().map(|field| &field.ty).collect();
        while let Some(ty) = open.pop() {
            match &ty.kind {
                Kind::Array(inner) | Kind::Map(inner) => open.push(inner),
                Kind::Union(branches) => open.extend(branches),
                Kind::Named(id) if !std::mem::replace(&mut reached[id.0], true) => {
                    open.extend(self.fields(*id).iter().map(|field| &field.ty));
                }
                _ => {}
            }
        }
        reached[other.0]
    }

    /// Whether a record's schema, written as one text, would be nested deeper than readers of JSON go.
    ///
    /// Its text must not be asked for then.
    pub fn is_too_deep(&self, record: NameId) -> bool {
        self.is_type_too_deep(&Type::of(record))
    }

    /// The same of any type of the schema.
    pub fn is_type_too_deep(&self, ty: &Type) -> bool {
        self.deeper(ty, 0, &mut vec![false; self.names.len()])
    }

    /// Goes the way of the printer, which writes a named type where it comes first.
    fn deeper(&self, ty: &Type, depth: usize, written: &mut [bool]) -> bool {
        /// `serde_json` stops at 128.
        const LIMIT: usize = 120;
        if depth > LIMIT {
            return true;
        }
        match &ty.kind {
            Kind::Array(inner) | Kind::Map(inner) => self.deeper(inner, depth + 1, written),
            Kind::Union(branches) => branches
                .iter()
                .any(|branch| self.deeper(branch, depth + 1, written)),
            // The record, the list of its fields, the field.
            Kind::Named(id) if !std::mem::replace(&mut written[id.0], true) => self
                .fields(*id)
                .iter()
                .any(|field| self.deeper(&field.ty, depth + 3, written)),
            _ => false,
        }
    }

    /// A type as a reader would say it: `array of Line`, `long (timestamp-millis)`.
    pub fn describe(&self, ty: &Type) -> String {
        let plain = match &ty.kind {
            Kind::Null => "null".to_owned(),
            Kind::Boolean => "boolean".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Long => "long".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Double => "double".to_owned(),
            Kind::Bytes => "bytes".to_owned(),
            Kind::String => "string".to_owned(),
            Kind::Array(items) => format!("array of {}", self.describe(items)),
            Kind::Map(values) => format!("map of {}", self.describe(values)),
            Kind::Union(branches) => {
                let branches: Vec<String> = branches
                    .iter()
                    .map(|branch| self.describe(branch))
                    .collect();
                format!("union of {}", branches.join(", "))
            }
            Kind::Named(id) => {
                let named = self.named(*id);
                let what = match named.definition {
                    Definition::Record(_) => "record",
                    Definition::Enum { .. } => "enum",
                    Definition::Fixed { .. } => "fixed",
                };
                format!("{what} {}", named.name)
            }
        };
        let logical = match ty.kind {
            Kind::Named(id) => match self.named(id).definition {
                Definition::Fixed { logical, .. } => logical,
                _ => None,
            },
            _ => ty.logical,
        };
        match logical {
            Some(logical) => format!("{plain} ({logical})"),
            None => plain,
        }
    }
}

/// The name, and for a decimal its numbers: `decimal 9, 2`.
impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Logical::Decimal { precision, scale } => write!(f, "decimal {precision}, {scale}"),
            other => f.write_str(other.name()),
        }
    }
}
