//! Column types: the ones that rows can be written to, and the server's spelling of every one.

use sqlparser::tokenizer::Token;

use super::cursor::{Cursor, mistake};
use super::names::{ALIASES, PLAIN, slip};
use crate::files::Finding;

/// A column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `Bool`, the integers up to 64 bits, the floats, `String`, `Date`, `Date32`, `UUID`: types without parameters.
    Plain(&'static str),
    /// `FixedString(n)`.
    FixedString(usize),
    /// `DateTime` with its time zone.
    DateTime(Option<String>),
    /// `DateTime64(p)` with its time zone.
    DateTime64(u8, Option<String>),
    /// `Decimal(p, s)`.
    Decimal(u32, u32),
    /// `Nullable(..)`.
    Nullable(Box<ColumnType>),
    /// `LowCardinality(..)`.
    LowCardinality(Box<ColumnType>),
    /// `Array(..)`.
    Array(Box<ColumnType>),
    /// A type that rows cannot be written to yet: its spelling, and which part of it is meant.
    Later {
        /// The whole type.
        spelling: String,
        /// The part that is not there yet, with what to know about it.
        reason: String,
    },
}

impl ColumnType {
    /// The type as the server spells it: `LowCardinality(Nullable(String))`.
    pub fn spelling(&self) -> String {
        match self {
            ColumnType::Plain(name) => (*name).to_owned(),
            ColumnType::FixedString(length) => format!("FixedString({length})"),
            ColumnType::DateTime(None) => "DateTime".to_owned(),
            ColumnType::DateTime(Some(zone)) => format!("DateTime('{zone}')"),
            ColumnType::DateTime64(precision, None) => format!("DateTime64({precision})"),
            ColumnType::DateTime64(precision, Some(zone)) => {
                format!("DateTime64({precision}, '{zone}')")
            }
            ColumnType::Decimal(precision, scale) => format!("Decimal({precision}, {scale})"),
            ColumnType::Nullable(inner) => format!("Nullable({})", inner.spelling()),
            ColumnType::LowCardinality(inner) => format!("LowCardinality({})", inner.spelling()),
            ColumnType::Array(inner) => format!("Array({})", inner.spelling()),
            ColumnType::Later { spelling, .. } => spelling.clone(),
        }
    }

    /// Whether the column takes NULL.
    pub fn is_nullable(&self) -> bool {
        match self {
            ColumnType::Nullable(_) => true,
            ColumnType::LowCardinality(inner) => inner.is_nullable(),
            _ => false,
        }
    }

