//! Schema text to model: strict JSON, the specification's name rules, every mistake at its place.
//!
//! Three things are looser than the letter, because registries are full of them and nothing is lost: a short name that is
//! not found in its namespace is looked for without one, `.Name` is the name without a namespace, and
//! `{"type": {"type": "long"}}` is the inner type.

mod named;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jsonc_parser::ast::{Array, Object, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::defaults::{self, FieldDefault};
use super::model::{Definition, Kind, NameId, Named, Schema, Type};
use super::names::{defined, unknown};
use super::rules::{logical, primitive, referred};
use crate::diagnostic::Code;
use crate::files::{Finding, SourceFile};

/// Reads a schema file.
///
/// # Errors
/// Every mistake that was found: one if it is not JSON, else as many as there are.
pub fn parse(file: &Arc<SourceFile>) -> Result<Schema, Vec<Finding>> {
    parse_with(file, &[]).map_err(|(_, found)| found)
}

/// Reads a schema file whose types may be defined in others, which are read before it in their order.
///
/// # Errors
/// The mistakes of the first file that has some, with that file.
pub fn parse_with(
    file: &Arc<SourceFile>,
    with: &[Arc<SourceFile>],
) -> Result<Schema, (Arc<SourceFile>, Vec<Finding>)> {
    parse_over(file, with, &[])
}

/// The same, with files below them: their types are there for what the others do not define themselves.
///
/// # Errors
/// The mistakes of the first file that has some, with that file.
pub fn parse_over(
    file: &Arc<SourceFile>,
    with: &[Arc<SourceFile>],
    below: &[Arc<SourceFile>],
) -> Result<Schema, (Arc<SourceFile>, Vec<Finding>)> {
    let mut known = Known::default();
    for other in below {
        read(other, &mut known).map_err(|found| (other.clone(), found))?;
    }
    known.below = known.names.len();
    for other in with {
        read(other, &mut known).map_err(|found| (other.clone(), found))?;
    }
    let root = read(file, &mut known).map_err(|found| (file.clone(), found))?;
    Ok(Schema {
        file: file.clone(),
        with: with.to_vec(),
        names: known.names,
        root,
    })
}

/// The named types of the files so far.
#[derive(Default)]
struct Known {
    names: Vec<Named>,
    ids: HashMap<String, NameId>,
    /// How many of them may be defined otherwise.
    below: usize,
}

/// Reads one file and adds its names to those of the files before.
fn read(file: &Arc<SourceFile>, known: &mut Known) -> Result<Type, Vec<Finding>> {
    let value = json(file)?;
    let before = known.names.len();
    let mut parser = Parser {
        file,
        found: Vec::new(),
        names: std::mem::take(&mut known.names),
        ids: std::mem::take(&mut known.ids),
        below: known.below,
        defined: defined(&value),
        defaults: Vec::new(),
    };
    let root = parser.ty(&value, "");
    parser.endless(before);
    if parser.found.is_empty() {
        let defaults = std::mem::take(&mut parser.defaults);
        parser.found = defaults::judge(&defaults, &parser.names, file);
    }
    (known.names, known.ids) = (parser.names, parser.ids);
    match root {
        Some(root) if parser.found.is_empty() => Ok(root),
        _ => Err(parser.found),
    }
}

/// JSON by the letter.
pub(super) const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn json(file: &SourceFile) -> Result<Value<'_>, Vec<Finding>> {
    let finding = |offset, message: String| {
        let place = file.place(offset);
        vec![Finding {
            code: Code::SchemaJson,
            place,
            message,
            help: String::new(),
        }]
    };
    match parse_to_ast(file.text(), &CollectOptions::default(), &STRICT) {
        Ok(result) => result
            .value
            .ok_or_else(|| finding(0, "the file is empty".to_owned())),
        Err(error) => {
            let mut message = error.kind().to_string();
            if let Some(first) = message.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            Err(finding(error.range().start, message))
        }
    }
}

/// The text that an object has under a key.
fn text_of(object: &Object<'_>, key: &'static str) -> Option<String> {
    object.get_string(key).map(|text| text.value.to_string())
}

struct Parser<'f> {
    file: &'f Arc<SourceFile>,
    found: Vec<Finding>,
    names: Vec<Named>,
    ids: HashMap<String, NameId>,
    /// So many names at the beginning may be defined otherwise.
    below: usize,
    /// The names that are defined anywhere in the file, as they are written, and where.
    defined: Vec<(String, usize)>,
    defaults: Vec<FieldDefault>,
}

