//! `avro_schema!`: the types of a schema file as Rust types, with the derives that a user would write.
//!
//! It decides names and Rust types and nothing else: each type gets `AvroRecord`, `AvroEnum` or `AvroUnion` with the attributes that
//! lead back to its place in the file, so there is one decoder for a schema whoever declares its types.

use std::collections::HashMap;
use std::path::Path;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::call::Call;
use super::compat::{self, Files};
use super::matching::nullable;
use super::naming::{camel, names, unique};
use super::schema;
use super::unions::branch_name;
use crate::avro::{Definition, Field, Kind, Logical, NameId, Schema, Type};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// Expands the macro; `dir` is the directory that schema paths are relative to.
pub fn expand(tokens: TokenStream, dir: &Path) -> TokenStream {
    let mut errors = Errors::new();
    let call: Call = match syn::parse2(tokens) {
        Ok(call) => call,
        Err(error) => {
            let help = "write `avro_schema!(\"path/from/Cargo.toml\")`";
            errors.push(Diagnostic::new(Code::SchemaMacro, error.span(), error).help(help));
            return errors.finish();
        }
    };
    let file = Some(call.file.clone());
    let items = schema(&file, &call.with, dir, &mut errors).map(|(schema, span)| {
        let files = Files {
            dir,
            with: &call.with,
        };
        let reader = compat::Reader::top(&schema, span);
        let tracked = compat::check(&call.compat, &files, &reader, &mut errors);
        let items = Generator::new(&call, &schema).items(&mut errors);
        quote!(#items #tracked)
    });
    let errors = errors.finish();
    quote!(#errors #items)
}

struct Generator<'s> {
    call: &'s Call,
    schema: &'s Schema,
    span: Span,
    /// The Rust name of each named type, in their order.
    names: Vec<String>,
    /// Which of them borrow.
    borrow: Vec<bool>,
    /// The unions that have been given a type: canonical form and name.
    unions: HashMap<String, String>,
    /// Inside of a branch: how a derive finds it, and what a union in it is called.
    around: Option<(String, String)>,
    items: TokenStream,
}

impl<'s> Generator<'s> {
    fn new(call: &'s Call, schema: &'s Schema) -> Self {
        let mut generator = Generator {
            call,
            schema,
            span: call.file.span(),
            names: names(schema),
            borrow: vec![false; schema.all().count()],
            unions: HashMap::new(),
            around: None,
            items: TokenStream::new(),
        };
        // Until nothing changes: a record borrows if a field does, and it may be its own.
        loop {
            let found: Vec<bool> = schema
                .all()
                .map(|(id, _)| {
                    let mut fields = schema.fields(id).iter();
                    fields.any(|field| generator.borrows(&field.ty))
                })
                .collect();
            if found == generator.borrow {
                return generator;
            }
            generator.borrow = found;
        }
    }

    /// The name as it is, or with a `_` behind it where it is a keyword.
    fn ident(&self, name: &str) -> Ident {
        match syn::parse_str::<Ident>(name) {
            Ok(_) => Ident::new(name, self.span),
            Err(_) => Ident::new(&format!("{name}_"), self.span),
        }
    }

    fn name(&self, id: NameId) -> &str {
        let position = self.schema.all().position(|(other, _)| other == id);
        position.map_or("", |position| &self.names[position])
    }

    /// Whether the Rust type of a type has the payload's lifetime.
    fn borrows(&self, ty: &Type) -> bool {
        if self.call.owned {
            return false;
        }
        match &ty.kind {
            Kind::String => ty.logical.is_none(),
            Kind::Bytes => ty.logical.is_none(),
            Kind::Map(_) => true,
            Kind::Array(items) => is_item(self.schema, items) || self.borrows(items),
            Kind::Union(branches) => branches.iter().any(|branch| self.borrows(branch)),
            Kind::Named(id) => {
                let position = self.schema.all().position(|(other, _)| other == *id);
                position.is_some_and(|position| self.borrow[position])
            }
            _ => false,
        }
    }

    fn items(mut self, errors: &mut Errors) -> TokenStream {
        let schema = self.schema;
        for (id, named) in schema.all() {
            // Those of other files are generated from those files.
            if named.file.written() != schema.file().written() {
                continue;
            }
            match &named.definition {
                Definition::Record(fields) => self.record(id, fields, errors),
                Definition::Enum { symbols, .. } => self.enumeration(id, symbols),
                Definition::Fixed { .. } => {}
            }
        }
        if let Kind::Union(branches) = &schema.root().kind
            && nullable(branches).is_none()
            && branches.len() != 1
        {
            let stem = Path::new(schema.file().written()).file_stem();
            let name = camel(&stem.unwrap_or_default().to_string_lossy());
            self.union(schema.root(), None, &name, None, errors);
        }
        if self.items.is_empty() && !errors.has() {
            let message = format!("`{}` defines no type", schema.file().written());
            errors.push(Diagnostic::new(Code::SchemaRecord, self.span, message));
        }
        self.items
    }

    /// The attribute that leads a derive to its part of the file.
    fn attribute(&self, part: TokenStream) -> TokenStream {
        let Call {
            root, file, with, ..
        } = self.call;
        let with = (!with.is_empty()).then(|| quote!(with = [#(#with),*],));
        quote!(#[avro(schema = #file, #with #part crate = #root)])
    }

    fn record(&mut self, id: NameId, fields: &[Field], errors: &mut Errors) {
        let (root, named) = (&self.call.root, self.schema.named(id));
        let full = &named.name;
        let ident = self.ident(self.name(id));
        let lifetime = self.lifetime(self.borrows(&Type::of(id)));
        let attribute = self.attribute(quote!(record = #full,));
        let doc = self.doc(&named.doc, format!("The record `{full}`."));
        let mut members = TokenStream::new();
        let mut whole = true;
        for field in fields {
            let Some(ty) = self.rust(&field.ty, &Place { record: id, field }, errors) else {
                whole = false;
                continue;
            };
            let doc = self.doc(&field.doc, format!("{}.", self.schema.describe(&field.ty)));
            let (name, rename) = self.member(&field.name, fields);
            members.extend(quote!(#doc #rename pub #name: #ty,));
        }
        if !whole {
            // Reported; its name stays, so that whoever uses it is not wrong as well.
            let held = lifetime
                .is_some()
                .then(|| quote!((::core::marker::PhantomData<&'a ()>)));
            self.items.extend(quote! {
                #[allow(dead_code, non_camel_case_types)]
                pub struct #ident #lifetime #held;
            });
            return;
        }
        self.items.extend(quote! {
            #doc
            #[derive(#root::AvroRecord, ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            #attribute
            #[allow(dead_code, non_snake_case, non_camel_case_types)]
            pub struct #ident #lifetime { #members }
        });
    }

    fn enumeration(&mut self, id: NameId, symbols: &[String]) {
        let (root, named) = (&self.call.root, self.schema.named(id));
        let full = &named.name;
        let ident = self.ident(self.name(id));
        let attribute = self.attribute(quote!(name = #full,));
        let doc = self.doc(&named.doc, format!("The enum `{full}`."));
        let spelt = symbols.iter().map(|symbol| camel(symbol)).collect();
        let variants = unique(spelt, symbols.to_vec());
        let variants = symbols.iter().zip(&variants).map(|(symbol, variant)| {
            let (variant, doc) = (self.ident(variant), format!("`{symbol}`."));
            quote!(#[doc = #doc] #[avro(rename = #symbol)] #variant,)
        });
        let variants: TokenStream = variants.collect();
        self.items.extend(quote! {
            #doc
            #[derive(
                #root::AvroEnum, ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::hash::Hash
            )]
            #attribute
            #[allow(dead_code, non_camel_case_types)]
            pub enum #ident { #variants }
        });
    }

    /// The type of a union of several types: the one that an equal union has, or a new one.
    fn union(
        &mut self,
        ty: &Type,
        field: Option<String>,
        name: &str,
        place: Option<&Place<'_>>,
        errors: &mut Errors,
    ) -> Option<TokenStream> {
        let Kind::Union(branches) = &ty.kind else {
            return None;
        };
        let lifetime = self.lifetime(self.borrows(ty));
        let canonical = self.schema.canonical_of(ty);
        if let Some(known) = self.unions.get(&canonical) {
            let ident = self.ident(known);
            return Some(quote!(#ident #lifetime));
        }
        let root = &self.call.root;
        let attribute = self.attribute(match &field {
            Some(field) => quote!(field = #field,),
            None => TokenStream::new(),
        });
        let written: Vec<&str> = branches
            .iter()
            .map(|branch| branch_name(self.schema, branch))
            .collect();
        let names = |spell: fn(&str) -> String| written.iter().map(|name| spell(name)).collect();
        let variants = unique(names(camel), names(str::to_owned));
        let mut members = TokenStream::new();
        for ((branch, written), variant) in branches.iter().zip(&written).zip(&variants) {
            let (variant, doc) = (
                self.ident(variant),
                format!("{}.", self.schema.describe(branch)),
            );
            let held = match branch.kind {
                Kind::Null => TokenStream::new(),
                _ => {
                    let path = format!("{}/{written}", field.as_deref().unwrap_or_default());
                    let inside = (path, format!("{name}{}", camel(written)));
                    let around = self.around.replace(inside);
                    let held = match place {
                        Some(place) => self.rust(branch, place, errors),
                        None => self.plain(branch, None, None, errors),
                    };
                    self.around = around;
                    let held = held?;
                    quote!((#held))
                }
            };
            members.extend(quote!(#[doc = #doc] #[avro(branch = #written)] #variant #held,));
        }
        let mut name = name.to_owned();
        while self.names.contains(&name) || self.unions.values().any(|other| *other == name) {
            name.push('_');
        }
        let ident = self.ident(&name);
        self.unions.insert(canonical, name);
        let doc = format!("The {}.", self.schema.describe(ty));
        self.items.extend(quote! {
            #[doc = #doc]
            #[derive(#root::AvroUnion, ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            #attribute
            #[allow(dead_code, non_camel_case_types)]
            pub enum #ident #lifetime { #members }
        });
        Some(quote!(#ident #lifetime))
    }

    fn rust(&mut self, ty: &Type, place: &Place<'_>, errors: &mut Errors) -> Option<TokenStream> {
        self.plain(ty, Some(place.record), Some(place.field), errors)
    }

    /// The Rust type of a type in a field of a record, or at the top of the file.
    fn plain(
        &mut self,
        ty: &Type,
        record: Option<NameId>,
        field: Option<&Field>,
        errors: &mut Errors,
    ) -> Option<TokenStream> {
        let root = self.call.root.clone();
        let avro = quote!(#root::avro);
        if let Some(name) = logical(self.schema, ty) {
            return Some(quote!(#avro::#name));
        }
        let owned = self.call.owned;
        Some(match &ty.kind {
            Kind::Null => quote!(()),
            Kind::Boolean => quote!(bool),
            Kind::Int => quote!(i32),
            Kind::Long => quote!(i64),
            Kind::Float => quote!(f32),
            Kind::Double => quote!(f64),
            Kind::Bytes if owned => quote!(::std::vec::Vec<u8>),
            Kind::Bytes => quote!(&'a [u8]),
            Kind::String if owned => quote!(::std::string::String),
            Kind::String => quote!(&'a str),
            Kind::Array(items) => {
                let held = self.plain(items, None, field, errors)?;
                self.list(items, held)
            }
            Kind::Map(values) => {
                let held = self.plain(values, None, field, errors)?;
                let key = if owned {
                    quote!(::std::string::String)
                } else {
                    quote!(&'a str)
                };
                self.list(values, quote!((#key, #held)))
            }
            Kind::Union(branches) => match (nullable(branches), branches.as_slice()) {
                (Some(inner), _) => {
                    let inner = self.plain(inner, record, field, errors)?;
                    quote!(::core::option::Option<#inner>)
                }
                (None, [only]) => self.plain(only, record, field, errors)?,
                _ => {
                    let place = self.owner(field).zip(field);
                    let place = place.map(|(record, field)| Place { record, field });
                    let (path, name) = match (&self.around, &place) {
                        (Some(around), _) => around.clone(),
                        (None, Some(Place { record, field })) => (
                            format!("{}.{}", self.schema.named(*record).name, field.name),
                            format!("{}{}", self.name(*record), camel(&field.name)),
                        ),
                        (None, None) => return None,
                    };
                    self.union(ty, Some(path), &name, place.as_ref(), errors)?
                }
            },
            Kind::Named(id) => match &self.schema.named(*id).definition {
                Definition::Fixed { size, .. } => quote!([u8; #size]),
                _ => {
                    let ident = self.ident(self.name(*id));
                    let lifetime = self.lifetime(self.borrows(ty));
                    match record {
                        Some(record) if self.schema.reaches(*id, record) => {
                            quote!(::std::boxed::Box<#ident #lifetime>)
                        }
                        _ => quote!(#ident #lifetime),
                    }
                }
            },
        })
    }

    /// The record that has the field.
    fn owner(&self, field: Option<&Field>) -> Option<NameId> {
        let field = field?;
        let mut records = self.schema.records();
        records.find_map(|(id, _)| {
            let mut fields = self.schema.fields(id).iter();
            fields.any(|other| std::ptr::eq(other, field)).then_some(id)
        })
    }

    fn list(&self, items: &Type, held: TokenStream) -> TokenStream {
        let root = &self.call.root;
        match is_item(self.schema, items) && !self.call.owned {
            true => quote!(#root::avro::Seq<'a, #held>),
            false => quote!(::std::vec::Vec<#held>),
        }
    }

    fn lifetime(&self, borrows: bool) -> Option<TokenStream> {
        borrows.then(|| quote!(<'a>))
    }

    fn doc(&self, written: &Option<String>, otherwise: String) -> TokenStream {
        let text = written.clone().unwrap_or(otherwise);
        quote!(#[doc = #text])
    }

    /// A field's name as Rust has it, and the attribute with its own where that is another.
    fn member(&self, name: &str, fields: &[Field]) -> (Ident, Option<TokenStream>) {
        if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
            ident.set_span(self.span);
            return (ident, None);
        }
        // A keyword. Some of them, and `_`, are no names even so.
        if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
            let mut other = format!("{name}_");
            while fields.iter().any(|field| field.name == other) {
                other.push('_');
            }
            let rename = quote!(#[avro(rename = #name)]);
            return (Ident::new(&other, self.span), Some(rename));
        }
        (Ident::new_raw(name, self.span), None)
    }
}

/// A field and its record.
struct Place<'s> {
    record: NameId,
    field: &'s Field,
}

/// The type of ours that a logical type is read into.
fn logical(schema: &Schema, ty: &Type) -> Option<TokenStream> {
    let logical = match &ty.kind {
        Kind::Named(id) => match schema.named(*id).definition {
            Definition::Fixed { logical, .. } => logical,
            _ => None,
        },
        _ => ty.logical,
    };
    Some(match logical? {
        Logical::Decimal { scale, .. } => quote!(Decimal<#scale>),
        Logical::BigDecimal => quote!(BigDecimal),
        Logical::Uuid => quote!(Uuid),
        Logical::Date => quote!(Date),
        Logical::TimeMillis => quote!(TimeMillis),
        Logical::TimeMicros => quote!(TimeMicros),
        Logical::TimestampMillis => quote!(TimestampMillis),
        Logical::TimestampMicros => quote!(TimestampMicros),
        Logical::TimestampNanos => quote!(TimestampNanos),
        Logical::LocalTimestampMillis => quote!(LocalTimestampMillis),
        Logical::LocalTimestampMicros => quote!(LocalTimestampMicros),
        Logical::LocalTimestampNanos => quote!(LocalTimestampNanos),
        Logical::Duration => quote!(Duration),
    })
}

/// Whether a `Seq` holds values of a type.
fn is_item(schema: &Schema, ty: &Type) -> bool {
    let logical = match &ty.kind {
        Kind::Array(_) | Kind::Map(_) => return false,
        Kind::Union(branches) => return nullable(branches).is_none() && branches.len() != 1,
        Kind::Named(id) => match schema.named(*id).definition {
            Definition::Fixed { logical, .. } => logical,
            _ => None,
        },
        _ => ty.logical,
    };
    !matches!(logical, Some(Logical::Decimal { .. } | Logical::Uuid))
}
