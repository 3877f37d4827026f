//! Rust names for what a schema names in its own way.

use crate::avro::Schema;

/// The Rust names of all named types: without their namespaces, with them where two would be one.
pub(super) fn names(schema: &Schema) -> Vec<String> {
    let short = schema.all().map(|(_, named)| camel(named.short()));
    let full = schema.all().map(|(_, named)| camel(&named.name));
    unique(short.collect(), full.collect())
}

/// The names, and their long forms where two are one.
pub(super) fn unique(names: Vec<String>, long: Vec<String>) -> Vec<String> {
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let mut out: Vec<String> = Vec::with_capacity(names.len());
    for (name, long) in names.iter().zip(long) {
        if !is_shared(name) {
            out.push(name.clone());
            continue;
        }
        let mut name = long;
        while out.contains(&name)
            || names
                .iter()
                .any(|other| *other == name && !is_shared(other))
        {
            name.push('_');
        }
        out.push(name);
    }
    out
}

/// `order_line` and `ORDER_LINE` as `OrderLine`, `a.b.Line` as `ABLine`; what has capitals inside keeps them.
pub(in crate::derive::avro) fn camel(name: &str) -> String {
    let words = name.split(['_', '.', '-']).filter(|word| !word.is_empty());
    let mut out = String::new();
    for word in words {
        let shouts = word.len() > 1 && !word.contains(|ch: char| ch.is_ascii_lowercase());
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(letters.map(|ch| if shouts { ch.to_ascii_lowercase() } else { ch }));
    }
    match out.as_str() {
        "" | "Self" => format!("{out}_"),
        name if name.starts_with(|ch: char| ch.is_ascii_digit()) => format!("_{name}"),
        _ => out,
    }
}
