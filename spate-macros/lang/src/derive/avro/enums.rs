//! `#[derive(AvroEnum)]`: symbols of the schema to variants of a Rust enum, all of them, by name.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::variants::{Input, Variant};
use super::wire::{runtime, wire};
use super::{named, schema};
use crate::avro::{Definition, Kind, NameId, Named, Schema, fingerprint};
use crate::derive::input::{Words, did_you_mean};
use crate::diagnostic::{Code, Diagnostic, Errors, list};

const WORDS: Words = Words {
    attribute: "avro",
    derive: "AvroEnum",
    file: "schema",
    part: "name",
    with: true,
    compat: Err(
        "an `AvroEnum` takes no `compat`: it stands on the record that is decoded, and compares the enums inside",
    ),
    shape: Code::EnumShape,
};

/// Expands the derive; `dir` is the directory that schema paths are relative to.
pub fn expand(tokens: TokenStream, dir: &Path) -> TokenStream {
    let mut errors = Errors::new();
    let Some(input) = Input::parse(tokens, &WORDS, "rename", &mut errors) else {
        return errors.finish();
    };
    check_shape(&input, &mut errors);
    let expansion = match errors.has() {
        true => None,
        false => schema(&input.file, &input.with, dir, &mut errors).and_then(|(schema, span)| {
            let id = pick(&input, &schema, span, &mut errors)?;
            let variants = symbols(&input, &schema, id, &mut errors);
            (!errors.has()).then(|| emit(&input, &schema, id, &variants))
        }),
    };
    let expansion = expansion.unwrap_or_else(|| never(&input));
    let errors = errors.finish();
    quote!(#errors #expansion)
}

fn check_shape(input: &Input, errors: &mut Errors) {
    for variant in &input.variants {
        if let Some(held) = &variant.held {
            let message = format!("`{}` holds a value, and a symbol has none", variant.ident);
            errors.push(
                Diagnostic::spanned(Code::EnumShape, held, message)
                    .help("a union is read into such an enum, with `AvroUnion`"),
            );
        }
    }
    if let Some(parameter) = input.generics.params.first() {
        let message = "an Avro enum borrows nothing: `AvroEnum` needs an enum without parameters";
        errors.push(Diagnostic::spanned(Code::EnumShape, parameter, message));
    }
}

fn is_enum(named: &Named) -> bool {
    matches!(named.definition, Definition::Enum { .. })
}

/// The enum of the schema: the one that is named, the one at the top of the file, or the one of the same name.
fn pick(
    input: &Input,
    schema: &Schema,
    span: proc_macro2::Span,
    errors: &mut Errors,
) -> Option<NameId> {
    let enums: Vec<(NameId, &Named)> = schema.all().filter(|(_, named)| is_enum(named)).collect();
    if let Some(wanted) = &input.part {
        return named(schema, wanted, "enum", &enums, errors);
    }
    if let Kind::Named(id) = schema.root().kind
        && is_enum(schema.named(id))
    {
        return Some(id);
    }
    let ident = input.ident.unraw().to_string();
    let same: Vec<&(NameId, &Named)> = enums
        .iter()
        .filter(|(_, named)| named.short() == ident)
        .collect();
    if let [(id, _)] = same.as_slice() {
        return Some(*id);
    }
    let message = format!("which enum of `{}` is `{ident}`?", schema.file().written());
    let names: Vec<&str> = enums.iter().map(|(_, named)| named.name.as_str()).collect();
    let help = match names.as_slice() {
        [] => "the file defines no enum".to_owned(),
        names => format!("name it with `name = \"..\"`: {}", list(names, "or")),
    };
    errors.push(Diagnostic::new(Code::SchemaRecord, span, message).help(help));
    None
}

/// A name as it sounds: `IN_TRANSIT` and `InTransit` are one.
fn spelt(name: &str) -> String {
    name.chars()
        .filter(|ch| *ch != '_')
        .map(|ch| ch.to_ascii_lowercase())
        .collect()
}

/// For each symbol its variant.
fn symbols<'a>(
    input: &'a Input,
    schema: &'a Schema,
    id: NameId,
    errors: &mut Errors,
) -> Vec<(&'a str, &'a Variant)> {
    let in_schema = schema.named(id);
    let Definition::Enum { symbols, .. } = &in_schema.definition else {
        return Vec::new();
    };
    let (name, written) = (&in_schema.name, in_schema.file.written());
    let mut found: Vec<Option<&Variant>> = vec![None; symbols.len()];
    for variant in &input.variants {
        let own = match &variant.stands_for {
            Some(text) => text.value(),
            None => variant.ident.unraw().to_string(),
        };
        let exact = symbols.iter().position(|symbol| *symbol == own);
        let alike = || {
            let mut alike = (0..symbols.len()).filter(|n| spelt(&symbols[*n]) == spelt(&own));
            match (alike.next(), alike.next()) {
                (Some(one), None) if variant.stands_for.is_none() => Some(one),
                _ => None,
            }
        };
        let Some(symbol) = exact.or_else(alike) else {
            let message = format!("enum `{name}` of `{written}` has no symbol `{own}`");
            let known: Vec<&str> = symbols.iter().map(String::as_str).collect();
            let help = did_you_mean(&own, &known, "the enum");
            errors.push(Diagnostic::new(Code::EnumSymbol, variant.span(), message).help(help));
            continue;
        };
        if let Some(first) = found[symbol] {
            let message = format!(
                "`{}` and `{}` are the same symbol `{}`",
                first.ident, variant.ident, symbols[symbol]
            );
            errors.push(
                Diagnostic::new(Code::EnumSymbol, variant.span(), message)
                    .help("keep one of the two"),
            );
        }
        found[symbol] = Some(variant);
    }
    if symbols.is_empty() {
        let message = format!("enum `{name}` of `{written}` has no symbols, so no value");
        errors.push(Diagnostic::new(
            Code::EnumSymbol,
            input.ident.span(),
            message,
        ));
    }
    let missing: Vec<&str> = symbols
        .iter()
        .zip(&found)
        .filter(|(_, variant)| variant.is_none())
        .map(|(symbol, _)| symbol.as_str())
        .collect();
    if !missing.is_empty() {
        let place = in_schema.file.place(in_schema.offset);
        let message = format!(
            "enum `{name}` ({written}:{place}) has symbols without a variant: {}",
            list(&missing, "and")
        );
        let help = "every symbol needs a variant: a writer may write any of them";
        errors.push(Diagnostic::new(Code::EnumSymbol, input.ident.span(), message).help(help));
    }
    symbols
        .iter()
        .zip(found)
        .filter_map(|(symbol, variant)| Some((symbol.as_str(), variant?)))
        .collect()
}

