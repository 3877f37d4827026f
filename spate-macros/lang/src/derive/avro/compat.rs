//! `compat`: whether records of a writer's schema file can be read as the compiled schema, by the decoder's own rules.
//!
//! Stricter than the decoder in one thing: where that refuses single records, for a branch of a union or a symbol that the compiled schema
//! has nothing for, the file is refused.

use std::path::Path;
use std::sync::Arc;

use proc_macro2::{Span, TokenStream};
use spate_avro_schema::{Cause, Differences, Incompatible, Plan, parse, parse_reader};
use syn::LitStr;

use super::{file, read, shallow};
use crate::avro::{Kind, NameId, Named, Schema, Type, parse_over};
use crate::derive::compat::Compat;
use crate::diagnostic::{Code, Diagnostic, Errors, list};
use crate::files::{Place, SourceFile};

/// Where written paths lead.
pub(super) struct Files<'a> {
    pub(super) dir: &'a Path,
    /// The files whose types the compiled schema uses.
    pub(super) with: &'a [LitStr],
}

/// The compiled side.
pub(super) struct Reader<'a> {
    schema: &'a Schema,
    ty: Type,
    /// How it is called.
    name: String,
    /// The record, if the writer's is the one of that name and not the top of its file.
    inner: Option<NameId>,
    /// Where its text is too deep to be read, that is said here.
    span: Option<Span>,
}

impl<'a> Reader<'a> {
    /// The type at the top of the schema, whose file is named at `span`.
    pub(super) fn top(schema: &'a Schema, span: Span) -> Self {
        let ty = schema.root().clone();
        let name = match ty.kind {
            Kind::Named(id) => schema.named(id).name.clone(),
            _ => schema.file().written().to_owned(),
        };
        Reader {
            schema,
            ty,
            name,
            inner: None,
            span: Some(span),
        }
    }

    /// A record of the schema: that at its top, or one that was `named`.
    pub(super) fn record(schema: &'a Schema, record: NameId, named: bool) -> Self {
        let is_top = matches!(schema.root().kind, Kind::Named(id) if id == record);
        Reader {
            schema,
            ty: Type::of(record),
            name: schema.named(record).name.clone(),
            inner: (named && !is_top).then_some(record),
            span: None,
        }
    }
}

/// Compares each file of `compat` with the compiled side; what cannot be read goes to `errors`. Returns the items that have cargo build
/// again when one of the files changes.
pub(super) fn check(
    compat: &[Compat],
    files: &Files<'_>,
    reader: &Reader<'_>,
    errors: &mut Errors,
) -> TokenStream {
    let mut tracked = TokenStream::new();
    if compat.is_empty() {
        return tracked;
    }
    if let Some(span) = reader.span
        && !shallow(
            reader.schema.is_type_too_deep(&reader.ty),
            &format!("`{}`", reader.name),
            span,
            errors,
        )
    {
        return tracked;
    }
    for compat in compat {
        if let Some(writer) = schema(compat, files, errors) {
            tracked.extend(writer.track());
            if let Err(wrong) = compare(&writer, reader, compat.span()) {
                errors.push(wrong);
            }
        }
    }
    tracked
}

/// The writer's schema: what it does not define itself is looked for in the files beside it, and then in those of the compiled one.
fn schema(compat: &Compat, files: &Files<'_>, errors: &mut Errors) -> Option<Schema> {
    let with = read(&compat.with, files.dir, errors);
    let top = file(&compat.file, files.dir, errors)?;
    let below = read(files.with, files.dir, errors)?;
    match parse_over(&top, &with?, &below) {
        Ok(schema) => Some(schema),
        Err((file, found)) => {
            let span = compat.span();
            found
                .iter()
                .for_each(|finding| errors.push(finding.at(&file, span)));
            None
        }
    }
}

