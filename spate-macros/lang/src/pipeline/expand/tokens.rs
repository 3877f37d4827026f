//! Tokens of generated code and where rustc's errors about them go.
//!
//! Each is `mixed_site`, so that generated variables and the user's never meet, and located at the token that stands for
//! its stage: without that, rustc underlines the whole macro call.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

/// The span of generated tokens that belong to the stage at `place`.
pub(super) fn at(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// The path of the facade, moved to whichever stage uses it.
#[derive(Clone, Copy)]
pub(super) struct Root<'a>(pub(super) &'a TokenStream);

impl Root<'_> {
    /// The facade itself, the received tokens relocated: they resolve wherever they stand.
    pub(super) fn facade(self, place: Span) -> TokenStream {
        let relocated = self.0.clone().into_iter().map(|mut token| {
            token.set_span(token.span().located_at(place));
            token
        });
        relocated.collect()
    }

    /// Something that the facade keeps for generated code: `stage::map`.
    pub(super) fn private(self, path: &str, place: Span) -> TokenStream {
        let (facade, span) = (self.facade(place), at(place));
        let segments = path.split("::").map(|segment| Ident::new(segment, span));
        quote_spanned!(span=> #facade::__private #(::#segments)*)
    }
}

/// Rust text of our own as tokens at a stage.
pub(super) fn code(text: &str, place: Span) -> TokenStream {
    fn relocate(stream: TokenStream, span: Span) -> TokenStream {
        let relocated = stream.into_iter().map(|token| {
            let mut token = match token {
                TokenTree::Group(group) => TokenTree::Group(Group::new(
                    group.delimiter(),
                    relocate(group.stream(), span),
                )),
                other => other,
            };
            token.set_span(span);
            token
        });
        relocated.collect()
    }
    let stream: TokenStream = text.parse().unwrap_or_else(|_| text.to_token_stream());
    relocate(stream, at(place))
}
