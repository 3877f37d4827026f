//! Schema text to canonical form, by the specification's rules for names.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Canonical, Logical, MAX_LEVELS, SchemaError};

/// Reads a schema text.
pub fn parse(text: &str) -> Result<Canonical, SchemaError> {
    parse_with(text, &[])
}

/// Reads a schema text that uses types of others, in whatever order these are. What it uses stands where it is used first, so that the
/// outcome is what one text with all types in it would give.
pub fn parse_with(text: &str, others: &[String]) -> Result<Canonical, SchemaError> {
    Ok(parse_all(text, others)?.0)
}

/// Reads the schema of a reader, with what its canonical form leaves out and resolution needs.
pub fn parse_reader(text: &str) -> Result<(Canonical, Extras), SchemaError> {
    parse_all(text, &[])
}

fn parse_all(text: &str, others: &[String]) -> Result<(Canonical, Extras), SchemaError> {
    let value = json(text)?;
    let mut parser = Parser {
        defined: HashSet::new(),
        others: HashMap::new(),
        inside_others: 0,
        level: 0,
        extras: Extras::default(),
    };
    for other in others {
        definitions(&json(other)?, "", &mut parser.others);
    }
    let schema = parser.ty(&value, "")?;
    Ok((schema, parser.extras))
}

/// What a canonical form leaves out, by the full name of the type.
pub type Extras = HashMap<String, Extra>;

/// What is left out of one type.
#[derive(Debug, Default)]
pub struct Extra {
    /// Other full names of the type.
    pub aliases: Vec<String>,
    /// Other names and the default of each field, in the fields' order.
    pub fields: Vec<(Vec<String>, Option<Value>)>,
    /// The symbol that stands for unknown ones.
    pub symbol: Option<String>,
}

fn json(text: &str) -> Result<Value, SchemaError> {
    serde_json::from_str(text).map_err(|error| SchemaError(format!("it is not JSON: {error}")))
}

/// Finds the named types in a text: by full name, with the namespace that they stand in.
fn definitions(value: &Value, namespace: &str, found: &mut HashMap<String, (Value, String)>) {
    let object = match value {
        Value::Array(branches) => {
            return branches
                .iter()
                .for_each(|branch| definitions(branch, namespace, found));
        }
        Value::Object(object) => object,
        _ => return,
    };
    let mut inside = namespace.to_owned();
    let kind = object.get("type").and_then(Value::as_str);
    if matches!(kind, Some("record" | "error" | "enum" | "fixed"))
        && let Some(name) = object.get("name").and_then(Value::as_str)
    {
        let short;
        (inside, short) = names(object, name, namespace);
        found
            .entry(full(&inside, &short))
            .or_insert_with(|| (value.clone(), namespace.to_owned()));
    }
    for key in ["type", "items", "values"] {
        object
            .get(key)
            .into_iter()
            .for_each(|inner| definitions(inner, &inside, found));
    }
    let fields = object.get("fields").and_then(Value::as_array);
    for ty in fields
        .into_iter()
        .flatten()
        .filter_map(|field| field.get("type"))
    {
        definitions(ty, &inside, found);
    }
}

/// The namespace and the short name of a definition.
fn names(object: &Map<String, Value>, name: &str, outer: &str) -> (String, String) {
    match name.rsplit_once('.') {
        Some((namespace, short)) => (namespace.to_owned(), short.to_owned()),
        None => {
            let own = object.get("namespace").and_then(Value::as_str);
            (own.unwrap_or(outer).to_owned(), name.to_owned())
        }
    }
}

struct Parser {
    defined: HashSet<String>,
    /// Types of other texts.
    others: HashMap<String, (Value, String)>,
    /// How deep inside a type of another text.
    inside_others: usize,
    /// How deep inside types: other texts can stand in each other in any number.
    level: usize,
    extras: Extras,
}

fn error<T>(message: impl Into<String>) -> Result<T, SchemaError> {
    Err(SchemaError(message.into()))
}

impl Parser {
    fn ty(&mut self, value: &Value, namespace: &str) -> Result<Canonical, SchemaError> {
        if self.level == MAX_LEVELS {
            return error(format!("it nests types more than {MAX_LEVELS} deep"));
        }
        self.level += 1;
        let ty = self.type_of(value, namespace);
        self.level -= 1;
        ty
    }

