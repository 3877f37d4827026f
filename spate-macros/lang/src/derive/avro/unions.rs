//! `#[derive(AvroUnion)]`: branches of a union to variants of a Rust enum, all of them, by type.
//!
//! A variant that holds nothing is the branch null. For another, three rounds look for its branch, each among those that are left: of its very
//! type, of one that converts into its type, of any that rustc has to judge. What is still open is said with `branch = ".."`.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Lifetime, LitStr, Type as RustType};

use super::emit::{anonymous, same};
use super::matching::{compare, nullable};
use super::shape::{Shape, shape};
use super::variants::{Input, Variant};
use super::wire::{Markers, inside, runtime, wire};
use super::{lifetime, named, schema, shallow};
use crate::avro::{Definition, Kind, Schema, Type, fingerprint};
use crate::derive::input::{Words, did_you_mean};
use crate::diagnostic::{Code, Diagnostic, Errors, list};

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
            let variants = branch_of_each(&input, &schema, union, branches, &mut errors);
            (!errors.has()).then(|| emit(&input, &lifetime, &schema, union, &variants))
        }),
    };
    let expansion = expansion.unwrap_or_else(|| never(&input, &lifetime));
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
    let (record, name) = match path.rsplit_once('.') {
        Some((record, name)) => {
            let record = LitStr::new(record, wanted.span());
            let records: Vec<_> = schema.records().collect();
            (named(schema, &record, "record", &records, errors)?, name)
        }
        None => match schema.root().kind {
            Kind::Named(id) => (id, path.as_str()),
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

/// What a branch is called: its type's name, without a namespace.
pub(super) fn branch_name<'a>(schema: &'a Schema, branch: &Type) -> &'a str {
    match &branch.kind {
        Kind::Null => "null",
        Kind::Boolean => "boolean",
        Kind::Int => "int",
        Kind::Long => "long",
        Kind::Float => "float",
        Kind::Double => "double",
        Kind::Bytes => "bytes",
        Kind::String => "string",
        Kind::Array(_) => "array",
        Kind::Map(_) => "map",
        Kind::Union(_) => "union",
        Kind::Named(id) => schema.named(*id).short(),
    }
}

/// Whether `branch = ".."` means this branch.
fn is_called(schema: &Schema, branch: &Type, text: &str) -> bool {
    let full = match &branch.kind {
        Kind::Named(id) => schema.named(*id).name == text,
        _ => false,
    };
    full || branch_name(schema, branch) == text
}

/// The rounds in which a variant's branch is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Same,
    Converts,
    Open,
}

/// In which round a branch is the one of a type.
fn round(schema: &Schema, branch: &Type, held: &RustType) -> Option<Round> {
    let shape = shape(held);
    if matches!(branch.kind, Kind::Null) || compare(schema, branch, &shape).is_err() {
        return None;
    }
    let called = match held {
        RustType::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let by_name = |name: &str| match called.as_deref() == Some(name) {
        true => Round::Same,
        false => Round::Open,
    };
    Some(match (&branch.kind, &shape) {
        (Kind::Named(id), Shape::Other) => by_name(schema.named(*id).short()),
        (Kind::Named(id), Shape::Box(_)) => {
            match held_name(held).as_deref() == Some(schema.named(*id).short()) {
                true => Round::Same,
                false => Round::Open,
            }
        }
        (Kind::Named(id), Shape::ByteArray(_)) => match schema.named(*id).definition {
            Definition::Fixed { .. } => Round::Same,
            _ => Round::Converts,
        },
        (Kind::Named(_), _) => Round::Converts,
        (_, Shape::Other) => match branch.logical {
            Some(logical) => by_name(&camel(logical.name())),
            None => Round::Open,
        },
        (Kind::Int, Shape::Primitive(name)) if name != "i32" => Round::Converts,
        (Kind::Float, Shape::Primitive(name)) if name != "f32" => Round::Converts,
        _ => Round::Same,
    })
}

/// The name of what a `Box` holds.
fn held_name(ty: &RustType) -> Option<String> {
    let RustType::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(RustType::Path(inner)) => inner
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string()),
        _ => None,
    })
}

/// `timestamp-millis` as `TimestampMillis`.
fn camel(name: &str) -> String {
    name.split('-')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
        })
        .collect()
}

