//! The implementation as tokens: constants, a decoder and a checker, one line per field in wire order.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Lifetime;
use syn::spanned::Spanned;

use super::matching::Matched;
use super::matching::nullable;
use super::shape::shape;
use super::wire::{Inside, Markers, inside, runtime, wire};
use crate::avro::{Definition, Field as SchemaField, Kind, NameId, Schema, Type, fingerprint};
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
    let mut markers = Markers::new(schema);
    let mut steps = Steps::new(Generics::of(input, lifetime));
    for (n, matched) in fields.iter().enumerate() {
        match matched.kept {
            Some(field) => {
                let marker = markers.kept(&matched.schema.ty);
                steps.keep(n, schema, matched.schema, field, &marker);
            }
            None => {
                let marker = markers.skipped(&matched.schema.ty);
                steps.skip(n, &matched.schema.name, &marker);
            }
        }
    }
    let in_two_steps = in_two_steps(lifetime, &steps, schema.is_recursive(record));
    let Steps {
        functions,
        check,
        asserts,
        names,
        checked,
        ..
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
    let items = markers.items;
    let (import, header) = (import(input), header(input, lifetime));
    let missing = checked.then(|| quote!(use #avro::wanted::Missing as _;));
    let track = schema.track();
    let (name, text) = (&schema.named(record).name, schema.self_contained(record));
    let fingerprint = fingerprint(&schema.canonical(record));
    let least = schema.least(record);
    quote! {
        const _: () = {
            #import
            #missing
            #track
            #items
            #(#functions)*
            #(#asserts)*
            #[automatically_derived]
            #header {
                const NAME: &'static str = #name;
                const SCHEMA: &'static str = #text;
                const FINGERPRINT: u64 = #fingerprint;
                const FIELDS: &'static [&'static str] = &[#(#names),*];
                const MIN_SIZE: usize = #least;
                #in_two_steps
                #check
            }
        };
    }
}

/// The parts of the implementation that read a record in two steps; see `pushdown.rs` of the decoder.
fn in_two_steps(lifetime: &Lifetime, steps: &Steps<'_>, recursive: bool) -> TokenStream {
    let avro = runtime();
    let Steps {
        first,
        rest,
        positions,
        solid,
        built,
        count,
        ..
    } = steps;
    let seamed = seamed(lifetime);
    let end = before(*count);
    let (reader, result) = (
        quote!(&mut #avro::Reader<#lifetime>),
        quote!(::core::result::Result<Self, #avro::AvroError>),
    );
    if recursive {
        // Its depth is counted around the whole record.
        return quote! {
            const POSITIONS: &'static [(&'static str, usize)] = &[];
            const SOLID: usize = usize::MAX;
            #[inline]
            #seamed(reader: #reader, seams: &mut __Seams) -> #result {
                let outer = reader;
                let reader = &mut outer.fork();
                let upto = usize::MAX;
                reader.enter()?;
                #(#first)*
                #end
                reader.leave();
                outer.join(reader);
                ::core::result::Result::Ok(Self { #(#built),* })
            }
            #[inline]
            fn decode_rest<const N: usize>(self, _: #reader) -> #result {
                ::core::result::Result::Ok(self)
            }
        };
    }
    let bound = quote! {
        let upto = const { #avro::pushdown::at_least(N, <Self as #avro::AvroRecord<#lifetime>>::SOLID) };
    };
    quote! {
        const POSITIONS: &'static [(&'static str, usize)] = &[#(#positions),*];
        const SOLID: usize = #solid;
        #[inline]
        #seamed(reader: #reader, seams: &mut __Seams) -> #result {
            #bound
            let outer = reader;
            let reader = &mut outer.fork();
            #(#first)*
            #end
            outer.join(reader);
            ::core::result::Result::Ok(Self { #(#built),* })
        }
        #[inline]
        fn decode_rest<const N: usize>(mut self, reader: #reader) -> #result {
            #bound
            let outer = reader;
            let reader = &mut outer.fork();
            #(#rest)*
            outer.join(reader);
            ::core::result::Result::Ok(self)
        }
    }
}

/// The head of the function that reads a record wherever its fields are, up to its arguments.
fn seamed(lifetime: &Lifetime) -> TokenStream {
    let avro = runtime();
    quote!(fn decode_seamed<const N: usize, __Seams: #avro::Seams<#lifetime>>)
}

/// Asks where the schema's field of that number is.
fn before(field: usize) -> TokenStream {
    let avro = runtime();
    quote!(#avro::Seams::before(seams, #field, reader)?;)
}

/// One line per field, in wire order, for each part of the implementation.
struct Steps<'a> {
    generics: Generics<'a>,
    check: Vec<TokenStream>,
    asserts: Vec<TokenStream>,
    names: Vec<&'a str>,
    built: Vec<TokenStream>,
    /// For the fields before a bound ..
    first: Vec<TokenStream>,
    /// .. and for those behind it.
    rest: Vec<TokenStream>,
    /// Pairs of a field's Rust name and its place in the schema.
    positions: Vec<TokenStream>,
    /// How many fields stand before the end of the last one that has no placeholder.
    solid: usize,
    /// How many fields the schema has.
    count: usize,
    /// One function per field, which reads it or makes its placeholder.
    functions: Vec<TokenStream>,
    /// Whether checking is worth lines of its own: decoding would allocate, or another record is inside.
    checked: bool,
}

/// The generics of the record, for the functions of its fields.
struct Generics<'a> {
    lifetime: &'a Lifetime,
    /// As they are declared, with the payload's lifetime.
    parameters: TokenStream,
    /// As they are given to a function: lifetimes are left to rustc.
    arguments: TokenStream,
    bounds: Option<&'a syn::WhereClause>,
}

impl<'a> Generics<'a> {
    fn of(input: &'a Input, lifetime: &'a Lifetime) -> Self {
        let params = input.generics.params.iter();
        let types: Vec<&Ident> = params
            .filter_map(|param| match param {
                syn::GenericParam::Type(param) => Some(&param.ident),
                syn::GenericParam::Const(param) => Some(&param.ident),
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        Generics {
            lifetime,
            parameters: parameters(&input.generics, lifetime),
            arguments: match types.is_empty() {
                true => TokenStream::new(),
                false => quote!(::<#(#types),*>),
            },
            bounds: input.generics.where_clause.as_ref(),
        }
    }
}

impl<'a> Steps<'a> {
    fn new(generics: Generics<'a>) -> Self {
        Steps {
            generics,
            check: Vec::new(),
            asserts: Vec::new(),
            names: Vec::new(),
            built: Vec::new(),
            first: Vec::new(),
            rest: Vec::new(),
            positions: Vec::new(),
            solid: 0,
            count: 0,
            functions: Vec::new(),
            checked: false,
        }
    }

    /// The bound on the field's type is stated by the function that reads it and nowhere else, so that rustc reports one that fails
    /// only once; the others ask `Wanted`.
    fn keep(
        &mut self,
        n: usize,
        schema: &Schema,
        in_schema: &'a SchemaField,
        field: &Field,
        marker: &TokenStream,
    ) {
        let avro = runtime();
        let (name, ident) = (&in_schema.name, &field.ident);
        let ty = anonymous(field.ty.to_token_stream());
        let local = Ident::new(&format!("field_{n}"), Span::mixed_site());
        let (from, read) = match is_record(schema, &in_schema.ty) {
            true => (quote!(<#ty as #avro::AvroRecord<'_>>), quote!(decode)),
            false => (quote!(<#ty as #avro::FromAvro<'_, #marker>>), quote!(read)),
        };
        let wanted = quote!(#avro::wanted::Wanted::<'_, #ty, #marker>);
        let mut value = quote!(#avro::field(#name, #from::#read(reader)));
        if is_solid(schema, &in_schema.ty) {
            self.solid = n + 1;
        } else {
            value = quote! {
                if now { #value } else { ::core::result::Result::Ok(#from::placeholder()) }
            };
        }
        let read = Ident::new(&format!("__field_{n}"), Span::mixed_site());
        let Generics {
            lifetime,
            parameters,
            arguments,
            bounds,
        } = &self.generics;
        let ty = &field.ty;
        self.functions.push(quote! {
            #[allow(single_use_lifetimes, clippy::extra_unused_lifetimes, clippy::needless_lifetimes)]
            #[inline(always)]
            fn #read #parameters(reader: &mut #avro::Reader<#lifetime>, now: bool) -> ::core::result::Result<#ty, #avro::AvroError> #bounds {
                #value
            }
        });
        let before = before(n);
        self.count = n + 1;
        self.first
            .push(quote!(#before let #local = #read #arguments(reader, #n < upto)?;));
        self.rest
            .push(quote!(if #n >= upto { self.#ident = #read #arguments(reader, true)?; }));
        let rust_name = ident.to_string();
        let rust_name = rust_name.trim_start_matches("r#");
        self.positions.push(quote!((#rust_name, #n)));
        self.check
            .push(quote!(#avro::field(#name, #wanted::check_inside(reader))?;));
        self.built.push(quote!(#ident: #local));
        self.names.push(name);
        self.checked |= shape(&field.ty).is_owned();
        if let Some(inner) = inside(schema, &in_schema.ty) {
            self.checked = true;
            self.asserts.push(same(
                schema,
                &inner,
                &format!("field `{name}`"),
                &quote!(#wanted::INSIDE),
                field.ty.span(),
            ));
        }
    }

    fn skip(&mut self, n: usize, name: &str, marker: &TokenStream) {
        let (avro, wire) = (runtime(), wire());
        let step = quote!(#avro::field(#name, <#marker as #wire::Skip>::skip(reader))?;);
        let before = before(n);
        self.count = n + 1;
        self.first.push(quote!(if #n < upto { #before #step }));
        self.rest.push(quote!(if #n >= upto { #step }));
        self.check.push(step);
    }
}

/// The implementation after a mistake: it satisfies every bound and is never run.
pub(super) fn never(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (root, avro, header) = (&input.root, runtime(), header(input, lifetime));
    let seamed = seamed(lifetime);
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
                const POSITIONS: &'static [(&'static str, usize)] = &[];
                const SOLID: usize = 0;
                #seamed(_: &mut #avro::Reader<#lifetime>, _: &mut __Seams) -> ::core::result::Result<Self, #avro::AvroError> {
                    ::core::unreachable!("the schema of this record has a mistake")
                }
                fn decode_rest<const N: usize>(self, _: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<Self, #avro::AvroError> {
                    ::core::result::Result::Ok(self)
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
    let (_, type_generics, where_clause) = input.generics.split_for_impl();
    let parameters = parameters(&input.generics, lifetime);
    quote!(impl #parameters #avro::AvroRecord<#lifetime> for #ident #type_generics #where_clause)
}

/// The generic parameters as they are declared, with the payload's lifetime in front where the record has none.
pub(super) fn parameters(generics: &syn::Generics, lifetime: &Lifetime) -> TokenStream {
    let (impl_generics, _, _) = generics.split_for_impl();
    match generics.params.is_empty() {
        true => quote!(<#lifetime>),
        false if generics.lifetimes().next().is_none() => {
            let parameters = &generics.params;
            quote!(<#lifetime, #parameters>)
        }
        false => impl_generics.to_token_stream(),
    }
}

fn is_record(schema: &Schema, ty: &Type) -> bool {
    match ty.kind {
        Kind::Named(id) => matches!(schema.named(id).definition, Definition::Record(_)),
        _ => false,
    }
}

/// Whether a value has no placeholder: a record, or a union of several types.
fn is_solid(schema: &Schema, ty: &Type) -> bool {
    match &ty.kind {
        Kind::Union(branches) if nullable(branches).is_some() => false,
        Kind::Union(branches) => match branches.as_slice() {
            [only] => is_solid(schema, only),
            _ => true,
        },
        _ => is_record(schema, ty),
    }
}

/// An assertion that what is behind a field was derived from the same definition. Zero stands for a type whose own derive failed, which
/// was reported there, and for one that no derive reads: text for an enum.
pub(super) fn same(
    schema: &Schema,
    inner: &Inside<'_>,
    name: &str,
    found: &TokenStream,
    at: Span,
) -> TokenStream {
    let file = schema.file().written();
    let (expected, text) = match inner {
        Inside::Named(id) => {
            let named = schema.named(*id);
            let what = match named.definition {
                Definition::Enum { .. } => "enum",
                _ => "record",
            };
            (
                fingerprint(&schema.canonical(*id)),
                format!(
                    "{name}: its type was derived from another {what} than `{}` of `{file}`",
                    named.name
                ),
            )
        }
        Inside::Union(ty) => (
            fingerprint(&schema.canonical_of(ty)),
            format!(
                "{name}: its type was derived from another union than the one of `{file}`, {}",
                schema.describe(ty)
            ),
        ),
    };
    let assert = quote_spanned!(Span::mixed_site().located_at(at)=> ::core::assert!(FOUND == #expected || FOUND == 0, #text));
    quote! {
        const _: () = {
            const FOUND: u64 = #found;
            #assert
        };
    }
}

/// The tokens with every lifetime left to rustc: a constant item knows none, and a bound is worded alike everywhere.
pub(super) fn anonymous(tokens: TokenStream) -> TokenStream {
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