    fn type_of(&mut self, value: &Value, namespace: &str) -> Result<Canonical, SchemaError> {
        match value {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let branches: Result<Vec<_>, _> = branches
                    .iter()
                    .map(|branch| self.ty(branch, namespace))
                    .collect();
                union(branches?)
            }
            Value::Object(object) => match object.get("type") {
                Some(Value::String(word)) => self.object(object, word, namespace),
                Some(inner) => self.ty(inner, namespace),
                None => error("a type has no `type`"),
            },
            _ => error("a type is neither a name, an object nor a list"),
        }
    }

    fn by_name(&mut self, name: &str, namespace: &str) -> Result<Canonical, SchemaError> {
        if let Some(primitive) = primitive(name) {
            return Ok(Canonical::Primitive(primitive, None));
        }
        let (local, plain) = match name.rsplit_once('.') {
            // Without a namespace, whatever stands around.
            Some(("", plain)) => (plain.to_owned(), plain),
            Some(_) => (name.to_owned(), name),
            None => (full(namespace, name), name),
        };
        let meant = [local, plain.to_owned()];
        if let Some(name) = meant.iter().find(|name| self.defined.contains(*name)) {
            return Ok(Canonical::Named(name.clone()));
        }
        match meant.iter().find_map(|name| self.others.remove(name)) {
            Some((definition, namespace)) => {
                self.inside_others += 1;
                let ty = self.ty(&definition, &namespace);
                self.inside_others -= 1;
                ty
            }
            None => error(format!("it names `{}` and does not define it", shown(name))),
        }
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        word: &str,
        namespace: &str,
    ) -> Result<Canonical, SchemaError> {
        // A type of another text that was needed by itself before stands in the other's definition once more.
        if self.inside_others > 0
            && let Some(name) = object.get("name").and_then(Value::as_str)
        {
            let (namespace, short) = names(object, name, namespace);
            let name = full(&namespace, &short);
            if self.defined.contains(&name) {
                return Ok(Canonical::Named(name));
            }
        }
        match word {
            "record" | "error" => {
                let (name, namespace) = self.define(object, namespace)?;
                let Some(Value::Array(list)) = object.get("fields") else {
                    return error(format!("record `{name}` has no list of fields"));
                };
                let mut fields: Vec<(String, Canonical)> = Vec::with_capacity(list.len());
                let mut extras = Vec::with_capacity(list.len());
                let mut names = HashSet::new();
                for field in list {
                    let (Some(Value::String(field_name)), Some(ty)) =
                        (field.get("name"), field.get("type"))
                    else {
                        return error(format!(
                            "a field of record `{name}` lacks its name or its type"
                        ));
                    };
                    checked(field_name)?;
                    if !names.insert(field_name.as_str()) {
                        return error(format!("record `{name}` has two fields `{field_name}`"));
                    }
                    fields.push((field_name.clone(), self.ty(ty, &namespace)?));
                    extras.push((strings(field.get("aliases")), field.get("default").cloned()));
                }
                self.extra(&name).fields = extras;
                Ok(Canonical::Record(name, fields))
            }
            "enum" => {
                let (name, _) = self.define(object, namespace)?;
                let Some(Value::Array(list)) = object.get("symbols") else {
                    return error(format!("enum `{name}` has no list of symbols"));
                };
                let mut symbols: Vec<String> = Vec::with_capacity(list.len());
                let mut seen = HashSet::new();
                for symbol in list {
                    let Some(symbol) = symbol.as_str() else {
                        return error(format!("enum `{name}` has a symbol that is no name"));
                    };
                    checked(symbol)?;
                    if !seen.insert(symbol) {
                        return error(format!("enum `{name}` has the symbol `{symbol}` twice"));
                    }
                    symbols.push(symbol.to_owned());
                }
                self.extra(&name).symbol = object
                    .get("default")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                Ok(Canonical::Enum(name, symbols))
            }
            "fixed" => {
                let (name, _) = self.define(object, namespace)?;
                let size = object
                    .get("size")
                    .and_then(Value::as_u64)
                    .and_then(|size| usize::try_from(size).ok());
                let Some(size) = size.filter(|size| *size <= i32::MAX as usize) else {
                    return error(format!("fixed `{name}` has no size"));
                };
                let logical = logical(object, "bytes", Some(size));
                Ok(Canonical::Fixed(name, size, logical))
            }
            "array" => match object.get("items") {
                Some(items) => Ok(Canonical::Array(Box::new(self.ty(items, namespace)?))),
                None => error("an array has no `items`"),
            },
            "map" => match object.get("values") {
                Some(values) => Ok(Canonical::Map(Box::new(self.ty(values, namespace)?))),
                None => error("a map has no `values`"),
            },
            _ => match primitive(word) {
                Some(primitive) => Ok(Canonical::Primitive(
                    primitive,
                    logical(object, primitive, None),
                )),
                None => self.by_name(word, namespace),
            },
        }
    }

    fn extra(&mut self, name: &str) -> &mut Extra {
        self.extras.entry(name.to_owned()).or_default()
    }

    /// The full name of a definition and the namespace inside it.
    fn define(
        &mut self,
        object: &Map<String, Value>,
        outer: &str,
    ) -> Result<(String, String), SchemaError> {
        let Some(Value::String(name)) = object.get("name") else {
            return error("a named type has no `name`");
        };
        let (namespace, short) = names(object, name, outer);
        let name = full(&namespace, &short);
        name.split('.').try_for_each(checked)?;
        if primitive(&name).is_some() {
            return error(format!("it defines the primitive type `{name}`"));
        }
        if let Some(Value::Array(aliases)) = object.get("aliases") {
            for alias in aliases.iter().filter_map(Value::as_str) {
                alias.split('.').try_for_each(checked)?;
            }
        }
        let aliases = strings(object.get("aliases"));
        self.extra(&name).aliases = aliases
            .into_iter()
            .map(|alias| match alias.contains('.') {
                true => alias,
                false => full(&namespace, &alias),
            })
            .collect();
        match self.defined.insert(name.clone()) {
            true => Ok((name, namespace)),
            false => error(format!("it defines `{name}` twice")),
        }
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn union(branches: Vec<Canonical>) -> Result<Canonical, SchemaError> {
    let mut seen = HashSet::new();
    for branch in &branches {
        let key = match branch {
            Canonical::Union(_) => return error("a union contains a union"),
            Canonical::Primitive(name, _) => *name,
            Canonical::Array(_) => "array",
            Canonical::Map(_) => "map",
            Canonical::Record(name, _)
            | Canonical::Enum(name, _)
            | Canonical::Fixed(name, ..)
            | Canonical::Named(name) => name,
        };
        if !seen.insert(key) {
            return error(format!("a union has `{key}` twice"));
        }
    }
    drop(seen);
    Ok(Canonical::Union(branches))
}

fn primitive(name: &str) -> Option<&'static str> {
    [
        "null", "boolean", "int", "long", "float", "double", "bytes", "string",
    ]
    .into_iter()
    .find(|known| *known == name)
}

