//! Fields of the struct against fields of the record: which is which, and whether the one can hold the other.

use quote::ToTokens;

use super::shape::{Shape, shape};
use crate::avro::{Definition, Field as SchemaField, Kind, Logical, NameId, Schema, Type};
use crate::derive::input::{Field, Input, did_you_mean};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// A field of the record, in wire order, and the struct's field that keeps it.
pub(super) struct Matched<'a> {
    pub(super) schema: &'a SchemaField,
    pub(super) kept: Option<&'a Field>,
}

/// Matches the fields; what does not fit goes to `errors`.
pub(super) fn fields<'a>(
    input: &'a Input,
    schema: &'a Schema,
    record: NameId,
    errors: &mut Errors,
) -> Vec<Matched<'a>> {
    let mut matched: Vec<Matched<'a>> = schema
        .fields(record)
        .iter()
        .map(|schema| Matched { schema, kept: None })
        .collect();
    for field in &input.fields {
        match matched
            .iter_mut()
            .find(|matched| matched.schema.name == field.name)
        {
            None => errors.push(unknown(input, schema, record, field)),
            Some(Matched {
                kept: Some(first), ..
            }) => {
                let message = format!(
                    "`{}` and `{}` are the same field of the schema",
                    first.ident, field.ident
                );
                errors.push(
                    Diagnostic::new(Code::RecordShape, field.name_span, message)
                        .help("keep one of the two"),
                );
            }
            Some(matched) => {
                if let Err(problem) = compare(schema, &matched.schema.ty, &shape(&field.ty)) {
                    errors.push(problem.at(schema, record, matched.schema, field));
                }
                matched.kept = Some(field);
            }
        }
    }
    matched
}

fn unknown(input: &Input, schema: &Schema, record: NameId, field: &Field) -> Diagnostic {
    let taken = |name: &str| input.fields.iter().any(|other| other.name == name);
    let fields = schema.fields(record);
    let alias = fields
        .iter()
        .find(|schema| schema.aliases.contains(&field.name));
    let free: Vec<&str> = fields
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| !taken(name))
        .collect();
    let name = &schema.named(record).name;
    let message = format!(
        "record `{name}` of `{}` has no field `{}`",
        schema.named(record).file.written(),
        field.name
    );
    let help = match alias {
        Some(schema) => format!(
            "it is an alias of `{}`: name the field so, or write `#[avro(rename = \"{}\")]`",
            schema.name, schema.name
        ),
        None => did_you_mean(&field.name, &free, "the record"),
    };
    Diagnostic::new(Code::FieldUnknown, field.name_span, message).help(help)
}

/// Why a field cannot be read.
pub(super) struct Problem {
    pub(super) code: Code,
    /// What follows "field .. is .. in the schema, ".
    pub(super) message: String,
    /// Advice; empty for the type that fits, or the catalogue's.
    pub(super) help: String,
}

impl Problem {
    fn at(
        self,
        schema: &Schema,
        record: NameId,
        in_schema: &SchemaField,
        field: &Field,
    ) -> Diagnostic {
        let file = &schema.named(record).file;
        let place = file.place(in_schema.ty.offset);
        let (ty, written) = (schema.describe(&in_schema.ty), file.written());
        let (name, message) = (&in_schema.name, self.message);
        let message =
            format!("field `{name}` is {ty} in the schema ({written}:{place}), {message}");
        let tokens = field.ty.to_token_stream();
        let diagnostic = Diagnostic::spanned(self.code, tokens, message);
        match (self.code, self.help.as_str()) {
            (Code::FieldType, "") => diagnostic.help(advice(schema, &in_schema.ty)),
            (_, "") => diagnostic,
            (_, help) => diagnostic.help(help),
        }
    }
}

impl Problem {
    fn wrong(message: impl Into<String>) -> Problem {
        Problem {
            code: Code::FieldType,
            message: message.into(),
            help: String::new(),
        }
    }
}

/// Whether values are converted: what a `Seq` holds is read as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Now,
    Lazily,
}

/// Compares what is known of a Rust type with an Avro type.
pub(super) fn compare(schema: &Schema, ty: &Type, shape: &Shape) -> Result<(), Problem> {
    compare_read(schema, ty, shape, Reading::Now)
}

