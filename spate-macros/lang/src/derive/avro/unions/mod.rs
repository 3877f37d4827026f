//! `#[derive(AvroUnion)]`: which union of a schema it is, its branches to variants of a Rust enum ([`branches`]), the implementation ([`emit`]).

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::matching::nullable;
use super::variants::Input;
use super::{lifetime, named, schema, shallow};
use crate::avro::{Kind, Schema, Type};
use crate::derive::input::{Words, did_you_mean};
use crate::diagnostic::{Code, Diagnostic, Errors};

mod branches;
mod emit;

pub(super) use branches::branch_name;

const WORDS: Words = Words {
    attribute: "avro",
    derive: "AvroUnion",
    file: "schema",
    part: "field",
    with: true,
    compat: Err(
        "an `AvroUnion` takes no `compat`: it stands on the record that is decoded, and compares the unions inside",
    ),
    shape: Code::UnionShape,
};

/// Expands the derive; `dir` is the directory that schema paths are relative to.
pub fn expand(tokens: TokenStream, dir: &Path) -> TokenStream {
    let mut errors = Errors::new();
    let Some(input) = Input::parse(tokens, &WORDS, "branch", &mut errors) else {
        return errors.finish();
    };
    let lifetime = lifetime(&input.generics, &mut errors);
    let expansion = match errors.has() || input.elided {
        true => None,
        false => schema(&input.file, &input.with, dir, &mut errors).and_then(|(schema, span)| {
            let union = find(&input, &schema, span, &mut errors)?;
            let is_too_deep = schema.is_type_too_deep(union);
            if !shallow(is_too_deep, "the union", span, &mut errors) {
                return None;
            }
            let Kind::Union(branches) = &union.kind else {
                return None;
            };
            let variants = branches::variants(&input, &schema, union, branches, &mut errors);
            (!errors.has()).then(|| emit::union(&input, &lifetime, &schema, union, &variants))
        }),
    };
    let expansion = expansion.unwrap_or_else(|| emit::never(&input, &lifetime));
    let errors = errors.finish();
    quote!(#errors #expansion)
}

/// The union of several types in a type, through arrays, maps and `null`.
fn union_in(ty: &Type) -> Option<&Type> {
    match &ty.kind {
        Kind::Array(inner) | Kind::Map(inner) => union_in(inner),
        Kind::Union(branches) => match (nullable(branches), branches.as_slice()) {
            (Some(inner), _) | (None, [inner]) => union_in(inner),
            _ => Some(ty),
        },
        _ => None,
    }
}

fn find<'a>(
    input: &Input,
    schema: &'a Schema,
    span: Span,
    errors: &mut Errors,
) -> Option<&'a Type> {
    let written = schema.file().written();
    let Some(wanted) = &input.part else {
        let found = union_in(schema.root());
        if found.is_none() {
            let message = format!(
                "which union of `{written}` is `{}`? The top of the file is {}",
                input.ident,
                schema.describe(schema.root())
            );
            let help = "name its field with `field = \"Record.field\"`";
            errors.push(Diagnostic::new(Code::SchemaRecord, span, message).help(help));
        }
        return found;
    };
    let path = wanted.value();
    let (path, branches) = match path.split_once('/') {
        Some((path, branches)) => (path, Some(branches)),
        None => (path.as_str(), None),
    };
    let mut union = match path {
        // A branch of the union at the top.
        "" => union_in(schema.root()),
        path => in_field(path, wanted, schema, errors),
    };
    for branch in branches
        .into_iter()
        .flat_map(|branches| branches.split('/'))
    {
        union = in_branch(union?, branch, wanted, schema, errors);
    }
    union
}

/// The union inside of a branch of another.
fn in_branch<'a>(
    union: &'a Type,
    name: &str,
    wanted: &LitStr,
    schema: &'a Schema,
    errors: &mut Errors,
) -> Option<&'a Type> {
    let Kind::Union(branches) = &union.kind else {
        return None;
    };
    let called = |branch: &&Type| branches::is_called(schema, branch, name);
    let Some(branch) = branches.iter().find(called) else {
        let describe = schema.describe(union);
        let message = format!("the union has no branch `{name}`: it is a {describe}");
        let known: Vec<&str> = (branches.iter())
            .map(|branch| branch_name(schema, branch))
            .collect();
        let help = did_you_mean(name, &known, "it");
        errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message).help(help));
        return None;
    };
    let found = union_in(branch);
    if found.is_none() {
        let message = format!(
            "the branch `{name}` is {} in the schema, with no union of several types inside",
            schema.describe(branch)
        );
        errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message));
    }
    found
}

/// The union in a field, which is named with its record or is one of the record at the top.
fn in_field<'a>(
    path: &str,
    wanted: &LitStr,
    schema: &'a Schema,
    errors: &mut Errors,
) -> Option<&'a Type> {
    let written = schema.file().written();
    let (record, name) = match path.rsplit_once('.') {
        Some((record, name)) => {
            let record = LitStr::new(record, wanted.span());
            let records: Vec<_> = schema.records().collect();
            (named(schema, &record, "record", &records, errors)?, name)
        }
        None => match schema.root().kind {
            Kind::Named(id) => (id, path),
            _ => {
                let message = format!("the top of `{written}` is no record");
                let help = "name the field with its record: `field = \"Record.field\"`";
                errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message).help(help));
                return None;
            }
        },
    };
    let fields = schema.fields(record);
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let message = format!(
            "record `{}` of `{written}` has no field `{name}`",
            schema.named(record).name
        );
        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let help = did_you_mean(name, &known, "the record");
        errors.push(Diagnostic::new(Code::SchemaRecord, wanted.span(), message).help(help));
        return None;
    };
    let found = union_in(&field.ty);
    if found.is_none() {
        let message = format!(
            "field `{name}` is {} in the schema, no union of several types",
            schema.describe(&field.ty)
        );
        let diagnostic = Diagnostic::new(Code::SchemaRecord, wanted.span(), message);
        errors.push(match &field.ty.kind {
            Kind::Union(_) => diagnostic.help("a union of null and one type is read with `Option`"),
            _ => diagnostic,
        });
    }
    found
}
