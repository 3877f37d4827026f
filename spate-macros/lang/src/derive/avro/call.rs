//! The call of `avro_schema!`: the file and what else is said of it.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token};

use crate::derive::compat::{Compat, files};
use crate::derive::input::unknown;

/// What stands in the call.
pub(super) struct Call {
    /// The facade's path, put in front by its macro.
    pub(super) root: TokenStream,
    pub(super) file: LitStr,
    pub(super) with: Vec<LitStr>,
    pub(super) compat: Vec<Compat>,
    pub(super) owned: bool,
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let root;
        syn::bracketed!(root in input);
        let (root, file) = (root.parse()?, input.parse()?);
        let (mut with, mut compat, mut owned) = (Vec::new(), Vec::new(), false);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let option: Ident = input.parse()?;
            if option == "owned" && !owned {
                owned = true;
            } else if option == "with" && with.is_empty() {
                input.parse::<Token![=]>()?;
                with = files(input)?;
            } else if option == "compat" && compat.is_empty() {
                input.parse::<Token![=]>()?;
                compat = Compat::list(input)?;
            } else if option == "owned" || option == "with" || option == "compat" {
                let text = "this option is given twice";
                return Err(syn::Error::new(option.span(), text));
            } else {
                let path = option.clone().into();
                let text = unknown(&path, &["with", "compat", "owned"]);
                return Err(syn::Error::new(option.span(), text));
            }
        }
        Ok(Call {
            root,
            file,
            with,
            compat,
            owned,
        })
    }
}
