//! An error of the reader on its way up, and the dotted path that it gets on the way.

use std::fmt;

use serde::de::{self, Unexpected};

use crate::config::node::{Node, Origin, Scalar, Written, redact};
use crate::config::scalar::Untyped;
use crate::config::suggest::hint;

/// The way from the section down to a node, kept on the stack.
pub(super) struct Path<'p> {
    pub(super) parent: Option<&'p Path<'p>>,
    pub(super) step: Step<'p>,
}

pub(super) enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    fn is_top(&self) -> bool {
        self.parent.is_none() && matches!(self.step, Step::Key(""))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            fmt::Display::fmt(parent, f)?;
        }
        match self.step {
            Step::Key(key) if self.parent.is_some_and(|parent| !parent.is_top()) => {
                write!(f, ".{key}")
            }
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// The first reader that an error passes says where it happened and takes the values out.
#[derive(Debug)]
pub(super) struct Error {
    pub(super) message: String,
    pub(super) place: Option<Place>,
    /// Reported by a struct about a key that is not there.
    missing: Option<&'static str>,
    /// The words of a type that is not ours: they may quote the value.
    foreign: bool,
}

#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) at: Origin,
}

impl Error {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Error {
            message: message.into(),
            place: None,
            missing: None,
            foreign: false,
        }
    }

    pub(super) fn in_place(mut self, path: &Path<'_>, at: Origin) -> Self {
        if self.place.is_none() {
            let path = self
                .missing
                .map_or_else(|| path.to_string(), |field| path.key(field).to_string());
            self.place = Some(Place { path, at });
        }
        self
    }

    /// Says where it happened, if that is not known yet.
    pub(super) fn at(mut self, path: &Path<'_>, node: &Node) -> Self {
        if self.place.is_none() && self.foreign {
            let mut scalars = Vec::new();
            node.scalars(&mut scalars);
            let values: Vec<&str> = scalars
                .iter()
                .filter(|s| may_be_secret(s))
                .map(|s| s.text.as_str())
                .collect();
            self.message = redact(self.message, &values);
        }
        self.in_place(path, node.at)
    }
}

/// Bare numbers and booleans are words of many messages; every other value is kept out.
fn may_be_secret(scalar: &Scalar) -> bool {
    scalar.written != Written::Plain || Untyped::of(&scalar.text) == Untyped::Text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error {
            foreign: true,
            ..Error::new(message.to_string())
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Error::new(format!("expected {expected}, found {}", kind(&unexpected)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Error::new(format!("expected {expected}, found another value"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Error::new(format!(
            "unknown value{}",
            hint(variant, "values", expected.iter().copied())
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Error::new(format!(
            "unknown key{}",
            hint(field, "keys", expected.iter().copied())
        ))
    }

    fn missing_field(field: &'static str) -> Self {
        Error {
            missing: Some(field),
            ..Error::new("missing; it has no default and must be set")
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Error::new(format!("`{field}` is set twice, once under another name"))
    }
}

fn kind(unexpected: &Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}
