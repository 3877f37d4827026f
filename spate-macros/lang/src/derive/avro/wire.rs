//! Avro types as marker types of `spate-avro`: one spelling for fields that are kept, one for those that are skipped.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::matching::nullable;
use crate::avro::{Definition, Kind, Logical, NameId, Schema, Type};

/// The name of `spate-avro` inside the expansion.
pub(super) fn runtime() -> TokenStream {
    quote!(__spate)
}

/// The name of its marker types there.
pub(super) fn wire() -> TokenStream {
    quote!(__wire)
}

/// The marker of a field that is kept: what the Rust type implements `FromAvro` for.
pub(super) fn kept(ty: &Type) -> TokenStream {
    let wire = wire();
    match &ty.kind {
        Kind::Long if ty.logical == Some(Logical::TimestampMillis) => {
            quote!(#wire::TimestampMillis)
        }
        Kind::Array(items) => {
            let items = kept(items);
            quote!(#wire::Array<#items>)
        }
        Kind::Union(branches) => union(branches, kept),
        Kind::Named(_) => quote!(#wire::Record),
        kind => plain(kind),
    }
}

/// Whether a kept value contains records that another derive reads.
pub(super) fn has_record(ty: &Type) -> Option<NameId> {
    match &ty.kind {
        Kind::Array(items) => has_record(items),
        Kind::Union(branches) => branches.iter().find_map(has_record),
        Kind::Named(id) => Some(*id),
        _ => None,
    }
}

fn plain(kind: &Kind) -> TokenStream {
    let wire = wire();
    match kind {
        Kind::Boolean => quote!(#wire::Boolean),
        Kind::Int => quote!(#wire::Int),
        Kind::Long => quote!(#wire::Long),
        Kind::Float => quote!(#wire::Float),
        Kind::Double => quote!(#wire::Double),
        Kind::Bytes => quote!(#wire::Bytes),
        Kind::String => quote!(#wire::Str),
        _ => quote!(#wire::Null),
    }
}

fn union(branches: &[Type], mut inner: impl FnMut(&Type) -> TokenStream) -> TokenStream {
    let wire = wire();
    match (nullable(branches), branches) {
        (Some(other), [first, _]) => {
            let marker = inner(other);
            match first.kind {
                Kind::Null => quote!(#wire::NullFirst<#marker>),
                _ => quote!(#wire::NullLast<#marker>),
            }
        }
        (_, [only]) => {
            let marker = inner(only);
            quote!(#wire::Single<#marker>)
        }
        _ => quote!(#wire::Null),
    }
}

/// The markers that skipping needs, and the types that it defines on the way: one per record and per wide union.
pub(super) struct Skips<'a> {
    schema: &'a Schema,
    records: Vec<(NameId, proc_macro2::Ident)>,
    unions: usize,
    /// The definitions.
    pub(super) items: TokenStream,
}

impl<'a> Skips<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Skips {
            schema,
            records: Vec::new(),
            unions: 0,
            items: TokenStream::new(),
        }
    }

    /// The marker that skips a value of `ty`.
    pub(super) fn marker(&mut self, ty: &Type) -> TokenStream {
        let wire = wire();
        match &ty.kind {
            Kind::Array(items) => {
                let items = self.marker(items);
                quote!(#wire::Array<#items>)
            }
            Kind::Map(values) => {
                let values = self.marker(values);
                quote!(#wire::Map<#values>)
            }
            Kind::Union(branches) if nullable(branches).is_some() || branches.len() == 1 => {
                union(branches, |branch| self.marker(branch))
            }
            Kind::Union(branches) => self.wide_union(branches),
            Kind::Named(id) => match &self.schema.named(*id).definition {
                Definition::Record(_) => self.record(*id),
                Definition::Enum { symbols, .. } => {
                    let symbols = symbols.len();
                    quote!(#wire::Enum<#symbols>)
                }
                Definition::Fixed { size, .. } => quote!(#wire::Fixed<#size>),
            },
            kind => plain(kind),
        }
    }

    fn record(&mut self, id: NameId) -> TokenStream {
        if let Some((_, name)) = self.records.iter().find(|(known, _)| *known == id) {
            return quote!(#name);
        }
        let name = format_ident!("__SpateSkip{}", self.records.len());
        self.records.push((id, name.clone()));
        let schema = self.schema;
        let markers: Vec<TokenStream> = schema
            .fields(id)
            .iter()
            .map(|field| self.marker(&field.ty))
            .collect();
        let names = schema.fields(id).iter().map(|field| &field.name);
        let (avro, wire, least) = (runtime(), wire(), schema.least(id));
        let steps = quote!(#(#avro::field(#names, <#markers as #wire::Skip>::skip(reader))?;)*);
        let steps = match schema.is_recursive(id) {
            true => quote!(reader.enter()?; #steps reader.leave();),
            false => steps,
        };
        self.items.extend(quote! {
            struct #name;
            impl #wire::Skip for #name {
                const MIN: usize = #least;
                fn skip(reader: &mut #avro::Reader<'_>) -> ::core::result::Result<(), #avro::AvroError> {
                    #steps
                    ::core::result::Result::Ok(())
                }
            }
        });
        quote!(#name)
    }

    fn wide_union(&mut self, branches: &[Type]) -> TokenStream {
        let name = format_ident!("__SpateUnion{}", self.unions);
        self.unions += 1;
        let count = branches.len();
        let markers: Vec<TokenStream> = branches.iter().map(|branch| self.marker(branch)).collect();
        let numbers = 0..count;
        let (avro, wire) = (runtime(), wire());
        self.items.extend(quote! {
            struct #name;
            impl #wire::Skip for #name {
                const MIN: usize = 1;
                fn skip(reader: &mut #avro::Reader<'_>) -> ::core::result::Result<(), #avro::AvroError> {
                    match reader.branch(#count)? {
                        #(#numbers => <#markers as #wire::Skip>::skip(reader),)*
                        _ => ::core::result::Result::Ok(()),
                    }
                }
            }
        });
        quote!(#name)
    }
}
