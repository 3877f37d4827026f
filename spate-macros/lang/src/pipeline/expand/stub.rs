//! What stands for a pipeline with errors: the same signature and a body that cannot be reached, so that one mistake in a
//! pipeline is not followed by one at each of its callers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::pipeline::ast::{Bad, Head};

/// A function with the pipeline's signature, or an expression of its type.
pub(super) fn pipeline(head: &Head, root: &TokenStream) -> TokenStream {
    let Head {
        attrs,
        vis,
        name,
        params,
    } = head;
    let params = params.iter().enumerate().map(|(n, param)| match param {
        Ok(param) => param.tokens.clone(),
        // Any argument will do for a parameter that could not be read.
        Err(Bad) => {
            let name = Ident::new(&format!("__param{n}"), Span::mixed_site());
            quote!(#name: impl ::core::marker::Sized)
        }
    });
    let text = "a pipeline with compile errors never runs";
    match name {
        Some(name) => quote! {
            #attrs
            #[allow(unused_variables)]
            #vis fn #name(#(#params),*) -> #root::Pipeline { ::core::unreachable!(#text) }
        },
        None => quote! {
            fn stub() -> #root::Pipeline { ::core::unreachable!(#text) }
            stub()
        },
    }
}