fn compare_read(
    schema: &Schema,
    ty: &Type,
    shape: &Shape,
    reading: Reading,
) -> Result<(), Problem> {
    let wrong = |message: &str| Err(Problem::wrong(message));
    let inside = |ty: &Type, held: &Shape| compare_read(schema, ty, held, reading);
    if let Kind::Union(branches) = &ty.kind {
        let may_be_null = branches.iter().any(|branch| branch.kind == Kind::Null);
        return match (nullable(branches), branches.as_slice(), shape) {
            (Some(inner), _, Shape::Option(held)) => inside(inner, held),
            (Some(_), _, Shape::Other) => Ok(()),
            (Some(_), _, _) => wrong("so it may be null"),
            (None, [only], _) => inside(only, shape),
            (None, _, Shape::Other) => Ok(()),
            (None, _, Shape::Option(held)) if may_be_null && **held == Shape::Other => Ok(()),
            _ => Err(Problem {
                code: Code::FieldType,
                message: "which this type cannot hold".to_owned(),
                help: "use an enum with `#[derive(AvroUnion)]`".to_owned(),
            }),
        };
    }
    let fits = match (&ty.kind, shape) {
        (_, Shape::Other) => true,
        (Kind::Null, Shape::Unit) => true,
        (_, Shape::Option(_)) => return wrong("so it is never null"),
        (Kind::Boolean, Shape::Primitive(name)) => name == "bool",
        (Kind::Int, Shape::Primitive(name)) => name == "i32" || name == "i64",
        (Kind::Long, Shape::Primitive(name)) => name == "i64",
        (Kind::Float, Shape::Primitive(name)) if name == "f64" && reading == Reading::Lazily => {
            return Err(Problem {
                code: Code::FieldType,
                message: "and a `Seq` holds the items as they are".to_owned(),
                help: "use `f32` there, or a `Vec` around all of it".to_owned(),
            });
        }
        (Kind::Float, Shape::Primitive(name)) => name == "f32" || name == "f64",
        (Kind::Double, Shape::Primitive(name)) => name == "f64",
        (Kind::String, Shape::Str | Shape::String) => true,
        (Kind::Bytes, Shape::Bytes | Shape::ByteVec) => true,
        (Kind::Array(items), Shape::Vec(held)) => return inside(items, held),
        (Kind::Array(items), Shape::Seq(held)) => {
            return compare_read(schema, items, held, Reading::Lazily);
        }
        (Kind::Map(values), Shape::Map(key, held)) => {
            return key_fits(key).and_then(|()| inside(values, held));
        }
        (Kind::Map(values), Shape::Vec(held) | Shape::Seq(held)) => match &**held {
            Shape::Pair(key, held) => {
                let reading = match shape {
                    Shape::Seq(_) => Reading::Lazily,
                    _ => reading,
                };
                return key_fits(key).and_then(|()| compare_read(schema, values, held, reading));
            }
            held => *held == Shape::Other,
        },
        (Kind::Long, Shape::TimestampMillis) => match (ty.logical, &ty.ignored_logical) {
            (Some(Logical::TimestampMillis), _) => true,
            (None, Some(ignored)) => {
                let message = format!(
                    "a plain number: `logicalType` \"{ignored}\" is not one that a long has"
                );
                let help = "write \"timestamp-millis\" in the schema, or use `i64`".to_owned();
                return Err(Problem {
                    code: Code::FieldType,
                    message,
                    help,
                });
            }
            _ => false,
        },
        (Kind::Named(id), shape) => match (&schema.named(*id).definition, shape) {
            (Definition::Record(_), Shape::Box(held)) => return inside(ty, held),
            (Definition::Enum { .. }, Shape::Str | Shape::String) => true,
            (Definition::Fixed { .. }, Shape::Bytes | Shape::ByteVec) => true,
            (Definition::Fixed { size, .. }, Shape::ByteArray(length)) => {
                length.is_none_or(|length| length == *size)
            }
            _ => false,
        },
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => wrong("which this type cannot hold"),
    }
}

/// Compares the key of a map: always a string.
fn key_fits(key: &Shape) -> Result<(), Problem> {
    match key {
        Shape::Str | Shape::String | Shape::Other => Ok(()),
        _ => Err(Problem {
            code: Code::FieldType,
            message: "whose keys are strings".to_owned(),
            help: "use `&str` or `String` for the keys".to_owned(),
        }),
    }
}

/// The other type of a union of two, one of which is null.
pub(super) fn nullable(branches: &[Type]) -> Option<&Type> {
    match branches {
        [
            Type {
                kind: Kind::Null, ..
            },
            inner,
        ]
        | [
            inner,
            Type {
                kind: Kind::Null, ..
            },
        ] => Some(inner),
        _ => None,
    }
}

/// What to use for an Avro type.
fn advice(schema: &Schema, ty: &Type) -> String {
    let advice = format!("use `{}`", rust(schema, ty));
    match ty.kind {
        Kind::Named(id) => match schema.named(id).definition {
            Definition::Enum { .. } => format!("{advice}, or an enum with `#[derive(AvroEnum)]`"),
            _ => advice,
        },
        _ => advice,
    }
}

/// The Rust type to suggest for an Avro type.
fn rust(schema: &Schema, ty: &Type) -> String {
    match &ty.kind {
        Kind::Null => "()".to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::Int => "i32".to_owned(),
        Kind::Long => "i64".to_owned(),
        Kind::Float => "f32".to_owned(),
        Kind::Double => "f64".to_owned(),
        Kind::Bytes => match ty.logical {
            Some(Logical::Decimal { scale, .. }) => format!("Decimal<{scale}>"),
            _ => "&[u8]".to_owned(),
        },
        Kind::String => "&str".to_owned(),
        Kind::Array(items) => format!("Seq<'a, {}>", rust(schema, items)),
        Kind::Map(values) => format!("Seq<'a, (&str, {})>", rust(schema, values)),
        Kind::Union(branches) => match (nullable(branches), branches.as_slice()) {
            (Some(inner), _) => format!("Option<{}>", rust(schema, inner)),
            (None, [only]) => rust(schema, only),
            _ => "_".to_owned(),
        },
        Kind::Named(id) => {
            let named = schema.named(*id);
            match &named.definition {
                Definition::Fixed { size, logical } => match logical {
                    Some(Logical::Decimal { scale, .. }) => format!("Decimal<{scale}>"),
                    _ => format!("[u8; {size}]"),
                },
                Definition::Enum { .. } => "&str".to_owned(),
                Definition::Record(_) => named
                    .name
                    .rsplit_once('.')
                    .map_or(named.name.as_str(), |(_, short)| short)
                    .to_owned(),
            }
        }
    }
}
