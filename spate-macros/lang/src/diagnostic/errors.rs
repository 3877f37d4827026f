//! The collector: every check pushes into it, and only [`Errors::finish`] empties it.

use std::fmt;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

use super::Code;

/// How many errors one macro call reports; what is beyond is counted in one line.
pub const LIMIT: usize = 20;

/// One finding: a code of the catalogue, the user's tokens that it is about, what is wrong, what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: Code,
    start: Span,
    end: Span,
    message: String,
    help: Option<String>,
}

impl Diagnostic {
    /// A finding at one token.
    pub fn new(code: Code, span: Span, message: impl fmt::Display) -> Self {
        Diagnostic {
            code,
            start: span,
            end: span,
            message: message.to_string(),
            help: None,
        }
    }

    /// A finding that underlines `tokens` from first to last. Without tokens, the whole macro call.
    pub fn spanned(code: Code, tokens: impl ToTokens, message: impl fmt::Display) -> Self {
        let mut spans = tokens
            .into_token_stream()
            .into_iter()
            .map(|token| token.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        let end = spans.last().unwrap_or(start);
        Diagnostic {
            end,
            ..Diagnostic::new(code, start, message)
        }
    }

    /// Something that belongs to a feature which is off.
    pub(crate) fn feature_off(span: Span, what: &str, feature: &str) -> Self {
        let message = format!("`{what}` needs the feature `{feature}`, which is off");
        let help =
            format!("turn it on in Cargo.toml: `spate = {{ .., features = [\"{feature}\"] }}`");
        Diagnostic::new(Code::FeatureOff, span, message).help(help)
    }

    /// Replaces the catalogue's advice by one for this case.
    #[must_use]
    pub fn help(mut self, help: impl fmt::Display) -> Self {
        self.help = Some(help.to_string());
        self
    }

    /// The code, one of the catalogue's.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Where the underlined tokens begin.
    pub fn span(&self) -> Span {
        self.start
    }

    /// What is wrong, in one line, without the code.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do: this case's advice, else the catalogue's. Empty when the message says it all.
    pub fn advice(&self) -> &str {
        self.help.as_deref().unwrap_or(self.code.entry().help)
    }

    fn position(&self) -> (usize, usize) {
        let start = self.start.start();
        (start.line, start.column)
    }
}

/// What rustc prints: the code, the message, and the advice on a line of its own.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code.entry().id, self.message)?;
        match self.advice() {
            "" => Ok(()),
            help => write!(f, "\nhelp: {help}"),
        }
    }
}

/// `::core::compile_error! { ".." }`, spanned so that rustc underlines the user's tokens; legal as item and as statement.
impl ToTokens for Diagnostic {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        compile_error(self.start, self.end, &self.to_string(), tokens);
    }
}

/// All findings of one macro call.
///
/// # Panics
///
/// When dropped without [`finish`](Errors::finish) or [`into_vec`](Errors::into_vec): an error that was found and not
/// reported would let wrong code through.
#[derive(Debug, Default)]
pub struct Errors {
    found: Vec<Diagnostic>,
    finished: bool,
}

impl Errors {
    /// An empty collector.
    pub fn new() -> Self {
        Errors::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Whether anything was found.
    pub fn has(&self) -> bool {
        !self.found.is_empty()
    }

    /// How many were found: two counts tell whether the code between them found anything.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// The findings in source order.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        self.finished = true;
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(Diagnostic::position);
        found
    }

    /// The findings as `compile_error!` calls in source order, the first [`LIMIT`] of them and a count of the rest.
    pub fn finish(self) -> TokenStream {
        let found = self.into_vec();
        let mut tokens = TokenStream::new();
        for diagnostic in found.iter().take(LIMIT) {
            diagnostic.to_tokens(&mut tokens);
        }
        if let Some(next) = found.get(LIMIT) {
            let more = format!("and {} more", found.len() - LIMIT);
            compile_error(next.start, next.end, &more, &mut tokens);
        }
        tokens
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.finished || std::thread::panicking(),
            "found errors must be reported: call `finish`"
        );
    }
}

fn compile_error(start: Span, end: Span, text: &str, tokens: &mut TokenStream) {
    let path_separator = || {
        [(':', Spacing::Joint), (':', Spacing::Alone)].map(|(ch, spacing)| {
            let mut punct = Punct::new(ch, spacing);
            punct.set_span(start);
            TokenTree::Punct(punct)
        })
    };
    tokens.extend(path_separator());
    tokens.extend([TokenTree::Ident(Ident::new("core", start))]);
    tokens.extend(path_separator());
    tokens.extend([TokenTree::Ident(Ident::new("compile_error", start))]);
    let mut bang = Punct::new('!', Spacing::Alone);
    bang.set_span(start);
    let mut literal = Literal::string(text);
    literal.set_span(end);
    let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(literal).into());
    group.set_span(end);
    tokens.extend([TokenTree::Punct(bang), TokenTree::Group(group)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(source: &str, n: usize) -> Span {
        let stream: TokenStream = source.parse().expect("tokens");
        stream.into_iter().nth(n).expect("a token").span()
    }

    #[test]
    fn findings_come_out_in_source_order_whatever_order_they_were_found_in() {
        let tokens: Vec<Span> = (0..3).map(|n| at("a b c", n)).collect();
        let mut errors = Errors::new();
        for n in [2, 0, 1] {
            errors.push(Diagnostic::new(
                Code::UnknownStage,
                tokens[n],
                format!("number {n}"),
            ));
        }
        let order: Vec<String> = errors
            .into_vec()
            .iter()
            .map(|d| d.message().to_owned())
            .collect();
        assert_eq!(order, ["number 0", "number 1", "number 2"]);
    }

    #[test]
    fn more_than_the_limit_are_counted_in_one_last_error() {
        let mut errors = Errors::new();
        for n in 0..LIMIT + 10 {
            errors.push(Diagnostic::new(Code::UnknownStage, Span::call_site(), n));
        }
        let output = errors.finish().to_string();
        assert_eq!(output.matches("compile_error").count(), LIMIT + 1);
        assert!(output.contains("and 10 more"), "{output}");
    }

    #[test]
    fn an_error_is_an_item_that_carries_code_message_and_advice() {
        let mut errors = Errors::new();
        errors.push(
            Diagnostic::new(Code::UnknownStage, Span::call_site(), "unknown stage `mpa`")
                .help("try `map`"),
        );
        let file: syn::File = syn::parse2(errors.finish()).expect("items");
        let printed = prettyplease::unparse(&file);
        assert!(
            printed.contains(r#""[SP017] unknown stage `mpa`\nhelp: try `map`""#),
            "{printed}"
        );
    }

    #[test]
    #[should_panic(expected = "found errors must be reported")]
    fn dropping_the_collector_unreported_panics() {
        drop(Errors::new());
    }
}