    /// Why rows cannot be written to it, if they cannot.
    pub fn later(&self) -> Option<&str> {
        match self {
            ColumnType::Nullable(inner)
            | ColumnType::LowCardinality(inner)
            | ColumnType::Array(inner) => inner.later(),
            ColumnType::Later { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Types inside types that are read; the server takes a few.
const LIMIT: usize = 64;

/// Reads a type and takes it from the cursor.
pub(super) fn column_type(cursor: &mut Cursor<'_>) -> Result<ColumnType, Finding> {
    nested_type(cursor, 0)
}

/// Reads a type that is inside so many others.
fn nested_type(cursor: &mut Cursor<'_>, depth: usize) -> Result<ColumnType, Finding> {
    let (place, start) = (cursor.place(), *cursor);
    if depth > LIMIT {
        let message = format!("types are nested more than {LIMIT} levels deep");
        return Err(mistake(place, message));
    }
    let Some(name) = cursor.word() else {
        return Err(mistake(place, "a column type is expected here"));
    };
    cursor.next();
    let arguments = cursor.parenthesized()?;
    let spelling = || {
        let arguments = arguments
            .map(|inside| format!("({})", inside.spelling()))
            .unwrap_or_default();
        format!("{name}{arguments}")
    };
    let later = |reason: String| {
        Ok(ColumnType::Later {
            spelling: spelling(),
            reason,
        })
    };
    match (name, arguments) {
        (name, None) if PLAIN.contains(&name) => Ok(ColumnType::Plain(
            PLAIN
                .iter()
                .find(|plain| **plain == name)
                .copied()
                .unwrap_or_default(),
        )),
        ("FixedString", inside) => match inside.and_then(length) {
            Some(length) => Ok(ColumnType::FixedString(length)),
            None => Err(mistake(
                place,
                "`FixedString` takes its length in bytes: `FixedString(3)`",
            )),
        },
        ("DateTime", None) => Ok(ColumnType::DateTime(None)),
        ("DateTime", Some(inside)) => match zone(inside) {
            Some(zone) => Ok(ColumnType::DateTime(Some(zone))),
            None => Err(mistake(
                place,
                "`DateTime` takes a time zone: `DateTime('UTC')`",
            )),
        },
        ("DateTime64", None) => Ok(ColumnType::DateTime64(3, None)),
        ("DateTime64", Some(inside)) => match precision(inside) {
            Some((precision, zone)) => Ok(ColumnType::DateTime64(precision, zone)),
            None => Err(mistake(
                place,
                "`DateTime64` takes a precision: `DateTime64(3)`, `DateTime64(3, 'UTC')`",
            )),
        },
        ("Decimal" | "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256", inside) => {
            match inside.and_then(|inside| decimal(name, inside)) {
                Some((precision, scale)) => Ok(ColumnType::Decimal(precision, scale)),
                None => Err(mistake(
                    place,
                    "a decimal has up to 76 digits and no more of them behind the point: `Decimal(18, 2)`, `Decimal64(2)`",
                )),
            }
        }
        ("Nullable" | "LowCardinality" | "Array", None) => Err(mistake(
            place,
            format!("`{name}` takes a type: `{name}(String)`"),
        )),
        ("Nullable", Some(mut inside)) => match only(&mut inside, depth)? {
            inner @ (ColumnType::Nullable(_)
            | ColumnType::Array(_)
            | ColumnType::LowCardinality(_)) => {
                let fix = match &inner {
                    ColumnType::LowCardinality(dictionary) => {
                        format!("`LowCardinality(Nullable({}))`", dictionary.spelling())
                    }
                    inner => format!("`{}`", inner.spelling()),
                };
                Err(mistake(
                    place,
                    format!("the server has no `{}`; write {fix}", spelling()),
                ))
            }
            inner => Ok(ColumnType::Nullable(Box::new(inner))),
        },
        ("LowCardinality", Some(mut inside)) => match only(&mut inside, depth)? {
            inner if is_text(&inner) => Ok(ColumnType::LowCardinality(Box::new(inner))),
            inner if inner.later().is_some() => Ok(ColumnType::LowCardinality(Box::new(inner))),
            inner => later(format!("`LowCardinality` of `{}`", inner.spelling())),
        },
        ("Array", Some(mut inside)) => Ok(ColumnType::Array(Box::new(only(&mut inside, depth)?))),
        _ => match ALIASES
            .iter()
            .find(|(alias, ours)| name.eq_ignore_ascii_case(alias) && *ours != name)
        {
            Some((_, ours)) => Err(mistake(
                place,
                format!(
                    "`{}` is another spelling: write `{ours}`, as the server does",
                    start.word().unwrap_or(name)
                ),
            )),
            None => match slip(name) {
                Some(meant) => Err(Finding {
                    help: format!("did you mean `{meant}`?"),
                    ..mistake(place, format!("the server has no type `{name}`"))
                }),
                None => later(format!("`{}`", spelling())),
            },
        },
    }
}

/// The one type that fills the parentheses.
fn only(inside: &mut Cursor<'_>, depth: usize) -> Result<ColumnType, Finding> {
    let inner = nested_type(inside, depth + 1)?;
    match inside.is_empty() {
        true => Ok(inner),
        false => Err(mistake(
            inside.place(),
            "a single type is expected in these parentheses",
        )),
    }
}

fn is_text(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::Plain(name) => *name == "String",
        ColumnType::FixedString(_) => true,
        ColumnType::Nullable(inner) => is_text(inner),
        _ => false,
    }
}

fn zone(mut inside: Cursor<'_>) -> Option<String> {
    match inside.next() {
        Some(Token::SingleQuotedString(zone)) if inside.is_empty() && is_zone(zone) => {
            Some(zone.clone())
        }
        _ => None,
    }
}

/// Whether a time zone could have such a name, which needs no quotes of its own.
fn is_zone(name: &str) -> bool {
    let mut chars = name.chars();
    chars.all(|ch| ch.is_ascii_alphanumeric() || "/_+-".contains(ch))
}

/// The `3` of `FixedString(3)`.
fn length(mut inside: Cursor<'_>) -> Option<usize> {
    match inside.next() {
        Some(Token::Number(number, _)) if inside.is_empty() => {
            number.parse().ok().filter(|length| *length > 0)
        }
        _ => None,
    }
}

/// The `3` or `3, 'UTC'` of a `DateTime64`.
fn precision(mut inside: Cursor<'_>) -> Option<(u8, Option<String>)> {
    let Some(Token::Number(number, _)) = inside.next() else {
        return None;
    };
    let precision = number
        .parse::<u8>()
        .ok()
        .filter(|precision| *precision <= 9)?;
    match inside.is_empty() {
        true => Some((precision, None)),
        false if inside.take(&Token::Comma) => Some((precision, Some(zone(inside)?))),
        false => None,
    }
}

/// Precision and scale: the `18, 2` of a `Decimal`, the `2` of a `Decimal64`.
fn decimal(name: &str, mut inside: Cursor<'_>) -> Option<(u32, u32)> {
    let first = number(&mut inside)?;
    let (precision, scale) = match name {
        "Decimal32" => (9, first),
        "Decimal64" => (18, first),
        "Decimal128" => (38, first),
        "Decimal256" => (76, first),
        _ if inside.take(&Token::Comma) => (first, number(&mut inside)?),
        _ => (first, 0),
    };
    let fits = (1..=76).contains(&precision) && scale <= precision;
    (inside.is_empty() && fits).then_some((precision, scale))
}

fn number(inside: &mut Cursor<'_>) -> Option<u32> {
    match inside.next() {
        Some(Token::Number(number, _)) => number.parse().ok(),
        _ => None,
    }
}
