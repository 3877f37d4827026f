//! What both derives read from a struct: its fields, the lifetime it may have, and the options of its attribute.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, Data, DeriveInput, Fields, GenericArgument, GenericParam, Generics, Ident, LitStr,
    Path, PathArguments, Type,
};

use super::compat::{Compat, files};
use crate::diagnostic::{Code, Diagnostic, Errors, list, suggest};
use crate::nesting;

/// The words of one derive.
pub(super) struct Words {
    /// The attribute: `avro`.
    pub(super) attribute: &'static str,
    /// The derive: `AvroRecord`.
    pub(super) derive: &'static str,
    /// The option that names the file: `schema`.
    pub(super) file: &'static str,
    /// The option that names the part of the file: `record`.
    pub(super) part: &'static str,
    /// Whether there may be further files whose parts it uses: `with`.
    pub(super) with: bool,
    /// Whether files of writers are compared with it, `compat`; or why not, empty where the word means nothing.
    pub(super) compat: Result<(), &'static str>,
    /// The code for a struct or an attribute that is not understood.
    pub(super) shape: Code,
}

/// A struct with its options.
pub(super) struct Input {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) fields: Vec<Field>,
    /// The facade's path.
    pub(super) root: TokenStream,
    pub(super) file: Option<LitStr>,
    pub(super) with: Vec<LitStr>,
    pub(super) compat: Vec<Compat>,
    pub(super) part: Option<LitStr>,
    /// Whether a field borrows without a lifetime: rustc says so, and would say it again for every copy of the type.
    pub(super) elided: bool,
}

/// A field of the struct.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// Its name in the file.
    pub(super) name: String,
    /// The token that gives the name: the identifier or the text of `rename`.
    pub(super) name_span: Span,
}

impl Input {
    /// Reads the struct. What is wrong with it goes to `errors`; `None` if there is nothing to implement for.
    pub(super) fn parse(tokens: TokenStream, words: &Words, errors: &mut Errors) -> Option<Input> {
        let derive = item(tokens, words, errors)?;
        let mut options = Options::default();
        for attribute in mine(&derive.attrs, words) {
            options.read(attribute, words, errors);
        }
        let fields = match derive.data {
            Data::Struct(data) => match data.fields {
                Fields::Named(named) => named
                    .named
                    .into_iter()
                    .filter_map(|field| Field::read(field, words, errors))
                    .collect(),
                _ => {
                    errors.push(Diagnostic::new(
                        words.shape,
                        derive.ident.span(),
                        format!("`{}` needs a struct with named fields", words.derive),
                    ));
                    Vec::new()
                }
            },
            _ => {
                let message = format!("`{}` is derived for a struct", words.derive);
                let diagnostic = Diagnostic::new(words.shape, derive.ident.span(), message);
                errors.push(match words.with {
                    true => diagnostic.help(
                        "an enum is read from an Avro enum with `AvroEnum`, from a union with `AvroUnion`",
                    ),
                    false => diagnostic,
                });
                Vec::new()
            }
        };
        for parameter in &derive.generics.params {
            if !matches!(parameter, GenericParam::Lifetime(_)) {
                let message = format!(
                    "`{}` needs types that are known: a struct without type parameters",
                    words.derive
                );
                errors.push(Diagnostic::spanned(words.shape, parameter, message));
            }
        }
        if !errors.has() {
            options.needs_file(&derive.ident, words, errors);
        }
        let elided = fields.iter().any(|field| elides(&field.ty));
        let root = options.root();
        let (file, with, part) = (options.file, options.with, options.part);
        Some(Input {
            ident: derive.ident,
            generics: derive.generics,
            fields,
            root,
            file,
            with,
            compat: options.compat,
            part,
            elided,
        })
    }
}

/// The item that a derive stands at; `None`, and an error, for one that nests too deep to be read.
pub(super) fn item(tokens: TokenStream, words: &Words, errors: &mut Errors) -> Option<DeriveInput> {
    if let Some(span) = nesting::too_deep(tokens.clone(), false) {
        errors.push(Diagnostic::new(words.shape, span, nesting::message()));
        return None;
    }
    match syn::parse2(tokens) {
        Ok(derive) => Some(derive),
        Err(error) => {
            errors.push(Diagnostic::new(words.shape, error.span(), error));
            None
        }
    }
}

/// Whether a type borrows without saying for how long, which rustc refuses in a struct (E0106).
pub(super) fn elides(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.lifetime.is_none() || elides(&reference.elem),
        Type::Path(path) => path.path.segments.iter().any(|segment| {
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                return false;
            };
            arguments
                .args
                .iter()
                .any(|argument| matches!(argument, GenericArgument::Type(ty) if elides(ty)))
        }),
        Type::Tuple(tuple) => tuple.elems.iter().any(elides),
        Type::Array(array) => elides(&array.elem),
        Type::Slice(slice) => elides(&slice.elem),
        Type::Group(group) => elides(&group.elem),
        Type::Paren(paren) => elides(&paren.elem),
        _ => false,
    }
}

