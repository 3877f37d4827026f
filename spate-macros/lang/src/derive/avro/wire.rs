//! Avro types as marker types of `spate-avro`: one spelling for fields that are kept, one for those that are skipped.

use proc_macro2::{Ident, TokenStream};
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

/// What another derive reads in a value: its fingerprint has to be the one that is expected here.
pub(super) enum Inside<'a> {
    /// A record or an enum.
    Named(NameId),
    /// A union of several types.
    Union(&'a Type),
}

/// What another derive reads in a value that is kept.
pub(super) fn inside<'a>(schema: &Schema, ty: &'a Type) -> Option<Inside<'a>> {
    match &ty.kind {
        Kind::Array(inner) | Kind::Map(inner) => inside(schema, inner),
        Kind::Union(branches) => match (nullable(branches), branches.as_slice()) {
            (Some(inner), _) | (None, [inner]) => inside(schema, inner),
            _ => Some(Inside::Union(ty)),
        },
        Kind::Named(id) => match schema.named(*id).definition {
            Definition::Fixed { .. } => None,
            _ => Some(Inside::Named(*id)),
        },
        _ => None,
    }
}

/// The marker of a type without a name and without other types inside.
fn plain(ty: &Type) -> TokenStream {
    let wire = wire();
    match (&ty.kind, ty.logical) {
        (Kind::Bytes, Some(Logical::Decimal { precision, scale })) => {
            quote!(#wire::Decimal<#precision, #scale>)
        }
        (Kind::Bytes, Some(Logical::BigDecimal)) => quote!(#wire::BigDecimal),
        (Kind::String, Some(Logical::Uuid)) => quote!(#wire::Uuid),
        (Kind::Int, Some(Logical::Date)) => quote!(#wire::Date),
        (Kind::Int, Some(Logical::TimeMillis)) => quote!(#wire::TimeMillis),
        (Kind::Long, Some(Logical::TimeMicros)) => quote!(#wire::TimeMicros),
        (Kind::Long, Some(Logical::TimestampMillis)) => quote!(#wire::TimestampMillis),
        (Kind::Long, Some(Logical::TimestampMicros)) => quote!(#wire::TimestampMicros),
        (Kind::Long, Some(Logical::TimestampNanos)) => quote!(#wire::TimestampNanos),
        (Kind::Long, Some(Logical::LocalTimestampMillis)) => quote!(#wire::LocalTimestampMillis),
        (Kind::Long, Some(Logical::LocalTimestampMicros)) => quote!(#wire::LocalTimestampMicros),
        (Kind::Long, Some(Logical::LocalTimestampNanos)) => quote!(#wire::LocalTimestampNanos),
        (Kind::Boolean, _) => quote!(#wire::Boolean),
        (Kind::Int, _) => quote!(#wire::Int),
        (Kind::Long, _) => quote!(#wire::Long),
        (Kind::Float, _) => quote!(#wire::Float),
        (Kind::Double, _) => quote!(#wire::Double),
        (Kind::Bytes, _) => quote!(#wire::Bytes),
        (Kind::String, _) => quote!(#wire::Str),
        _ => quote!(#wire::Null),
    }
}

fn fixed(size: usize, logical: Option<Logical>) -> TokenStream {
    let wire = wire();
    match logical {
        Some(Logical::Decimal { precision, scale }) => {
            quote!(#wire::DecimalFixed<#size, #precision, #scale>)
        }
        Some(Logical::Uuid) => quote!(#wire::UuidFixed),
        Some(Logical::Duration) => quote!(#wire::Duration),
        _ => quote!(#wire::Fixed<#size>),
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

/// The markers of a schema's types, and what they define on the way: one type for each enum, and for what is passed over one for
/// each record and each union of several types.
pub(super) struct Markers<'a> {
    schema: &'a Schema,
    records: Vec<(NameId, Ident)>,
    enums: Vec<(NameId, Ident)>,
    unions: usize,
    /// The definitions.
    pub(super) items: TokenStream,
}

impl<'a> Markers<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Markers {
            schema,
            records: Vec::new(),
            enums: Vec::new(),
            unions: 0,
            items: TokenStream::new(),
        }
    }

    /// The marker of a value that is kept: what the Rust type implements `FromAvro` for.
    pub(super) fn kept(&mut self, ty: &Type) -> TokenStream {
        let wire = wire();
        match &ty.kind {
            Kind::Array(items) => {
                let items = self.kept(items);
                quote!(#wire::Array<#items>)
            }
            Kind::Map(values) => {
                let values = self.kept(values);
                quote!(#wire::Map<#values>)
            }
            Kind::Union(branches) if nullable(branches).is_some() || branches.len() == 1 => {
                union(branches, |branch| self.kept(branch))
            }
            Kind::Union(_) => quote!(#wire::Union),
            Kind::Named(id) => match &self.schema.named(*id).definition {
                Definition::Record(_) => quote!(#wire::Record),
                Definition::Enum { symbols, .. } => self.symbols(*id, symbols),
                Definition::Fixed { size, logical } => fixed(*size, *logical),
            },
            _ => plain(ty),
        }
    }

    /// The marker that passes over a value of `ty`.
    pub(super) fn skipped(&mut self, ty: &Type) -> TokenStream {
        let wire = wire();
        match &ty.kind {
            Kind::Array(items) => {
                let items = self.skipped(items);
                quote!(#wire::Array<#items>)
            }
            Kind::Map(values) => {
                let values = self.skipped(values);
                quote!(#wire::Map<#values>)
            }
            Kind::Union(branches) if nullable(branches).is_some() || branches.len() == 1 => {
                union(branches, |branch| self.skipped(branch))
            }
            Kind::Union(branches) => self.wide_union(branches),
            Kind::Named(id) => match &self.schema.named(*id).definition {
                Definition::Record(_) => self.record(*id),
                Definition::Enum { symbols, .. } => self.symbols(*id, symbols),
                Definition::Fixed { size, logical } => fixed(*size, *logical),
            },
            _ => plain(ty),
        }
    }

    fn symbols(&mut self, id: NameId, symbols: &[String]) -> TokenStream {
        let wire = wire();
        if let Some((_, name)) = self.enums.iter().find(|(known, _)| *known == id) {
            return quote!(#wire::Enum<#name>);
        }
        // Rustc names it where a type does not fit.
        let short = self.schema.named(id).short();
        let taken = |name: &Ident| self.enums.iter().any(|(_, other)| other == name);
        let mut name = format_ident!("__{short}");
        while taken(&name) {
            name = format_ident!("{name}_");
        }
        self.enums.push((id, name.clone()));
        self.items.extend(quote! {
            struct #name;
            impl #wire::Symbols for #name {
                const SYMBOLS: &'static [&'static str] = &[#(#symbols),*];
            }
        });
        quote!(#wire::Enum<#name>)
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
            .map(|field| self.skipped(&field.ty))
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
        let markers: Vec<TokenStream> =
            branches.iter().map(|branch| self.skipped(branch)).collect();
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
