//! Tokens of generated code and where rustc's errors about them go.
//!
//! Each is as hygienic as the facade's `$crate`, so generated variables and the user's never meet, and is located at the
//! token that stands for its stage: without that, rustc underlines the whole macro call. All have the one hygiene: rustc
//! cannot join spans of two, and underlines the whole call again.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The path of the facade, moved to whichever stage uses it.
#[derive(Clone, Copy)]
pub(super) struct Root<'a> {
    tokens: &'a TokenStream,
    span: Span,
}

impl<'a> Root<'a> {
    pub(super) fn new(tokens: &'a TokenStream) -> Self {
        let first = tokens.clone().into_iter().next();
        Root {
            tokens,
            span: first.map_or_else(Span::mixed_site, |token| token.span()),
        }
    }

    /// The span of generated tokens that belong to the stage at `place`.
    pub(super) fn at(self, place: Span) -> Span {
        self.span.located_at(place)
    }

    /// The facade itself, the received tokens relocated: they resolve wherever they stand.
    pub(super) fn facade(self, place: Span) -> TokenStream {
        relocate(self.tokens.clone(), self.at(place))
    }

    /// Something that the facade keeps for generated code: `stage::map`. Written token by token: it is in every stage.
    pub(super) fn private(self, path: &str, place: Span) -> TokenStream {
        let span = self.at(place);
        let mut tokens: Vec<TokenTree> = Vec::with_capacity(12);
        tokens.extend(self.facade(place));
        for segment in ["__private"].into_iter().chain(path.split("::")) {
            for spacing in [Spacing::Joint, Spacing::Alone] {
                let mut colon = Punct::new(':', spacing);
                colon.set_span(span);
                tokens.push(colon.into());
            }
            tokens.push(Ident::new(segment, span).into());
        }
        tokens.into_iter().collect()
    }

    /// Rust text of our own as tokens at a stage.
    pub(super) fn code(self, text: &str, place: Span) -> TokenStream {
        let stream: TokenStream = text.parse().unwrap_or_else(|_| text.to_token_stream());
        relocate(stream, self.at(place))
    }
}

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
