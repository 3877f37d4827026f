//! A cursor over token trees: what the splitter and the parser ask of the next few tokens.
//!
//! It never fails, and user tokens come out as they went in.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};

/// A position in a slice of token trees.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    tokens: &'t [TokenTree],
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(tokens: &'t [TokenTree]) -> Self {
        Cursor { tokens, at: 0 }
    }

    /// The token `n` places on.
    pub(crate) fn peek(&self, n: usize) -> Option<&'t TokenTree> {
        self.tokens.get(self.at + n)
    }

    pub(crate) fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(crate) fn rest(&self) -> &'t [TokenTree] {
        self.tokens.get(self.at..).unwrap_or_default()
    }

    /// Moves on by `n` tokens and returns them.
    pub(crate) fn take(&mut self, n: usize) -> &'t [TokenTree] {
        let rest = self.rest();
        let taken = &rest[..n.min(rest.len())];
        self.at += taken.len();
        taken
    }

    /// The token before this position.
    pub(crate) fn previous(&self) -> Option<&'t TokenTree> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    /// Whether this token is a field or a method: it stands behind one dot, which is no range.
    pub(crate) fn after_dot(&self) -> bool {
        let dot = |back: usize| {
            let at = self.at.checked_sub(back);
            matches!(at.and_then(|at| self.tokens.get(at)), Some(TokenTree::Punct(punct)) if punct.as_char() == '.')
        };
        dot(1) && !dot(2)
    }

    pub(crate) fn ident(&self, n: usize) -> Option<&'t Ident> {
        match self.peek(n) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    pub(crate) fn keyword(&self, n: usize, word: &str) -> bool {
        self.ident(n).is_some_and(|ident| ident == word)
    }

    pub(crate) fn group(&self, n: usize, delimiter: Delimiter) -> Option<&'t Group> {
        match self.peek(n) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
            _ => None,
        }
    }

    pub(crate) fn punct(&self, n: usize, ch: char) -> bool {
        matches!(self.peek(n), Some(TokenTree::Punct(punct)) if punct.as_char() == ch)
    }

    pub(crate) fn joint(&self, n: usize, ch: char) -> bool {
        matches!(self.peek(n), Some(TokenTree::Punct(punct)) if punct.as_char() == ch && punct.spacing() == Spacing::Joint)
    }

    /// `->` as one arrow.
    pub(crate) fn arrow(&self, n: usize) -> bool {
        self.joint(n, '-') && self.punct(n + 1, '>')
    }

    /// `=>`.
    pub(crate) fn fat_arrow(&self, n: usize) -> bool {
        self.joint(n, '=') && self.punct(n + 1, '>')
    }

    /// `::`.
    pub(crate) fn path_separator(&self, n: usize) -> bool {
        self.joint(n, ':') && self.punct(n + 1, ':')
    }

    /// `IDENT =`, the start of a clause or of a named argument; not `==` or `=>`.
    pub(crate) fn assignment(&self) -> bool {
        let single = self.punct(1, '=')
            && !(self.joint(1, '=') && (self.punct(2, '=') || self.punct(2, '>')));
        self.ident(0).is_some() && single
    }

    /// `#[..]`, an attribute or a doc comment.
    pub(crate) fn attribute(&self) -> bool {
        self.punct(0, '#') && self.group(1, Delimiter::Bracket).is_some()
    }

    /// `IDENT :`, a label; not the start of a path.
    pub(crate) fn label(&self) -> bool {
        self.ident(0).is_some() && self.punct(1, ':') && !self.path_separator(1)
    }

    /// How many tokens the generic arguments take that start with `<` at `n`; `None` when they are never closed.
    pub(crate) fn angle_brackets(&self, n: usize) -> Option<usize> {
        if !self.punct(n, '<') {
            return None;
        }
        let mut depth = 0usize;
        let mut at = n;
        loop {
            match self.peek(at)? {
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct)
                    if punct.as_char() == '>' && !(at > n && self.joint(at - 1, '-')) =>
                {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1 - n);
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => return None,
                _ => {}
            }
            at += 1;
        }
    }
}

/// Opens the invisible group in which a surrounding macro passes `$stage:path`, so that the name can be read.
pub(crate) fn open_path(tokens: &[TokenTree]) -> Vec<TokenTree> {
    match tokens.split_first() {
        Some((TokenTree::Group(group), rest)) if group.delimiter() == Delimiter::None => {
            if syn::parse2::<syn::Path>(group.stream()).is_err() {
                return tokens.to_vec();
            }
            group
                .stream()
                .into_iter()
                .chain(rest.iter().cloned())
                .collect()
        }
        _ => tokens.to_vec(),
    }
}

/// How the message names a token: as written, groups by their bracket, long ones cut.
pub(crate) fn describe(token: &TokenTree) -> String {
    match token {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => "`(`".to_owned(),
            Delimiter::Bracket => "`[`".to_owned(),
            Delimiter::Brace => "`{`".to_owned(),
            Delimiter::None => "an expression".to_owned(),
        },
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            if text.chars().count() > 24 {
                "a literal".to_owned()
            } else {
                format!("`{text}`")
            }
        }
        other => format!("`{other}`"),
    }
}

/// The span to underline for one token: the opening bracket of a group, else the token.
pub(crate) fn mark(token: &TokenTree) -> Span {
    match token {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    }
}

/// Whether an identifier can name something: not a keyword.
pub(crate) fn is_name(ident: &Ident) -> bool {
    syn::parse2::<Ident>(TokenTree::from(ident.clone()).into()).is_ok()
}

/// The tokens as one stream, none of them printed anew.
pub(crate) fn stream(tokens: &[TokenTree]) -> TokenStream {
    tokens.iter().cloned().collect()
}
