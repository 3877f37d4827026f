//! Whether a field's default is a value of the field's type, as the specification writes such values in JSON.
//!
//! A union's default is a value of the first branch that it fits, wherever that stands (specification 1.12). Bytes and fixed are strings whose characters are the bytes.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::model::{Definition, Kind, NameId, Named, Type};
use super::parse::STRICT;
use crate::diagnostic::Code;
use crate::files::{Finding, SourceFile};

/// A field that has a default.
pub(super) struct FieldDefault {
    pub(super) record: NameId,
    /// The field's place in the record.
    pub(super) field: usize,
    /// Where the default begins in the file.
    pub(super) offset: usize,
}

/// The defaults that are no values of their fields' types; all types are known by now.
pub(super) fn judge(defaults: &[FieldDefault], names: &[Named], file: &SourceFile) -> Vec<Finding> {
    let finding = |default: &FieldDefault| {
        let Definition::Record(fields) = &names[default.record.0].definition else {
            return None;
        };
        let field = fields.get(default.field)?;
        // It was read as a part of the file.
        let parsed = parse_to_ast(
            field.default.as_deref()?,
            &CollectOptions::default(),
            &STRICT,
        );
        let value = parsed.ok()?.value?;
        let fits = compare(&value, &field.ty, names);
        let misfit = fits.and_then(|()| ends(&value, &field.ty, names)).err()?;
        Some(Finding {
            code: Code::SchemaInvalid,
            place: file.place(default.offset + misfit.offset),
            message: format!("the default of field `{}` {}", field.name, misfit.message),
            help: misfit.help,
        })
    };
    defaults.iter().filter_map(finding).collect()
}

/// How deep and how many values a default may be with those that it leaves to the defaults of fields; the decoder takes more of both.
const MOST_LEVELS: usize = 128;
const MOST_VALUES: usize = 1 << 16;

/// Whether a default that fits has an end: fields that it leaves out have their own defaults, which may lead back to it.
fn ends(value: &Value<'_>, ty: &Type, names: &[Named]) -> Result<(), Misfit> {
    let mut left = MOST_VALUES;
    match fill(value, ty, names, MOST_LEVELS, &mut left) {
        true => Ok(()),
        false => {
            let message = format!(
                "leaves fields to their defaults without end, or until there are more than {MOST_VALUES} values"
            );
            let mut endless = misfit(value, message);
            if let Err(endless) = &mut endless {
                endless.help = "give those fields a value in it".to_owned();
            }
            endless
        }
    }
}

/// Goes through a default with all that it leaves to others.
fn fill(value: &Value<'_>, ty: &Type, names: &[Named], levels: usize, left: &mut usize) -> bool {
    if levels == 0 || *left == 0 {
        return false;
    }
    *left -= 1;
    let mut inside = |value: &Value<'_>, ty: &Type| fill(value, ty, names, levels - 1, left);
    match (&ty.kind, value) {
        (Kind::Array(items), Value::Array(array)) => {
            array.elements.iter().all(|item| inside(item, items))
        }
        (Kind::Map(values), Value::Object(object)) => {
            let mut entries = object.properties.iter();
            entries.all(|entry| inside(&entry.value, values))
        }
        (Kind::Union(branches), _) => {
            let mut branches = branches.iter();
            let meant = branches.find(|branch| looks_like(value, branch, names));
            meant.is_none_or(|branch| inside(value, branch))
        }
        (Kind::Named(id), Value::Object(object)) => {
            let Definition::Record(fields) = &names[id.0].definition else {
                return true;
            };
            fields.iter().all(|field| {
                let mut entries = object.properties.iter();
                if let Some(entry) = entries.find(|entry| entry.name.as_str() == field.name) {
                    return inside(&entry.value, &field.ty);
                }
                let own = field.default.as_deref().unwrap_or_default();
                let parsed = parse_to_ast(own, &CollectOptions::default(), &STRICT);
                let value = parsed.ok().and_then(|parsed| parsed.value);
                value.is_none_or(|value| inside(&value, &field.ty))
            })
        }
        _ => true,
    }
}

/// What is wrong with a default.
struct Misfit {
    /// Where, as a byte offset from the beginning of the default.
    offset: usize,
    /// What, after "the default of field `x` ".
    message: String,
    /// What to do; empty where the message says it.
    help: String,
}

