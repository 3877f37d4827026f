//! What `AvroEnum` and `AvroUnion` read from an enum: its variants and the options of its attribute.

use proc_macro2::{Span, TokenStream};
use syn::{Data, Fields, GenericParam, Generics, Ident, LitStr, Type};

use crate::derive::input::{Options, Words, elides, item, mine, unknown};
use crate::diagnostic::{Diagnostic, Errors};

/// An enum with its options.
pub(super) struct Input {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) variants: Vec<Variant>,
    /// The facade's path.
    pub(super) root: TokenStream,
    pub(super) file: Option<LitStr>,
    pub(super) with: Vec<LitStr>,
    pub(super) part: Option<LitStr>,
    /// Whether a variant borrows without a lifetime: rustc says so, and would say it again for every copy of the type.
    pub(super) elided: bool,
}

/// A variant.
pub(super) struct Variant {
    pub(super) ident: Ident,
    /// What it holds: nothing, or one value.
    pub(super) held: Option<Type>,
    /// What its attribute says that it stands for.
    pub(super) stands_for: Option<LitStr>,
}

impl Variant {
    /// The token that says what it stands for.
    pub(super) fn span(&self) -> Span {
        match &self.stands_for {
            Some(text) => text.span(),
            None => self.ident.span(),
        }
    }
}

impl Input {
    /// Reads the enum; variants have the option `option`. What is wrong with it goes to `errors`; `None` if there is nothing to
    /// implement for.
    pub(super) fn parse(
        tokens: TokenStream,
        words: &Words,
        option: &'static str,
        errors: &mut Errors,
    ) -> Option<Input> {
        let derive = item(tokens, words, errors)?;
        let mut options = Options::default();
        for attribute in mine(&derive.attrs, words) {
            options.read(attribute, words, errors);
        }
        let variants: Vec<Variant> = match derive.data {
            Data::Enum(data) => data
                .variants
                .into_iter()
                .filter_map(|variant| Variant::read(variant, words, option, errors))
                .collect(),
            _ => {
                let message = format!("`{}` is derived for an enum", words.derive);
                errors.push(
                    Diagnostic::new(words.shape, derive.ident.span(), message)
                        .help("a struct is read from a record with `AvroRecord`"),
                );
                Vec::new()
            }
        };
        for parameter in &derive.generics.params {
            if !matches!(parameter, GenericParam::Lifetime(_)) {
                let message = format!(
                    "`{}` needs types that are known: an enum without type parameters",
                    words.derive
                );
                errors.push(Diagnostic::spanned(words.shape, parameter, message));
            }
        }
        if !errors.has() {
            options.needs_file(&derive.ident, words, errors);
        }
        let held = variants.iter().filter_map(|variant| variant.held.as_ref());
        let elided = held.into_iter().any(elides);
        let root = options.root();
        let (file, with, part) = (options.file, options.with, options.part);
        Some(Input {
            ident: derive.ident,
            generics: derive.generics,
            variants,
            root,
            file,
            with,
            part,
            elided,
        })
    }
}

impl Variant {
    fn read(
        variant: syn::Variant,
        words: &Words,
        option: &'static str,
        errors: &mut Errors,
    ) -> Option<Variant> {
        let mut stands_for: Option<LitStr> = None;
        for attribute in mine(&variant.attrs, words) {
            let result = attribute.parse_nested_meta(|meta| match meta.path.is_ident(option) {
                true if stands_for.is_some() => Err(meta.error("this option is given twice")),
                true => {
                    stands_for = Some(meta.value()?.parse()?);
                    Ok(())
                }
                false => Err(meta.error(unknown(&meta.path, &[option]))),
            });
            if let Err(error) = result {
                errors.push(Diagnostic::new(words.shape, error.span(), error));
            }
        }
        let held = match variant.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.into_iter().next().map(|field| field.ty)
            }
            _ => {
                let message = format!("`{}` holds more than one value", variant.ident);
                let help = "a variant holds nothing or one value in parentheses";
                errors.push(Diagnostic::new(words.shape, variant.ident.span(), message).help(help));
                return None;
            }
        };
        Some(Variant {
            ident: variant.ident,
            held,
            stands_for,
        })
    }
}