/// For each branch its variant, in the order of the branches.
fn branch_of_each<'a>(
    input: &'a Input,
    schema: &'a Schema,
    union: &Type,
    branches: &'a [Type],
    errors: &mut Errors,
) -> Vec<(&'a Type, &'a Variant)> {
    let mut found: Vec<Option<&Variant>> = vec![None; branches.len()];
    let mut open: Vec<&Variant> = Vec::new();
    let names: Vec<&str> = branches
        .iter()
        .map(|branch| branch_name(schema, branch))
        .collect();
    let describe = schema.describe(union);
    let take = |n: usize,
                variant: &'a Variant,
                found: &mut Vec<Option<&'a Variant>>,
                errors: &mut Errors| {
        if let Some(first) = found[n] {
            let message = format!(
                "`{}` and `{}` are the same branch `{}`",
                first.ident, variant.ident, names[n]
            );
            errors.push(
                Diagnostic::new(Code::UnionBranch, variant.span(), message)
                    .help("keep one of the two"),
            );
        }
        found[n] = Some(variant);
    };
    for variant in &input.variants {
        let named = match (&variant.stands_for, &variant.held) {
            (Some(text), _) => {
                let named = text.value();
                let Some(n) =
                    (0..branches.len()).find(|n| is_called(schema, &branches[*n], &named))
                else {
                    let message = format!("the union has no branch `{named}`: it is a {describe}");
                    let help = did_you_mean(&named, &names, "it");
                    errors
                        .push(Diagnostic::new(Code::UnionBranch, text.span(), message).help(help));
                    continue;
                };
                n
            }
            (None, None) => {
                let Some(n) = branches
                    .iter()
                    .position(|branch| matches!(branch.kind, Kind::Null))
                else {
                    let message = format!(
                        "`{}` holds nothing, and the union has no null: it is a {describe}",
                        variant.ident
                    );
                    errors.push(
                        Diagnostic::new(Code::UnionBranch, variant.span(), message)
                            .help("a variant of another branch holds its value"),
                    );
                    continue;
                };
                n
            }
            (None, Some(_)) => {
                open.push(variant);
                continue;
            }
        };
        if let Err((message, help)) = fits(schema, &branches[named], variant, names[named]) {
            let diagnostic = Diagnostic::new(Code::UnionBranch, variant.span(), message);
            errors.push(diagnostic.help(help));
        }
        take(named, variant, &mut found, errors);
    }
    for wanted in [Round::Same, Round::Converts, Round::Open] {
        let mut left = Vec::new();
        for variant in open {
            let candidates: Vec<usize> = match &variant.held {
                Some(held) => (0..branches.len())
                    .filter(|n| {
                        found[*n].is_none() && round(schema, &branches[*n], held) == Some(wanted)
                    })
                    .collect(),
                None => Vec::new(),
            };
            match candidates.as_slice() {
                [] => left.push(variant),
                [only] => take(*only, variant, &mut found, errors),
                several => {
                    let several: Vec<&str> = several.iter().map(|n| names[*n]).collect();
                    let message = format!(
                        "`{}` may be the branch {} of the union",
                        variant.ident,
                        list(&several, "or")
                    );
                    let help = format!("say which: `#[avro(branch = \"{}\")]`", several[0]);
                    errors.push(
                        Diagnostic::new(Code::UnionBranch, variant.span(), message).help(help),
                    );
                }
            }
        }
        open = left;
    }
    for variant in &open {
        let message = format!(
            "`{}` holds a type that no branch is read into, or one that has its variant: the union is a {describe}",
            variant.ident
        );
        errors.push(Diagnostic::new(Code::UnionBranch, variant.span(), message));
    }
    let missing: Vec<&str> = names
        .iter()
        .zip(&found)
        .filter(|(_, variant)| variant.is_none())
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() && !errors.has() {
        let message = format!(
            "the union has branches without a variant: {}",
            list(&missing, "and")
        );
        let help = match missing.as_slice() {
            ["null"] => "a variant that holds nothing stands for null",
            _ => "every branch needs a variant: a writer may write any of them",
        };
        errors.push(Diagnostic::new(Code::UnionBranch, input.ident.span(), message).help(help));
    }
    branches
        .iter()
        .zip(found)
        .filter_map(|(branch, variant)| Some((branch, variant?)))
        .collect()
}

