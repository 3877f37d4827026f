//! The implementation as tokens: constants, a decoder and a checker, one line per field in wire order.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::Lifetime;

use super::matching::Matched;
use super::wire::{Skips, has_record, kept, runtime, wire};
use crate::avro::{NameId, Schema, fingerprint};
use crate::derive::input::{Field, Input};

/// The implementation for a record that matches its schema.
pub(super) fn record(
    input: &Input,
    lifetime: &Lifetime,
    schema: &Schema,
    record: NameId,
    fields: &[Matched<'_>],
) -> TokenStream {
    let avro = runtime();
    let mut skips = Skips::new(schema);
    let (mut decode, mut check, mut asserts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut built) = (Vec::new(), Vec::new());
    for (
        n,
        Matched {
            schema: in_schema,
            kept: field,
        },
    ) in fields.iter().enumerate()
    {
        let name = &in_schema.name;
        match field {
            Some(field) => {
                let marker = kept(&in_schema.ty);
                let (ident, ty) = (&field.ident, &field.ty);
                let local = Ident::new(&format!("field_{n}"), Span::mixed_site());
                decode.push(quote!(let #local = #avro::read::<#marker, #ty>(#name, reader)?;));
                check.push(quote!(#avro::check::<#marker, #ty>(#name, reader)?;));
                built.push(quote!(#ident: #local));
                names.push(name);
                if let Some(inner) = has_record(&in_schema.ty) {
                    asserts.push(same_record(schema, inner, name, field, &marker));
                }
            }
            None => {
                let marker = skips.marker(&in_schema.ty);
                let step = quote!(#avro::skip::<#marker>(#name, reader)?;);
                decode.push(step.clone());
                check.push(step);
            }
        }
    }
    let (enter, leave) = match schema.is_recursive(record) {
        true => (quote!(reader.enter()?;), quote!(reader.leave();)),
        false => (TokenStream::new(), TokenStream::new()),
    };
    let items = skips.items;
    let (import, header) = (import(input), header(input, lifetime));
    let track = schema.file().track();
    let (name, text) = (&schema.named(record).name, schema.self_contained(record));
    let fingerprint = fingerprint(&schema.canonical(record));
    let least = schema.least(record);
    quote! {
        const _: () = {
            #import
            #track
            #items
            #(#asserts)*
            #[automatically_derived]
            #header {
                const NAME: &'static str = #name;
                const SCHEMA: &'static str = #text;
                const FINGERPRINT: u64 = #fingerprint;
                const FIELDS: &'static [&'static str] = &[#(#names),*];
                const MIN_SIZE: usize = #least;
                #[inline]
                fn decode(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<Self, #avro::AvroError> {
                    #enter
                    #(#decode)*
                    #leave
                    ::core::result::Result::Ok(Self { #(#built),* })
                }
                #[inline]
                fn check(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
                    #enter
                    #(#check)*
                    #leave
                    ::core::result::Result::Ok(())
                }
            }
        };
    }
}

/// The implementation after a mistake: it satisfies every bound and is never run.
pub(super) fn never(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (root, avro, header) = (&input.root, runtime(), header(input, lifetime));
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            #[automatically_derived]
            #header {
                const NAME: &'static str = "";
                const SCHEMA: &'static str = "";
                const FINGERPRINT: u64 = 0;
                const FIELDS: &'static [&'static str] = &[];
                const MIN_SIZE: usize = 0;
                fn decode(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<Self, #avro::AvroError> {
                    ::core::unreachable!("the schema of this record has a mistake")
                }
                fn check(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
                    ::core::unreachable!("the schema of this record has a mistake")
                }
            }
        };
    }
}

/// Gives `spate-avro` a short name inside the expansion, so that a reader of it finds the fields.
fn import(input: &Input) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    quote! {
        use #root::__private::avro as #avro;
        use #avro::wire as #wire;
    }
}

fn header(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (avro, ident) = (runtime(), &input.ident);
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let parameters = match input.generics.params.is_empty() {
        true => quote!(<#lifetime>),
        false if input.generics.lifetimes().next().is_none() => {
            let parameters = &input.generics.params;
            quote!(<#lifetime, #parameters>)
        }
        false => impl_generics.to_token_stream(),
    };
    quote!(impl #parameters #avro::AvroRecord<#lifetime> for #ident #type_generics #where_clause)
}

/// An assertion that the record behind a field was derived from the same definition. Zero stands for a record whose
/// own derive failed: that was reported there.
fn same_record(
    schema: &Schema,
    inner: NameId,
    name: &str,
    field: &Field,
    marker: &TokenStream,
) -> TokenStream {
    let avro = runtime();
    let expected = fingerprint(&schema.canonical(inner));
    let ty = with_static(field.ty.to_token_stream());
    let text = format!(
        "field `{name}`: its type was derived from another record than `{}` of `{}`",
        schema.named(inner).name,
        schema.file().written()
    );
    let found = format_ident!("FOUND");
    quote! {
        const _: () = {
            const #found: u64 = #avro::record_of::<#marker, #ty>();
            ::core::assert!(#found == #expected || #found == 0, #text)
        };
    }
}

/// The tokens with every lifetime replaced by `'static`: a constant item knows no other.
fn with_static(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut after_quote = false;
    for token in tokens {
        let token = match token {
            TokenTree::Ident(ident) if after_quote => {
                TokenTree::Ident(Ident::new("static", ident.span()))
            }
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), with_static(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        };
        after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        out.extend([token]);
    }
    out
}