fn compare(writer: &Schema, reader: &Reader<'_>, span: Span) -> Result<(), Diagnostic> {
    let ty = match reader.inner {
        None => writer.root().clone(),
        Some(record) => Type::of(of_that_name(writer, reader.schema, record, span)?),
    };
    let written = writer.file().written();
    if writer.is_type_too_deep(&ty) {
        let message =
            format!("the types of `{written}` are nested deeper than the decoder reads them");
        return Err(Diagnostic::new(Code::SchemaInvalid, span, message));
    }
    let broken = |file: &str, error: &dyn std::fmt::Display| {
        Diagnostic::new(Code::SchemaInvalid, span, format!("`{file}`: {error}"))
    };
    let theirs = parse(&writer.self_contained_of(&ty)).map_err(|error| broken(written, &error))?;
    let (ours, extras) = parse_reader(&reader.schema.self_contained_of(&reader.ty))
        .map_err(|error| broken(reader.schema.file().written(), &error))?;
    let (wrong, is_gap) = match Plan::new(&theirs, &ours, &extras) {
        Ok(plan) => (plan.gaps, true),
        Err(differences) => (differences, false),
    };
    let Some((first, others)) = wrong.told().split_first() else {
        return Ok(());
    };
    let also = others_told(others, &wrong, reader);
    Err(told(first, is_gap, also, writer, &ty, reader, span))
}

/// What else is wrong, a line each: the first difference is told with both places, and those that mend it find the others.
fn others_told(others: &[Incompatible], all: &Differences, reader: &Reader<'_>) -> String {
    let mut text = String::new();
    for other in others {
        let (file, place) = here(other, reader);
        let (written, Place { line, column }) = (file.written(), place);
        text.push_str(&format!(
            "\n{written}:{line}:{column}: nor can they {other}"
        ));
    }
    if all.more() {
        text.push_str("\nand there are more");
    }
    text
}

/// Where the reader's side of a difference stands.
fn here(wrong: &Incompatible, reader: &Reader<'_>) -> (Arc<SourceFile>, Place) {
    let site = wrong.sites.as_deref();
    site.and_then(|sites| field(reader.schema, &sites.here.0, Some(&sites.here.1)))
        .unwrap_or_else(|| top(reader.schema, &reader.ty))
}

/// The writer's record that the reader's is compared with: of its full name, of an alias, of its name without the namespace.
fn of_that_name(
    writer: &Schema,
    reader: &Schema,
    record: NameId,
    span: Span,
) -> Result<NameId, Diagnostic> {
    let wanted = reader.named(record);
    let find = |is_it: &dyn Fn(&Named) -> bool| {
        let mut found = writer.records().filter(|(_, named)| is_it(named));
        // Of several nobody knows which is meant.
        match (found.next(), found.next()) {
            (Some((id, _)), None) => Some(id),
            _ => None,
        }
    };
    find(&|named| named.name == wanted.name)
        .or_else(|| find(&|named| wanted.aliases.contains(&named.name)))
        .or_else(|| find(&|named| named.short() == wanted.short()))
        .ok_or_else(|| {
            let message = format!(
                "`{}` defines no record `{}` that its records could be compared with",
                writer.file().written(),
                wanted.name
            );
            let known: Vec<&str> = writer.records().map(|(_, named)| &*named.name).collect();
            let help = match known.as_slice() {
                [] => "it defines no record at all".to_owned(),
                known => format!(
                    "it defines {}: give `{}` an alias if it had another name, or leave `compat` to the record that has it inside",
                    list(known, "and"),
                    wanted.short()
                ),
            };
            Diagnostic::new(Code::SchemaCompat, span, message).help(help)
        })
}