fn emit(input: &Input, schema: &Schema, id: NameId, variants: &[(&str, &Variant)]) -> TokenStream {
    let (root, avro, wire, ident) = (&input.root, runtime(), wire(), &input.ident);
    let track = schema.track();
    let name = &schema.named(id).name;
    let fingerprint = fingerprint(&schema.canonical(id));
    let symbols: Vec<&str> = variants.iter().map(|(symbol, _)| *symbol).collect();
    let idents: Vec<_> = variants.iter().map(|(_, variant)| &variant.ident).collect();
    let numbers = 0..variants.len();
    let traits = traits(input, &symbols);
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            use #avro::wire as #wire;
            #track
            #traits
            #[automatically_derived]
            impl #avro::AvroEnum for #ident {
                const NAME: &'static str = #name;
                const FINGERPRINT: u64 = #fingerprint;
                #[inline]
                fn from_index(index: usize) -> ::core::option::Option<Self> {
                    match index {
                        #(#numbers => ::core::option::Option::Some(Self::#idents),)*
                        _ => ::core::option::Option::None,
                    }
                }
                #[inline]
                fn symbol(&self) -> &'static str {
                    match self {
                        #(Self::#idents => #symbols,)*
                    }
                }
            }
        };
    }
}

/// What the enum is besides: its symbols, and an item of a `Seq`.
fn traits(input: &Input, symbols: &[&str]) -> TokenStream {
    let (avro, wire, ident) = (runtime(), wire(), &input.ident);
    let symbols = symbols_of(input, symbols);
    quote! {
        #symbols
        #[automatically_derived]
        impl<'payload> #avro::PlainItem<'payload> for #ident {
            type Wire = #wire::Enum<Self>;
        }
        #[automatically_derived]
        impl<'payload, S: #wire::Symbols> #avro::ItemOf<'payload, #wire::Enum<S>> for #ident {}
    }
}

fn symbols_of(input: &Input, symbols: &[&str]) -> TokenStream {
    let wire = wire();
    let header = header(input, &quote!(#wire::Symbols));
    quote! {
        #[automatically_derived]
        #header {
            const SYMBOLS: &'static [&'static str] = &[#(#symbols),*];
        }
    }
}

fn header(input: &Input, of: &TokenStream) -> TokenStream {
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let ident = &input.ident;
    quote!(impl #parameters #of for #ident #arguments #bounds)
}

/// The implementation after a mistake: it satisfies every bound and is never run.
fn never(input: &Input) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    // One with parameters is the mistake; as an item it may borrow what it likes.
    let traits = match input.generics.params.is_empty() {
        true => traits(input, &[]),
        false => symbols_of(input, &[]),
    };
    let header = header(input, &quote!(#avro::AvroEnum));
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            use #avro::wire as #wire;
            #traits
            #[automatically_derived]
            #header {
                const NAME: &'static str = "";
                const FINGERPRINT: u64 = 0;
                fn from_index(_: usize) -> ::core::option::Option<Self> {
                    ::core::option::Option::None
                }
                fn symbol(&self) -> &'static str {
                    ""
                }
            }
        };
    }
}
