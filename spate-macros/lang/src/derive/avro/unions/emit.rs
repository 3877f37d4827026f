//! The implementation as tokens: `AvroUnion`, or `AvroNullableUnion` for an enum that has no variant for null.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Lifetime;

use crate::avro::{Definition, Kind, Schema, Type, fingerprint};
use crate::derive::avro::emit::{anonymous, parameters, same};
use crate::derive::avro::variants::{Input, Variant};
use crate::derive::avro::wire::{Markers, inside, runtime, wire};

/// The implementation for an enum that matches its union: for each branch its variant.
pub(super) fn union(
    input: &Input,
    lifetime: &Lifetime,
    schema: &Schema,
    union: &Type,
    variants: &[(&Type, Option<&Variant>)],
) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    // Null is the only branch that may have no variant.
    let nullable = variants.iter().any(|(_, variant)| variant.is_none());
    let mut markers = Markers::new(schema);
    let (mut reads, mut checks, mut asserts) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (branch, variant)) in variants.iter().enumerate() {
        let Some(variant) = variant else {
            reads.push(quote!(#n => ::core::result::Result::Ok(::core::option::Option::None)));
            checks.push(quote!(#n => ::core::result::Result::Ok(())));
            continue;
        };
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
        let made = match nullable {
            true => quote!(|value| ::core::option::Option::Some(Self::#ident(value))),
            false => quote!(Self::#ident),
        };
        reads.push(quote!(#n => ::core::result::Result::map(#read(reader), #made)));
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
    let (track, items) = (schema.track(), markers.items);
    let (read, of, traits) = match nullable {
        true => (
            quote!(::core::option::Option<Self>),
            quote!(#avro::AvroNullableUnion<#lifetime>),
            nullable_item(input, lifetime),
        ),
        false => (
            quote!(Self),
            quote!(#avro::AvroUnion<#lifetime>),
            plain_item(input, lifetime),
        ),
    };
    let header = header(input, lifetime, &of);
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
                fn decode(reader: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<#read, #avro::AvroError> {
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
fn plain_item(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (avro, wire) = (runtime(), wire());
    let item = header(input, lifetime, &quote!(#avro::PlainItem<#lifetime>));
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

/// One that may be null is an item in an `Option`, and never alone.
fn nullable_item(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let avro = runtime();
    let item = header(input, lifetime, &quote!(#avro::Item<#lifetime>));
    let result = |read: TokenStream| quote!(::core::result::Result<#read, #avro::AvroError>);
    let (alone, in_option) = (
        result(quote!(Self)),
        result(quote!(::core::option::Option<Self>)),
    );
    quote! {
        #[automatically_derived]
        #item {
            fn least(_: &#avro::Form) -> usize {
                1
            }
            fn read_item(_: &'static #avro::Form, _: &mut #avro::Reader<#lifetime>) -> #alone {
                ::core::unreachable!("a union that may be null is read into an option")
            }
            #[inline]
            fn item_or_null(reader: &mut #avro::Reader<#lifetime>) -> #in_option {
                <Self as #avro::AvroNullableUnion<#lifetime>>::decode(reader)
            }
        }
    }
}

fn header(input: &Input, lifetime: &Lifetime, of: &TokenStream) -> TokenStream {
    let (ident, (_, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    let parameters = parameters(&input.generics, lifetime);
    quote!(impl #parameters #of for #ident #arguments #bounds)
}

/// The implementation after a mistake: it satisfies every bound and is never run.
pub(super) fn never(input: &Input, lifetime: &Lifetime) -> TokenStream {
    let (root, avro, wire) = (&input.root, runtime(), wire());
    let traits = plain_item(input, lifetime);
    let functions = |of: TokenStream, read: TokenStream| {
        let header = header(input, lifetime, &of);
        quote! {
            #[automatically_derived]
            #header {
                const FINGERPRINT: u64 = 0;
                fn decode(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<#read, #avro::AvroError> {
                    ::core::unreachable!("the union of this enum has a mistake")
                }
                fn check(_: &mut #avro::Reader<#lifetime>) -> ::core::result::Result<(), #avro::AvroError> {
                    ::core::unreachable!("the union of this enum has a mistake")
                }
            }
        }
    };
    let alone = functions(quote!(#avro::AvroUnion<#lifetime>), quote!(Self));
    let in_option = functions(
        quote!(#avro::AvroNullableUnion<#lifetime>),
        quote!(::core::option::Option<Self>),
    );
    quote! {
        const _: () = {
            use #root::__private::avro as #avro;
            use #avro::wire as #wire;
            #traits
            #alone
            #in_option
        };
    }
}
