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
                    errors.push(problem.at(schema, matched.schema, field));
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
        schema.file().written(),
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
struct Problem {
    code: Code,
    /// What follows "field .. is .. in the schema, ".
    message: String,
    /// Advice; empty for the type that fits, or the catalogue's.
    help: String,
}

impl Problem {
    fn at(self, schema: &Schema, in_schema: &SchemaField, field: &Field) -> Diagnostic {
        let place = schema.file().place(in_schema.ty.offset);
        let (ty, written) = (schema.describe(&in_schema.ty), schema.file().written());
        let (name, line, message) = (&in_schema.name, place.line, self.message);
        let message = format!("field `{name}` is {ty} in the schema ({written}:{line}), {message}");
        let tokens = field.ty.to_token_stream();
        let diagnostic = Diagnostic::spanned(self.code, tokens, message);
        match (self.code, self.help.as_str()) {
            (Code::FieldType, "") => {
                diagnostic.help(format!("use `{}`", rust(schema, &in_schema.ty)))
            }
            (_, "") => diagnostic,
            (_, help) => diagnostic.help(help),
        }
    }
}

fn later(what: &str) -> Problem {
    let message = format!("and {what} cannot be read into a field yet");
    Problem {
        code: Code::FieldLater,
        message,
        help: String::new(),
    }
}

/// Compares what is known of a Rust type with an Avro type.
fn compare(schema: &Schema, ty: &Type, shape: &Shape) -> Result<(), Problem> {
    let wrong = |message: &str| {
        Err(Problem {
            code: Code::FieldType,
            message: message.to_owned(),
            help: String::new(),
        })
    };
    if let Kind::Union(branches) = &ty.kind {
        return match (nullable(branches), branches.as_slice(), shape) {
            (Some(inner), _, Shape::Option(held)) => compare(schema, inner, held),
            (Some(inner), _, Shape::Other) => unavailable(schema, inner),
            (Some(inner), _, _) => {
                unavailable(schema, inner)?;
                wrong("so it may be null")
            }
            (None, [only], _) if !matches!(only.kind, Kind::Null) => compare(schema, only, shape),
            _ => Err(later("a union of several types")),
        };
    }
    unavailable(schema, ty)?;
    if let Shape::Option(_) = shape {
        return wrong("so it is never null");
    }
    let fits = match (&ty.kind, shape) {
        (_, Shape::Other) => true,
        (Kind::Boolean, Shape::Primitive(name)) => name == "bool",
        (Kind::Int, Shape::Primitive(name)) => name == "i32" || name == "i64",
        (Kind::Long, Shape::Primitive(name)) => name == "i64",
        (Kind::Float, Shape::Primitive(name)) => name == "f32" || name == "f64",
        (Kind::Double, Shape::Primitive(name)) => name == "f64",
        (Kind::String, Shape::Str | Shape::String) => true,
        (Kind::Bytes, Shape::Bytes | Shape::ByteVec) => true,
        (Kind::Array(items), Shape::Vec(held)) => return compare(schema, items, held),
        (Kind::Array(items), Shape::Seq(held)) => return lazy(schema, items, held),
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
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => wrong("which this type cannot hold"),
    }
}

/// Compares the items of a `Seq`, which are read as they are: records and primitives.
fn lazy(schema: &Schema, items: &Type, held: &Shape) -> Result<(), Problem> {
    match (&items.kind, held) {
        (Kind::Union(_) | Kind::Array(_), _) => {
            let message = "whose items a `Seq` cannot hold yet".to_owned();
            Err(Problem {
                code: Code::FieldLater,
                message,
                help: format!("use `Vec<{}>`", rust(schema, items)),
            })
        }
        (Kind::Float, Shape::Primitive(name)) if name == "f64" => {
            let message = "and a `Seq` holds the items as they are".to_owned();
            Err(Problem {
                code: Code::FieldType,
                message,
                help: "use `Seq<'a, f32>` or `Vec<f64>`".to_owned(),
            })
        }
        _ => compare(schema, items, held),
    }
}

/// Whether a type, or what it contains where a field would hold it, is for later.
fn unavailable(schema: &Schema, ty: &Type) -> Result<(), Problem> {
    match &ty.kind {
        Kind::Null => Err(later("null alone")),
        Kind::Map(_) => Err(later("a map")),
        Kind::Bytes if matches!(ty.logical, Some(Logical::Decimal { .. })) => {
            Err(later("a decimal"))
        }
        Kind::Array(items) => unavailable(schema, items),
        Kind::Named(id) => match schema.named(*id).definition {
            Definition::Record(_) => Ok(()),
            Definition::Enum { .. } => Err(later("an enum")),
            Definition::Fixed { .. } => Err(later("a fixed")),
        },
        Kind::Union(branches) => match (nullable(branches), branches.as_slice()) {
            (Some(inner), _) => unavailable(schema, inner),
            (None, [only]) => unavailable(schema, only),
            _ => Err(later("a union of several types")),
        },
        _ => Ok(()),
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

/// The Rust type to suggest for an Avro type.
fn rust(schema: &Schema, ty: &Type) -> String {
    match &ty.kind {
        Kind::Null | Kind::Map(_) => "_".to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::Int => "i32".to_owned(),
        Kind::Long => "i64".to_owned(),
        Kind::Float => "f32".to_owned(),
        Kind::Double => "f64".to_owned(),
        Kind::Bytes => "&[u8]".to_owned(),
        Kind::String => "&str".to_owned(),
        Kind::Array(items) => format!("Seq<'a, {}>", rust(schema, items)),
        Kind::Union(branches) => match nullable(branches) {
            Some(inner) => format!("Option<{}>", rust(schema, inner)),
            None => branches
                .first()
                .map_or("_".to_owned(), |only| rust(schema, only)),
        },
        Kind::Named(id) => {
            let name = &schema.named(*id).name;
            name.rsplit_once('.')
                .map_or(name.as_str(), |(_, short)| short)
                .to_owned()
        }
    }
}
