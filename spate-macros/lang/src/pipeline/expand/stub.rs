//! What stands for a pipeline with errors: the same signature and a body that cannot be reached, so that one mistake in a
//! pipeline is not followed by one at each of its callers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::tokens::Root;
use crate::pipeline::ast::{Bad, Head};

/// A function with the pipeline's signature, or an expression of its type.
pub(super) fn pipeline(head: &Head, root: Root<'_>) -> TokenStream {
    let (attrs, vis) = (&head.attrs, &head.vis);
    let place = head.name.as_ref().map_or_else(Span::call_site, Ident::span);
    let (span, facade) = (root.at(place), root.facade(place));
    let params = head
        .params
        .iter()
        .enumerate()
        .map(|(n, param)| match param {
            Ok(param) => param.tokens.clone(),
            // Any argument will do for a parameter that could not be read.
            Err(Bad) => {
                let name = Ident::new(&format!("__param{n}"), span);
                quote_spanned!(span=> #name: impl ::core::marker::Sized)
            }
        });
    let text = "a pipeline with compile errors never runs";
    match &head.name {
        Some(name) => quote_spanned! {span=>
            #attrs
            #[allow(unused_variables)]
            #vis fn #name(#(#params),*) -> #facade::Pipeline { ::core::unreachable!(#text) }
        },
        None => quote_spanned! {span=>
            fn stub() -> #facade::Pipeline { ::core::unreachable!(#text) }
            stub()
        },
    }
}
