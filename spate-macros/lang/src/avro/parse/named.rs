//! Types that have a name: records with their fields, enums and fixed.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::{Parser, text_of};
use crate::avro::defaults::FieldDefault;
use crate::avro::model::{Definition, Field, Kind, NameId, Named};
use crate::avro::rules::{bad_name, full, is_dotted_name, is_name, logical, primitive, short};
use crate::diagnostic::{Code, suggest};

/// What a name and the attributes around it give.
struct Name {
    full: String,
    namespace: String,
    aliases: Vec<String>,
    offset: usize,
}

impl Parser<'_> {
    pub(super) fn record(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
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

    pub(super) fn enumeration(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
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

    pub(super) fn fixed(&mut self, object: &Object<'_>, namespace: &str) -> Option<NameId> {
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
}