fn logical(object: &Map<String, Value>, primitive: &str, size: Option<usize>) -> Option<Logical> {
    let plain = |name| {
        Some(Logical {
            name,
            precision_and_scale: None,
        })
    };
    match (object.get("logicalType")?.as_str()?, primitive, size) {
        ("decimal", "bytes", size) => {
            let precision = object.get("precision")?.as_u64()?;
            let scale = object.get("scale").map_or(Some(0), Value::as_u64)?;
            // Bytes without a size hold any number; a fixed holds as many digits as its bits allow.
            let digits = size.map_or(u64::MAX, |size| {
                ((size.saturating_mul(8).saturating_sub(1)) as f64 * std::f64::consts::LOG10_2)
                    .floor() as u64
            });
            (precision > 0 && scale <= precision && precision <= digits).then_some(Logical {
                name: "decimal",
                precision_and_scale: Some((precision, scale)),
            })
        }
        ("big-decimal", "bytes", None) => plain("big-decimal"),
        ("uuid", "string", None) | ("uuid", "bytes", Some(16)) => plain("uuid"),
        ("duration", "bytes", Some(12)) => plain("duration"),
        ("date", "int", _) => plain("date"),
        ("time-millis", "int", _) => plain("time-millis"),
        ("time-micros", "long", _) => plain("time-micros"),
        ("timestamp-millis", "long", _) => plain("timestamp-millis"),
        ("timestamp-micros", "long", _) => plain("timestamp-micros"),
        ("timestamp-nanos", "long", _) => plain("timestamp-nanos"),
        ("local-timestamp-millis", "long", _) => plain("local-timestamp-millis"),
        ("local-timestamp-micros", "long", _) => plain("local-timestamp-micros"),
        ("local-timestamp-nanos", "long", _) => plain("local-timestamp-nanos"),
        _ => None,
    }
}

fn full(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

fn checked(name: &str) -> Result<(), SchemaError> {
    let mut bytes = name.bytes();
    let first = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    match first && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        true => Ok(()),
        false => error(format!("`{}` is not a name", shown(name))),
    }
}

/// The beginning of a name from outside, for an error.
fn shown(name: &str) -> String {
    const MOST: usize = 80;
    name.chars().take(MOST).collect()
}
