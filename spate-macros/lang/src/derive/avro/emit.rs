//! The implementation as tokens: constants, a decoder and a checker, one line per field in wire order.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Lifetime;
use syn::spanned::Spanned;

use super::matching::Matched;
use super::shape::shape;
use super::wire::{Skips, has_record, kept, runtime, wire};
use crate::avro::{Field as SchemaField, Kind, NameId, Schema, fingerprint};
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
    let mut steps = Steps::default();
    for (n, matched) in fields.iter().enumerate() {
        match matched.kept {
            Some(field) => steps.keep(n, schema, matched.schema, field),
            None => steps.skip(&matched.schema.name, &skips.marker(&matched.schema.ty)),
        }
    }
    let Steps {
        decode,
        check,
        asserts,
        names,
        built,
        checked,
    } = steps;
    let (enter, leave) = match schema.is_recursive(record) {
        true => (quote!(reader.enter()?;), quote!(reader.leave();)),
        false => (TokenStream::new(), TokenStream::new()),
    };
    // Without it the trait's own is as good: it decodes and keeps nothing.
    let check = checked.then(|| quote! {
        #[inline]
        fn check(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
            let outer = reader;
            let reader = &mut outer.fork();
            #enter
            #(#check)*
            #leave
            outer.join(reader);
            ::core::result::Result::Ok(())
        }
    });
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
                    let outer = reader;
                    let reader = &mut outer.fork();
                    #enter
                    #(#decode)*
                    #leave
                    outer.join(reader);
                    ::core::result::Result::Ok(Self { #(#built),* })
                }
                #check
            }
        };
    }
}

/// One line per field, in wire order, for each part of the implementation.
#[derive(Default)]
struct Steps<'a> {
    decode: Vec<TokenStream>,
    check: Vec<TokenStream>,
    asserts: Vec<TokenStream>,
    names: Vec<&'a str>,
    built: Vec<TokenStream>,
    /// Whether checking is worth lines of its own: decoding would allocate, or another record is inside.
    checked: bool,
}

impl<'a> Steps<'a> {
    /// Every bound is stated in the same words at the field's type, so that rustc reports one that fails only once.
    fn keep(&mut self, n: usize, schema: &Schema, in_schema: &'a SchemaField, field: &Field) {
        let avro = runtime();
        let (name, ident) = (&in_schema.name, &field.ident);
        let ty = anonymous(field.ty.to_token_stream());
        let local = Ident::new(&format!("field_{n}"), Span::mixed_site());
        let marker = kept(&in_schema.ty);
        let (from, read, fingerprint) = match in_schema.ty.kind {
            Kind::Named(_) => (
                quote!(<#ty as #avro::AvroRecord<'_>>),
                quote!(decode),
                quote!(FINGERPRINT),
            ),
            _ => (
                quote!(<#ty as #avro::FromAvro<'_, #marker>>),
                quote!(read),
                quote!(RECORD),
            ),
        };
        self.decode
            .push(quote!(let #local = #avro::field(#name, #from::#read(reader))?;));
        self.check
            .push(quote!(#avro::field(#name, #from::check(reader))?;));
        self.built.push(quote!(#ident: #local));
        self.names.push(name);
        self.checked |= shape(&field.ty).is_owned();
        if let Some(inner) = has_record(&in_schema.ty) {
            self.checked = true;
            self.asserts.push(same_record(
                schema,
                inner,
                name,
                &quote!(#from::#fingerprint),
                field.ty.span(),
            ));
        }
    }

    fn skip(&mut self, name: &str, marker: &TokenStream) {
        let (avro, wire) = (runtime(), wire());
        let step = quote!(#avro::field(#name, <#marker as #wire::Skip>::skip(reader))?;);
        self.decode.push(step.clone());
        self.check.push(step);
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
    found: &TokenStream,
    at: Span,
) -> TokenStream {
    let expected = fingerprint(&schema.canonical(inner));
    let text = format!(
        "field `{name}`: its type was derived from another record than `{}` of `{}`",
        schema.named(inner).name,
        schema.file().written()
    );
    let assert = quote_spanned!(Span::mixed_site().located_at(at)=> ::core::assert!(FOUND == #expected || FOUND == 0, #text));
    quote! {
        const _: () = {
            const FOUND: u64 = #found;
            #assert
        };
    }
}

/// The tokens with every lifetime left to rustc: a constant item knows none, and a bound is worded alike everywhere.
fn anonymous(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut after_quote = false;
    for token in tokens {
        let token = match token {
            TokenTree::Ident(ident) if after_quote => {
                TokenTree::Ident(Ident::new("_", ident.span()))
            }
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), anonymous(group.stream()));
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