impl Parser<'_> {
    fn error(&mut self, code: Code, at: &impl Ranged, message: impl Into<String>) {
        self.error_with(code, at, message, String::new());
    }

    fn error_with(
        &mut self,
        code: Code,
        at: &impl Ranged,
        message: impl Into<String>,
        help: String,
    ) {
        let place = self.file.place(at.start());
        self.found.push(Finding {
            code,
            place,
            message: message.into(),
            help,
        });
    }

    fn ty(&mut self, value: &Value<'_>, namespace: &str) -> Option<Type> {
        let plain = |kind| {
            Some(Type {
                kind,
                logical: None,
                ignored_logical: None,
                offset: value.start(),
            })
        };
        match value {
            Value::StringLit(name) => plain(self.by_name(name, namespace)?),
            Value::Array(branches) => plain(self.union(branches, namespace)?),
            Value::Object(object) => self.object(object, namespace),
            _ => {
                self.error(
                    Code::SchemaInvalid,
                    value,
                    "a type is a name, an object or a list of types",
                );
                None
            }
        }
    }

    fn by_name(&mut self, name: &StringLit<'_>, namespace: &str) -> Option<Kind> {
        let text: &str = &name.value;
        if let Some(kind) = primitive(text) {
            return Some(kind);
        }
        let (local, plain) = referred(text, namespace);
        if let Some(id) = self.ids.get(&local).or_else(|| self.ids.get(plain)) {
            return Some(Kind::Named(*id));
        }
        let help = unknown(
            text,
            name.start(),
            self.ids.keys(),
            &self.defined,
            self.file,
        );
        self.error_with(
            Code::SchemaUnknownType,
            name,
            format!("unknown type `{text}`"),
            help,
        );
        None
    }

    fn union(&mut self, branches: &Array<'_>, namespace: &str) -> Option<Kind> {
        let before = self.found.len();
        let mut types = Vec::new();
        let mut seen = HashSet::new();
        for branch in &branches.elements {
            let Some(ty) = self.ty(branch, namespace) else {
                continue;
            };
            let key = match &ty.kind {
                Kind::Union(_) => {
                    self.error(
                        Code::SchemaInvalid,
                        branch,
                        "a union may not contain another union directly",
                    );
                    continue;
                }
                Kind::Named(id) => format!("named {}", id.0),
                Kind::Array(_) => "array".to_owned(),
                Kind::Map(_) => "map".to_owned(),
                other => format!("{other:?}"),
            };
            if !seen.insert(key) {
                self.error(
                    Code::SchemaDuplicate,
                    branch,
                    "this type is in the union twice",
                );
            }
            types.push(ty);
        }
        (self.found.len() == before).then_some(Kind::Union(types))
    }

    fn object(&mut self, object: &Object<'_>, namespace: &str) -> Option<Type> {
        let mut keys = HashSet::new();
        for property in &object.properties {
            if !keys.insert(property.name.as_str()) {
                let message = format!(
                    "`{}` is written twice in this object",
                    property.name.as_str()
                );
                self.error(Code::SchemaDuplicate, property, message);
            }
        }
        let Some(ty) = object.get("type") else {
            self.error(Code::SchemaInvalid, object, "a type needs a `type`");
            return None;
        };
        let Value::StringLit(word) = &ty.value else {
            return self.ty(&ty.value, namespace);
        };
        let kind = match &*word.value {
            "record" | "error" => Kind::Named(self.record(object, namespace)?),
            "enum" => Kind::Named(self.enumeration(object, namespace)?),
            "fixed" => Kind::Named(self.fixed(object, namespace)?),
            "array" => Kind::Array(Box::new(self.inner(object, "items", "array", namespace)?)),
            "map" => Kind::Map(Box::new(self.inner(object, "values", "map", namespace)?)),
            _ => self.by_name(word, namespace)?,
        };
        let (logical, ignored_logical) = match kind {
            Kind::Named(_) => (None, None),
            _ => logical(object, &kind, None),
        };
        Some(Type {
            kind,
            logical,
            ignored_logical,
            offset: ty.value.start(),
        })
    }

    fn inner(
        &mut self,
        object: &Object<'_>,
        key: &str,
        what: &str,
        namespace: &str,
    ) -> Option<Type> {
        match object.get(key) {
            Some(inner) => self.ty(&inner.value, namespace),
            None => {
                self.error(
                    Code::SchemaInvalid,
                    object,
                    format!("an {what} needs `{key}`").replace("an map", "a map"),
                );
                None
            }
        }
    }

    /// Refuses records that contain themselves on every path: no value of them could ever end.
    fn endless(&mut self, before: usize) {
        for start in before..self.names.len() {
            let mut reached = vec![false; self.names.len()];
            let mut open = vec![start];
            while let Some(id) = open.pop() {
                let Definition::Record(fields) = &self.names[id].definition else {
                    continue;
                };
                for field in fields {
                    if let Kind::Named(inner) = field.ty.kind
                        && !std::mem::replace(&mut reached[inner.0], true)
                    {
                        open.push(inner.0);
                    }
                }
            }
            if reached[start] {
                let named = &self.names[start];
                let place = self.file.place(named.offset);
                let message = format!("`{}` contains itself without end", named.name);
                let help = "put a union with null, an array or a map between".to_owned();
                self.found.push(Finding {
                    code: Code::SchemaInvalid,
                    place,
                    message,
                    help,
                });
            }
        }
    }
}
