//! `#[derive(AvroRecord)]`: a decoder that reads the wire in order, keeps the declared fields and skips the others.
//!
//! Steps: read the schema, find the record, match fields with it ([`matching`]), emit. Every wire type is a marker
//! type of `spate-avro`; what a marker yields for a Rust type is that crate's business (`FromAvro`), so aliases and
//! types that are unknown here are judged by rustc. What is known here ([`shape`]) gets a message of ours.

mod call;
mod compat;
mod emit;
mod enums;
mod generate;
mod matching;
mod naming;
mod shape;
mod unions;
mod variants;
mod wire;

pub use enums::expand as avro_enum;
pub use generate::expand as avro_schema;
pub use unions::expand as avro_union;

use std::path::Path;
use std::sync::Arc;

use proc_macro2::{Span, TokenStream};
use syn::{GenericParam, Generics, Lifetime, LitStr};

use super::input::{Input, Words, did_you_mean};
use crate::avro::{Kind, NameId, Named, Schema, parse_with};
use crate::diagnostic::{Code, Diagnostic, Errors, list};
use crate::files::{self, FileError, SourceFile};

const WORDS: Words = Words {
    attribute: "avro",
    derive: "AvroRecord",
    file: "schema",
    part: "record",
    with: true,
    compat: Ok(()),
    shape: Code::RecordShape,
};

/// Expands the derive; `dir` is the directory that schema paths are relative to.
pub fn expand(tokens: TokenStream, dir: &Path) -> TokenStream {
    let mut errors = Errors::new();
    let Some(input) = Input::parse(tokens, &WORDS, &mut errors) else {
        return errors.finish();
    };
    let lifetime = lifetime(&input.generics, &mut errors);
    let found = match errors.has() || input.elided {
        true => None,
        false => schema(&input.file, &input.with, dir, &mut errors).and_then(|(schema, span)| {
            let record = pick(&input, &schema, span, &mut errors)?;
            let name = format!("`{}`", schema.named(record).name);
            let is_too_deep = schema.is_too_deep(record);
            shallow(is_too_deep, &name, span, &mut errors).then_some((schema, record))
        }),
    };
    let expansion = found.and_then(|(schema, record)| {
        let fields = matching::fields(&input, &schema, record, &mut errors);
        let files = compat::Files {
            dir,
            with: &input.with,
        };
        let reader = compat::Reader::record(&schema, record, input.part.is_some());
        let tracked = compat::check(&input.compat, &files, &reader, &mut errors);
        (!errors.has()).then(|| {
            let record = emit::record(&input, &lifetime, &schema, record, &fields);
            quote::quote!(#record #tracked)
        })
    });
    let expansion = expansion.unwrap_or_else(|| emit::never(&input, &lifetime));
    let errors = errors.finish();
    quote::quote!(#errors #expansion)
}

/// The lifetime that the record borrows for: the struct's own, or a new one.
fn lifetime(generics: &Generics, errors: &mut Errors) -> Lifetime {
    let mut lifetimes = generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Lifetime(parameter) => Some(&parameter.lifetime),
            _ => None,
        });
    let first = lifetimes.next().cloned();
    if let Some(second) = lifetimes.next() {
        let message = "a record borrows from one payload: it has one lifetime";
        errors.push(Diagnostic::new(Code::RecordShape, second.span(), message));
    }
    first.unwrap_or_else(|| Lifetime::new("'payload", Span::mixed_site()))
}

/// The schema of the file, with the place that names it.
fn schema(
    written: &Option<LitStr>,
    with: &[LitStr],
    dir: &Path,
    errors: &mut Errors,
) -> Option<(Arc<Schema>, Span)> {
    let written = written.as_ref()?;
    let with = read(with, dir, errors);
    let file = file(written, dir, errors)?;
    match parse_with(&file, &with?) {
        Ok(schema) => Some((Arc::new(schema), written.span())),
        Err((file, found)) => {
            found
                .iter()
                .for_each(|finding| errors.push(finding.at(&file, written.span())));
            None
        }
    }
}

/// A file that the user names.
fn file(written: &LitStr, dir: &Path, errors: &mut Errors) -> Option<Arc<SourceFile>> {
    match files::read(dir, &written.value()) {
        Ok(file) => Some(file),
        Err(FileError { message, help }) => {
            errors.push(Diagnostic::new(Code::SchemaFile, written.span(), message).help(help));
            None
        }
    }
}

/// Files, if all of them can be read.
fn read(written: &[LitStr], dir: &Path, errors: &mut Errors) -> Option<Vec<Arc<SourceFile>>> {
    let files: Vec<Option<Arc<SourceFile>>> = written
        .iter()
        .map(|written| file(written, dir, errors))
        .collect();
    files.into_iter().collect()
}

/// Whether a type's text is not nested deeper than the registry reads it; if it is, that goes to `errors`.
fn shallow(is_too_deep: bool, name: &str, span: Span, errors: &mut Errors) -> bool {
    if is_too_deep {
        let message = format!("the types of {name} are nested deeper than the registry reads them");
        let help = "records inside records go some forty levels deep";
        errors.push(Diagnostic::new(Code::SchemaInvalid, span, message).help(help));
    }
    !is_too_deep
}

fn pick(input: &Input, schema: &Schema, span: Span, errors: &mut Errors) -> Option<NameId> {
    let written = schema.file().written();
    let names: Vec<&str> = schema
        .records()
        .map(|(_, named)| named.name.as_str())
        .collect();
    let Some(wanted) = &input.part else {
        match schema.root().kind {
            Kind::Named(id) if schema.records().any(|(record, _)| record == id) => return Some(id),
            _ => {
                let message = format!(
                    "the top of `{written}` is no record but {}",
                    schema.describe(schema.root())
                );
                let help = match names.as_slice() {
                    [] => "the derive reads a record: the file has to define one".to_owned(),
                    names => format!("name one with `record = \"..\"`: {}", list(names, "or")),
                };
                errors.push(Diagnostic::new(Code::SchemaRecord, span, message).help(help));
                return None;
            }
        }
    };
    named(
        schema,
        wanted,
        "record",
        &schema.records().collect::<Vec<_>>(),
        errors,
    )
}

/// The one of `all` that `wanted` names, in full or without its namespace.
fn named(
    schema: &Schema,
    wanted: &LitStr,
    what: &str,
    all: &[(NameId, &Named)],
    errors: &mut Errors,
) -> Option<NameId> {
    let (written, name) = (schema.file().written(), wanted.value());
    let short = |full: &str| {
        full.rsplit_once('.')
            .is_some_and(|(_, short)| short == name)
    };
    let matches: Vec<(NameId, &str)> = all
        .iter()
        .map(|(id, named)| (*id, named.name.as_str()))
        .filter(|(_, full)| *full == name || short(full))
        .collect();
    let exact = matches.iter().find(|(_, full)| *full == name);
    match (exact, matches.as_slice()) {
        (Some((id, _)), _) | (None, [(id, _)]) => Some(*id),
        (None, []) => {
            let shorts: Vec<&str> = all.iter().map(|(_, named)| named.short()).collect();
            let message = format!("`{written}` defines no {what} `{name}`");
            let help = did_you_mean(&name, &shorts, "it");
            errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message).help(help));
            None
        }
        (None, several) => {
            let full: Vec<&str> = several.iter().map(|(_, full)| *full).collect();
            let message = format!("`{written}` defines several {what}s `{name}`");
            let help = format!("write its namespace too: {}", list(&full, "or"));
            errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message).help(help));
            None
        }
    }
}