/// Compares a default with the type of its field.
fn compare(value: &Value<'_>, ty: &Type, names: &[Named]) -> Result<(), Misfit> {
    let wrong = |expected: &str| misfit(value, format!("is {}, not {expected}", found(value)));
    match (&ty.kind, value) {
        (Kind::Null, Value::NullKeyword(_)) | (Kind::Boolean, Value::BooleanLit(_)) => Ok(()),
        (Kind::Null, _) => wrong("null"),
        (Kind::Boolean, _) => wrong("`true` or `false`"),
        (Kind::Int, Value::NumberLit(number)) if number.value.parse::<i32>().is_ok() => Ok(()),
        (Kind::Int, _) => wrong("an integer of 32 bits"),
        (Kind::Long, Value::NumberLit(number)) if number.value.parse::<i64>().is_ok() => Ok(()),
        (Kind::Long, _) => wrong("an integer of 64 bits"),
        (Kind::Float, Value::NumberLit(number)) if finite(number.value.parse::<f32>()) => Ok(()),
        (Kind::Double, Value::NumberLit(number)) if finite(number.value.parse::<f64>()) => Ok(()),
        (Kind::Float, Value::NumberLit(_)) => wrong("a number in the range of a float"),
        (Kind::Double, Value::NumberLit(_)) => wrong("a number in the range of a double"),
        (Kind::Float | Kind::Double, _) => wrong("a number"),
        (Kind::String, Value::StringLit(_)) => Ok(()),
        (Kind::String, _) => wrong("a string"),
        (Kind::Bytes, Value::StringLit(text)) => bytes(value, &text.value).map(drop),
        (Kind::Bytes, _) => wrong("a string of bytes"),
        (Kind::Array(items), Value::Array(array)) => array
            .elements
            .iter()
            .try_for_each(|item| compare(item, items, names)),
        (Kind::Array(_), _) => wrong("a list"),
        (Kind::Map(values), Value::Object(object)) => object
            .properties
            .iter()
            .try_for_each(|entry| compare(&entry.value, values, names)),
        (Kind::Map(_), _) => wrong("an object"),
        (Kind::Union(branches), _) => union(value, branches, names),
        (Kind::Named(id), _) => named(value, &names[id.0], names),
    }
}

/// Whether a number was read and is none that is beyond its type.
fn finite<N: Into<f64>, E>(number: Result<N, E>) -> bool {
    number.is_ok_and(|number| number.into().is_finite())
}

fn union(value: &Value<'_>, branches: &[Type], names: &[Named]) -> Result<(), Misfit> {
    let Some(first) = branches.first() else {
        return misfit(value, "stands on a union without branches".to_owned());
    };
    match branches
        .iter()
        .find(|branch| looks_like(value, branch, names))
    {
        Some(branch) => compare(value, branch, names),
        None => {
            let Err(mut problem) = compare(value, first, names) else {
                return Ok(());
            };
            problem.help = "the default of a union is a value of one of its branches".to_owned();
            Err(problem)
        }
    }
}

/// Whether a default is meant as a value of this branch. It is looked at from outside: looking inside for each branch would
/// double the steps with every level.
fn looks_like(value: &Value<'_>, branch: &Type, names: &[Named]) -> bool {
    match (&branch.kind, value) {
        (Kind::Array(_), Value::Array(_)) | (Kind::Map(_), Value::Object(_)) => true,
        (Kind::Array(_) | Kind::Map(_), _) => false,
        (Kind::Named(id), Value::Object(object)) => match &names[id.0].definition {
            Definition::Record(fields) => {
                let has = |name: &str| {
                    let mut entries = object.properties.iter();
                    entries.any(|entry| entry.name.as_str() == name)
                };
                fields
                    .iter()
                    .all(|field| field.default.is_some() || has(&field.name))
            }
            _ => false,
        },
        _ => compare(value, branch, names).is_ok(),
    }
}

fn named(value: &Value<'_>, named: &Named, names: &[Named]) -> Result<(), Misfit> {
    let wrong = |expected: String| misfit(value, format!("is {}, not {expected}", found(value)));
    match (&named.definition, value) {
        (Definition::Enum { symbols, .. }, Value::StringLit(text)) => {
            match symbols.iter().any(|symbol| *symbol == *text.value) {
                true => Ok(()),
                false => misfit(
                    value,
                    format!("is \"{}\", no symbol of `{}`", text.value, named.name),
                ),
            }
        }
        (Definition::Enum { .. }, _) => wrong(format!("a symbol of `{}`", named.name)),
        (Definition::Fixed { size, .. }, Value::StringLit(text)) => {
            match bytes(value, &text.value)? {
                length if length == *size => Ok(()),
                length => misfit(
                    value,
                    format!("has {length} bytes, and `{}` has {size}", named.name),
                ),
            }
        }
        (Definition::Fixed { .. }, _) => wrong("a string of bytes".to_owned()),
        (Definition::Record(fields), Value::Object(object)) => {
            for field in fields {
                let is_its = |entry: &&ObjectProp<'_>| entry.name.as_str() == field.name;
                match object.properties.iter().find(is_its) {
                    Some(entry) => compare(&entry.value, &field.ty, names)?,
                    None if field.default.is_some() => {}
                    None => {
                        return misfit(value, format!("has no value for field `{}`", field.name));
                    }
                }
            }
            Ok(())
        }
        (Definition::Record(_), _) => wrong("an object".to_owned()),
    }
}

/// How many bytes a text stands for.
fn bytes(value: &Value<'_>, text: &str) -> Result<usize, Misfit> {
    match text.chars().find(|ch| u32::from(*ch) > 0xff) {
        None => Ok(text.chars().count()),
        Some(ch) => misfit(
            value,
            format!("contains {ch:?}, which is no byte: they go up to \\u00ff"),
        ),
    }
}

fn misfit<T>(value: &Value<'_>, message: String) -> Result<T, Misfit> {
    Err(Misfit {
        offset: value.start(),
        message,
        help: String::new(),
    })
}

fn found(value: &Value<'_>) -> String {
    match value {
        Value::NullKeyword(_) => "null".to_owned(),
        Value::BooleanLit(boolean) => format!("`{}`", boolean.value),
        Value::NumberLit(number) => format!("`{}`", number.value),
        Value::StringLit(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
