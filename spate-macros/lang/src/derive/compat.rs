//! The option `compat`: the files of writers whose records have to be readable.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token};

/// A schema file of a writer, and those that have types which it uses.
pub(super) struct Compat {
    pub(super) file: LitStr,
    pub(super) with: Vec<LitStr>,
}

impl Compat {
    /// How it is written.
    pub(super) const HELP: &'static str = "write `compat = \"path\"` or `compat = [\"path\", ..]`; a path with the files that it needs is `(\"path\", with = [\"path\"])`";

    /// One, or a list of them.
    pub(super) fn list(input: ParseStream<'_>) -> syn::Result<Vec<Compat>> {
        if !input.peek(syn::token::Bracket) {
            return Ok(vec![input.parse()?]);
        }
        let list;
        let bracket = syn::bracketed!(list in input);
        let all = list.parse_terminated(Compat::parse, Token![,])?;
        match all.is_empty() {
            true => Err(syn::Error::new(
                bracket.span.join(),
                "`compat` names no file",
            )),
            false => Ok(all.into_iter().collect()),
        }
    }

    pub(super) fn span(&self) -> Span {
        self.file.span()
    }
}

/// `"file"`, or `("file", with = ["file"])`.
impl Parse for Compat {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            let (file, with) = (input.parse()?, Vec::new());
            return Ok(Compat { file, with });
        }
        let inside;
        syn::parenthesized!(inside in input);
        let file = inside.parse()?;
        inside.parse::<Token![,]>()?;
        let word: syn::Ident = inside.parse()?;
        if word != "with" {
            return Err(syn::Error::new(
                word.span(),
                "beside a file there is `with`",
            ));
        }
        inside.parse::<Token![=]>()?;
        let with = files(&inside)?;
        inside.parse::<Option<Token![,]>>()?;
        match inside.is_empty() {
            true => Ok(Compat { file, with }),
            false => Err(inside.error("unexpected token")),
        }
    }
}

/// A list of files.
pub(super) fn files(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    let list;
    syn::bracketed!(list in input);
    let files = list.parse_terminated(|file| file.parse(), Token![,])?;
    Ok(files.into_iter().collect())
}