/// Whether a variant can be the branch that it names.
fn fits(
    schema: &Schema,
    branch: &Type,
    variant: &Variant,
    name: &str,
) -> Result<(), (String, String)> {
    match (&branch.kind, &variant.held) {
        (Kind::Null, None) => Ok(()),
        (_, None) => Err((
            format!(
                "`{}` holds nothing, and the branch {name} has a value",
                variant.ident
            ),
            "only null has none".to_owned(),
        )),
        (_, Some(held)) => compare(schema, branch, &shape(held)).map_err(|problem| {
            let ty = schema.describe(branch);
            (
                format!("the branch is {ty} in the schema, {}", problem.message),
                problem.help,
            )
        }),
    }
}

fn emit(
    input: &Input,
    lifetime: &Lifetime,
    schema: &Schema,
    union: &Type,
    variants: &[(&Type, &Variant)],
) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    let mut markers = Markers::new(schema);
    let (mut reads, mut checks, mut asserts) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (branch, variant)) in variants.iter().enumerate() {
        let ident = &variant.ident;
        let Some(held) = &variant.held else {
            reads.push(quote!(#n => ::core::result::Result::Ok(Self::#ident)));
            checks.push(quote!(#n => ::core::result::Result::Ok(())));
            continue;
        };
        let marker = markers.kept(branch);
        let ty = anonymous(held.to_token_stream());
        let is_record = matches!(branch.kind, Kind::Named(id) if matches!(schema.named(id).definition, Definition::Record(_)));
        let read = match is_record {
            true => quote!(<#ty as #avro::AvroRecord<'_>>::decode),
            false => quote!(<#ty as #avro::FromAvro<'_, #marker>>::read),
        };
        let wanted = quote!(#avro::wanted::Wanted::<'_, #ty, #marker>);
        reads.push(quote!(#n => ::core::result::Result::map(#read(reader), Self::#ident)));
        checks.push(quote!(#n => #wanted::check_inside(reader)));
        if let Some(inner) = inside(schema, branch) {
            asserts.push(same(
                schema,
                &inner,
                &format!("variant `{ident}`"),
                &quote!(#wanted::INSIDE),
                variant.span(),
            ));
        }
    }
    let (count, fingerprint) = (variants.len(), fingerprint(&schema.canonical_of(union)));
    let (track, items, traits) = (schema.track(), markers.items, traits(input, lifetime));
    let header = header(input, lifetime, &quote!(#avro::AvroUnion<#lifetime>));
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            use #avro::wire as #wire;
            use #avro::wanted::Missing as _;
            #track
            #items
            #(#asserts)*
            #traits
            #[automatically_derived]
            #header {
                const FINGERPRINT: u64 = #fingerprint;
                #[inline]
                fn decode(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<Self, #avro::AvroError> {
                    match reader.branch(#count)? {
                        #(#reads,)*
                        _ => ::core::unreachable!("the branch is below the number of branches"),
                    }
                }
                #[inline]
                fn check(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
                    match reader.branch(#count)? {
                        #(#checks,)*
                        _ => ::core::unreachable!("the branch is below the number of branches"),
                    }
                }
            }
        };
    }
}

/// A union is an item of a `Seq` besides.
fn traits(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (avro, wire) = (runtime(), wire());
    let item = header(input, lifetime, &quote!(#avro::Item<#lifetime>));
    let item_of = header(
        input,
        lifetime,
        &quote!(#avro::ItemOf<#lifetime, #wire::Union>),
    );
    quote! {
        #[automatically_derived]
        #item {
            type Wire = #wire::Union;
        }
        #[automatically_derived]
        #item_of {}
    }
}

fn header(input: &Input, lifetime: &Lifetime, of: &TokenStream) -> TokenStream {
    let (ident, (_, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    let parameters = super::emit::parameters(&input.generics, lifetime);
    quote!(impl #parameters #of for #ident #arguments #bounds)
}

/// The implementation after a mistake: it satisfies every bound and is never run.
fn never(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    let (traits, header) = (
        traits(input, lifetime),
        header(input, lifetime, &quote!(#avro::AvroUnion<#lifetime>)),
    );
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            use #avro::wire as #wire;
            #traits
            #[automatically_derived]
            #header {
                const FINGERPRINT: u64 = 0;
                fn decode(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<Self, #avro::AvroError> {
                    ::core::unreachable!("the union of this enum has a mistake")
                }
                fn check(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
                    ::core::unreachable!("the union of this enum has a mistake")
                }
            }
        };
    }
}