pub(super) fn mine<'a>(
    attributes: &'a [Attribute],
    words: &Words,
) -> impl Iterator<Item = &'a Attribute> {
    let name = words.attribute;
    attributes
        .iter()
        .filter(move |attribute| attribute.path().is_ident(name))
}

/// What an attribute on the whole says.
#[derive(Default)]
pub(super) struct Options {
    pub(super) file: Option<LitStr>,
    pub(super) with: Vec<LitStr>,
    pub(super) compat: Vec<Compat>,
    pub(super) part: Option<LitStr>,
    root: Option<Path>,
}

impl Options {
    /// The facade's path.
    pub(super) fn root(&self) -> TokenStream {
        match &self.root {
            Some(path) => path.to_token_stream(),
            None => quote!(::spate),
        }
    }

    /// Reports that no file is named.
    pub(super) fn needs_file(&self, ident: &Ident, words: &Words, errors: &mut Errors) {
        if self.file.is_some() {
            return;
        }
        let (attribute, file) = (words.attribute, words.file);
        let message = format!("which {file} is `{ident}` of?");
        let help =
            format!("write `#[{attribute}({file} = \"path/from/Cargo.toml\")]` below the derive");
        errors.push(Diagnostic::new(words.shape, ident.span(), message).help(help));
    }

    pub(super) fn read(&mut self, attribute: &Attribute, words: &Words, errors: &mut Errors) {
        let (mut told, mut compat) = (false, false);
        let result = attribute.parse_nested_meta(|meta| {
            let mut problem = |text: String| {
                told = true;
                Err(meta.error(text))
            };
            let there = match &meta.path {
                path if path.is_ident(words.file) => self.file.is_some(),
                path if path.is_ident(words.part) => self.part.is_some(),
                path if path.is_ident("crate") => self.root.is_some(),
                path if words.with && path.is_ident("with") => !self.with.is_empty(),
                path if path.is_ident("compat") && words.compat != Err("") => {
                    if let Err(why) = words.compat {
                        return problem(why.to_owned());
                    }
                    !self.compat.is_empty()
                }
                path => {
                    let known: &[_] = match (words.with, words.compat) {
                        (true, Ok(())) => &[words.file, "with", "compat", words.part, "crate"],
                        (true, _) => &[words.file, "with", words.part, "crate"],
                        (false, _) => &[words.file, words.part, "crate"],
                    };
                    return problem(unknown(path, known));
                }
            };
            if there {
                return problem("this option is given twice".to_owned());
            }
            let value = meta.value()?;
            if meta.path.is_ident(words.file) {
                self.file = Some(value.parse()?);
            } else if meta.path.is_ident(words.part) {
                self.part = Some(value.parse()?);
            } else if meta.path.is_ident("with") {
                self.with = files(value)?;
            } else if meta.path.is_ident("compat") {
                compat = true;
                self.compat = Compat::list(value)?;
                compat = false;
            } else {
                self.root = Some(value.parse()?);
            }
            Ok(())
        });
        if let Err(error) = result {
            let diagnostic = Diagnostic::new(words.shape, error.span(), error);
            let help = match compat {
                true => Compat::HELP.to_owned(),
                false => format!(
                    "write `#[{}({} = \"path/from/Cargo.toml\")]`",
                    words.attribute, words.file
                ),
            };
            // The others are syn's, which does not know what should stand there.
            errors.push(if told {
                diagnostic
            } else {
                diagnostic.help(help)
            });
        }
    }
}

impl Field {
    fn read(field: syn::Field, words: &Words, errors: &mut Errors) -> Option<Field> {
        let ident = field.ident?;
        let mut rename: Option<LitStr> = None;
        for attribute in mine(&field.attrs, words) {
            let result = attribute.parse_nested_meta(|meta| match meta.path.is_ident("rename") {
                true if rename.is_some() => Err(meta.error("this option is given twice")),
                true => {
                    rename = Some(meta.value()?.parse()?);
                    Ok(())
                }
                false => Err(meta.error(unknown(&meta.path, &["rename"]))),
            });
            if let Err(error) = result {
                errors.push(Diagnostic::new(words.shape, error.span(), error));
            }
        }
        let (name, name_span) = match rename {
            Some(rename) => (rename.value(), rename.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        Some(Field {
            ident,
            ty: field.ty,
            name,
            name_span,
        })
    }
}

pub(super) fn unknown(path: &Path, known: &[&'static str]) -> String {
    let word = path.to_token_stream().to_string();
    match suggest(&word, known.iter().copied()) {
        Some(near) => format!("unknown option `{word}`; did you mean `{near}`?"),
        None => format!("unknown option `{word}`; there is {}", list(known, "and")),
    }
}

/// Advice for a name that is not among `known`: the near one, or all of them if they are few.
pub(super) fn did_you_mean(word: &str, known: &[&str], what: &str) -> String {
    /// More names than this help nobody.
    const FEW: usize = 12;
    match suggest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("{what} has none left"),
        None if known.len() <= FEW => format!("{what} has {}", list(known, "and")),
        None => format!(
            "{what} has {} and {} more",
            list(&known[..FEW], "and"),
            known.len() - FEW
        ),
    }
}
