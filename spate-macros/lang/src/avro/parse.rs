//! Schema text to model: strict JSON, the specification's name rules, every mistake at its place.
//!
//! Three things are looser than the letter, because registries are full of them and nothing is lost: a short name that is
//! not found in its namespace is looked for without one, `.Name` is the name without a namespace, and
//! `{"type": {"type": "long"}}` is the inner type.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jsonc_parser::ast::{Array, Object, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::defaults::{self, FieldDefault};
use super::model::{Definition, Field, Kind, NameId, Named, Schema, Type};
use super::names::{defined, unknown};
use super::rules::{bad_name, full, is_dotted_name, is_name, logical, primitive, referred, short};
use crate::diagnostic::{Code, suggest};
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

/// What a name and the attributes around it give.
struct Name {
    full: String,
    namespace: String,
    aliases: Vec<String>,
    offset: usize,
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

    fn record(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
        let name = self.name(object, namespace)?;
        let inside = name.namespace.clone();
        let id = self.define(object, name, Definition::Record(Vec::new()))?;
        let Some(list) = object.get_array("fields") else {
            self.error(
                Code::SchemaInvalid,
                object,
                "a record needs `fields`, a list",
            );
            return None;
        };
        let before = self.found.len();
        let mut fields: Vec<Field> = Vec::new();
        for element in &list.elements {
            let Value::Object(element) = element else {
                self.error(
                    Code::SchemaInvalid,
                    element,
                    "a field is an object with `name` and `type`",
                );
                continue;
            };
            let Some(field) = self.field(element, &inside) else {
                continue;
            };
            if let Some(default) = element.get("default") {
                self.defaults.push(FieldDefault {
                    record: id,
                    field: fields.len(),
                    offset: default.value.start(),
                });
            }
            if fields.iter().any(|other| other.name == field.name) {
                self.error(
                    Code::SchemaDuplicate,
                    element,
                    format!("there are two fields `{}`", field.name),
                );
            }
            fields.push(field);
        }
        self.names[id.0].definition = Definition::Record(fields);
        (self.found.len() == before).then_some(id)
    }

    fn field(&mut self, object: &Object<'_>, namespace: &str) -> Option<Field> {
        let Some(name) = object.get_string("name") else {
            self.error(Code::SchemaInvalid, object, "a field needs a `name`");
            return None;
        };
        let text = name.value.to_string();
        if !is_name(&text) {
            self.error(Code::SchemaInvalid, name, bad_name(&text));
            return None;
        }
        let Some(ty) = object.get("type") else {
            self.error(
                Code::SchemaInvalid,
                object,
                format!("field `{text}` needs a `type`"),
            );
            return None;
        };
        let aliases = self.aliases(object, None);
        let default = object
            .get("default")
            .map(|default| default.value.text(self.file.text()).to_owned());
        let ty = self.ty(&ty.value, namespace)?;
        Some(Field {
            name: text,
            aliases,
            ty,
            default,
            doc: text_of(object, "doc"),
            offset: name.start(),
        })
    }

    fn enumeration(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
        let name = self.name(object, namespace)?;
        let Some(list) = object.get_array("symbols") else {
            self.error(
                Code::SchemaInvalid,
                object,
                "an enum needs `symbols`, a list of names",
            );
            return None;
        };
        let mut symbols: Vec<String> = Vec::new();
        for element in &list.elements {
            match element {
                Value::StringLit(symbol) if is_name(&symbol.value) => {
                    if symbols.contains(&symbol.value.to_string()) {
                        self.error(
                            Code::SchemaDuplicate,
                            symbol,
                            format!("symbol `{}` is there twice", symbol.value),
                        );
                    }
                    symbols.push(symbol.value.to_string());
                }
                Value::StringLit(symbol) => {
                    self.error(Code::SchemaInvalid, symbol, bad_name(&symbol.value))
                }
                other => self.error(Code::SchemaInvalid, other, "a symbol is a name in quotes"),
            }
        }
        let default = match object.get("default").map(|default| &default.value) {
            Some(Value::StringLit(text)) if symbols.iter().any(|symbol| *symbol == *text.value) => {
                Some(text.value.to_string())
            }
            Some(other) => {
                let help = match other {
                    Value::StringLit(text) => {
                        suggest(&text.value, symbols.iter().map(String::as_str))
                    }
                    _ => None,
                };
                let help = help.map_or(String::new(), |near| format!("did you mean `{near}`?"));
                let message = "the default of an enum is one of its symbols";
                self.error_with(Code::SchemaInvalid, other, message, help);
                None
            }
            None => None,
        };
        self.define(object, name, Definition::Enum { symbols, default })
    }

