//! Names that a schema uses and does not define: what was probably meant.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::rules::{PRIMITIVES, short};
use crate::diagnostic::suggest;
use crate::files::SourceFile;

/// Words of `type` that are no type by themselves.
const COMPLEX: [&str; 5] = ["record", "enum", "fixed", "array", "map"];

/// The names of all records, enums and fixed, in the order of the file.
pub(super) fn defined(value: &Value<'_>) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(array) => open.extend(array.elements.iter().rev()),
            Value::Object(object) => {
                let kind = object.get_string("type").map(|word| word.value.to_string());
                let is_named = kind.is_some_and(|kind| COMPLEX[..3].contains(&kind.as_str()));
                if let Some(name) = object.get_string("name").filter(|_| is_named) {
                    names.push((name.value.to_string(), name.start()));
                }
                open.extend(object.properties.iter().rev().map(|entry| &entry.value));
            }
            _ => {}
        }
    }
    names
}

/// Advice for a type that is not known at an offset: the near name, or where it is defined too late.
pub(super) fn unknown<'a>(
    text: &str,
    at: usize,
    known: impl Iterator<Item = &'a String>,
    defined: &'a [(String, usize)],
    file: &SourceFile,
) -> String {
    let mut later = defined.iter().filter(|(_, offset)| *offset > at);
    if let Some((name, offset)) = later.find(|(name, _)| short(name) == short(text)) {
        let line = file.place(*offset).line;
        return format!(
            "`{name}` is defined further down, in line {line}: define it where it is used first"
        );
    }
    let names = known.chain(defined.iter().map(|(name, _)| name));
    let mut names: Vec<&str> = names.flat_map(|name| [short(name), name]).collect();
    names.sort_unstable();
    names.extend(PRIMITIVES);
    names.extend(COMPLEX);
    match suggest(text, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "a named type is defined where it is used first, in the order of the file".to_owned()
        }
    }
}