/// One error with both places: the reader's field, and below it the writer's, then what else there is.
fn told(
    wrong: &Incompatible,
    is_gap: bool,
    also: String,
    writer: &Schema,
    theirs: &Type,
    reader: &Reader<'_>,
    span: Span,
) -> Diagnostic {
    let (records, written) = (
        if is_gap { "some records" } else { "records" },
        writer.file().written(),
    );
    let message = format!(
        "{records} of `{written}` cannot be read as `{}`,\n{wrong}",
        reader.name
    );
    let here = here(wrong, reader);
    let there = wrong.sites.as_deref();
    let there = there.and_then(|sites| field(writer, &sites.there.0, sites.there.1.as_ref()));
    let lacking = matches!(&wrong.sites, Some(sites) if sites.there.1.is_none());
    let what = match (&wrong.sites, lacking) {
        (None, _) => "the writer's type",
        (Some(_), true) => "the writer's record",
        (Some(_), false) => "the writer's field",
    };
    let there = there.unwrap_or_else(|| top(writer, theirs));
    let text = format!(
        "{}\n{}{also}",
        here.0.report(here.1, message),
        there.0.report(there.1, what)
    );
    let diagnostic = Diagnostic::new(Code::SchemaCompat, span, text);
    match advice(wrong, is_gap) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Where a record's field stands, or the record's name.
fn field(schema: &Schema, record: &str, name: Option<&String>) -> Option<(Arc<SourceFile>, Place)> {
    let (id, named) = schema.records().find(|(_, named)| named.name == record)?;
    let offset = match name {
        None => named.offset,
        Some(name) => {
            let mut fields = schema.fields(id).iter();
            fields.find(|field| field.name == *name)?.offset
        }
    };
    Some((named.file.clone(), named.file.place(offset)))
}

fn top(schema: &Schema, ty: &Type) -> (Arc<SourceFile>, Place) {
    match ty.kind {
        Kind::Named(id) => {
            let named = schema.named(id);
            (named.file.clone(), named.file.place(named.offset))
        }
        _ => (schema.file().clone(), schema.file().place(ty.offset)),
    }
}

/// What to do; `None` if nothing is wrong that a change of the schema would mend.
fn advice(wrong: &Incompatible, is_gap: bool) -> Option<String> {
    let name = match &wrong.sites {
        Some(sites) => format!("`{}`", sites.here.1),
        None => "it".to_owned(),
    };
    let otherwise = "or add a field of another name, with a default, for the new one";
    Some(match &wrong.cause {
        Cause::Missing => {
            format!("give {name} a default, or an alias if the writer has it under another name")
        }
        Cause::Default => format!("give {name} a default of its type"),
        Cause::Type { there } => match wider(there) {
            Some(wider) => format!("{wider}: widen the type here, {otherwise}"),
            None => format!("keep the writer's type, {otherwise}"),
        },
        Cause::Name { there, here } => {
            format!(
                "if it is the same type, give `{here}` its old name: `\"aliases\": [\"{there}\"]`"
            )
        }
        Cause::Logical => format!(
            "values of another logical type would be wrong ones: keep the writer's, {otherwise}"
        ),
        Cause::Size => format!("a fixed keeps its size: keep the writer's, {otherwise}"),
        Cause::Branch if is_gap => format!(
            "a record with that branch would be refused when it comes: give {name} a branch for it"
        ),
        Cause::Depth => "nest types less deeply".to_owned(),
        Cause::Branch => format!("give {name} a branch for it"),
        Cause::Symbols { here } if is_gap => format!(
            "a record with such a symbol would be refused when it comes: add it to `{here}`, or give the enum a default"
        ),
        Cause::Symbols { here } => {
            format!("add the symbols to `{here}`, or give the enum a default")
        }
    })
}

/// What a primitive type of the writer's is read as.
fn wider(there: &str) -> Option<&'static str> {
    let plain = there.split(' ').next()?;
    Some(match plain {
        "int" => "an int is read as int, long, float or double",
        "long" => "a long is read as long, float or double",
        "float" => "a float is read as float or double",
        "string" => "a string is read as string or bytes",
        "bytes" => "bytes are read as bytes or string",
        _ => return None,
    })
}