    fn fixed(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
        let name = self.name(object, namespace)?;
        let size = object
            .get_number("size")
            .and_then(|size| size.value.parse::<usize>().ok());
        let Some(size) = size.filter(|size| *size <= i32::MAX as usize) else {
            self.error(
                Code::SchemaInvalid,
                object,
                "a fixed needs a `size`, a number of bytes",
            );
            return None;
        };
        let (logical, _) = logical(object, &Kind::Bytes, Some(size));
        self.define(object, name, Definition::Fixed { size, logical })
    }

    fn define(&mut self, at: &Object<'_>, name: Name, definition: Definition) -> Option<NameId> {
        let id = NameId(self.names.len());
        let known = self.ids.get(&name.full);
        if known.is_some_and(|known| known.0 >= self.below) {
            self.error(
                Code::SchemaDuplicate,
                at,
                format!("`{}` is defined a second time", name.full),
            );
            return None;
        }
        self.ids.insert(name.full.clone(), id);
        self.names.push(Named {
            name: name.full,
            aliases: name.aliases,
            doc: text_of(at, "doc"),
            definition,
            file: self.file.clone(),
            offset: name.offset,
        });
        Some(id)
    }

    fn name(&mut self, object: &Object<'_>, outer: &str) -> Option<Name> {
        let Some(name) = object.get_string("name") else {
            self.error(
                Code::SchemaInvalid,
                object,
                "a record, an enum or a fixed needs a `name`",
            );
            return None;
        };
        let text: &str = &name.value;
        let written = object
            .get_string("namespace")
            .map(|namespace| namespace.value.to_string());
        let namespace = match text.rsplit_once('.') {
            Some((namespace, _)) => namespace.to_owned(),
            None => written.unwrap_or_else(|| outer.to_owned()),
        };
        let full = full(&namespace, short(text));
        if !is_dotted_name(&full) {
            self.error(Code::SchemaInvalid, name, bad_name(&full));
            return None;
        }
        if namespace.is_empty() && primitive(&full).is_some() {
            self.error(
                Code::SchemaInvalid,
                name,
                format!("`{full}` is the name of a primitive type"),
            );
            return None;
        }
        let aliases = self.aliases(object, Some(&namespace));
        Some(Name {
            full,
            namespace,
            aliases,
            offset: name.start(),
        })
    }

    /// Checks and returns the aliases: full names for a type in `namespace`, plain ones for a field.
    fn aliases(&mut self, object: &Object<'_>, namespace: Option<&str>) -> Vec<String> {
        let Some(list) = object.get_array("aliases") else {
            return Vec::new();
        };
        let mut aliases = Vec::new();
        for element in &list.elements {
            let Value::StringLit(alias) = element else {
                self.error(Code::SchemaInvalid, element, "an alias is a name in quotes");
                continue;
            };
            let name = match namespace {
                Some(namespace) if !alias.value.contains('.') => full(namespace, &alias.value),
                _ => alias.value.to_string(),
            };
            match namespace {
                Some(_) if is_dotted_name(&name) => aliases.push(name),
                None if is_name(&name) => aliases.push(name),
                _ => self.error(Code::SchemaInvalid, alias, bad_name(&name)),
            }
        }
        aliases
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
