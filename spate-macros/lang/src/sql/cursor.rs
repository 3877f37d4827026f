//! A position in a list of SQL tokens, with the questions that a reader of definitions asks.

use sqlparser::dialect::ClickHouseDialect;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};

use crate::diagnostic::Code;
use crate::files::{Finding, Place, SourceFile};

/// The tokens of a file without white space and comments.
pub(super) fn tokens(file: &SourceFile) -> Result<Vec<TokenWithSpan>, Finding> {
    match Tokenizer::new(&ClickHouseDialect {}, file.text()).tokenize_with_location() {
        Ok(tokens) => Ok(tokens
            .into_iter()
            .filter(|token| !matches!(token.token, Token::Whitespace(_)))
            .collect()),
        Err(error) => {
            let place = Place {
                line: error.location.line as usize,
                column: error.location.column as usize,
            };
            Err(mistake(place, error.message))
        }
    }
}

/// A definition that is not understood.
pub(super) fn mistake(place: Place, message: impl Into<String>) -> Finding {
    Finding {
        code: Code::TableSql,
        place,
        message: message.into(),
        help: String::new(),
    }
}

/// A run of tokens, read from its front.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    rest: &'t [TokenWithSpan],
    end: Place,
}

impl<'t> Cursor<'t> {
    /// All of `tokens`; `end` is spoken of when they are over.
    pub(super) fn new(tokens: &'t [TokenWithSpan], end: Place) -> Self {
        Cursor { rest: tokens, end }
    }

    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.rest.first().map(|token| &token.token)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Where the next token is.
    pub(super) fn place(&self) -> Place {
        self.rest.first().map_or(self.end, place)
    }

    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(&first.token)
    }

    /// Takes the next token if it is that one.
    pub(super) fn take(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        if there {
            self.next();
        }
        there
    }

    /// Takes the words if they follow, unquoted and in any case.
    pub(super) fn take_words(&mut self, words: &[&str]) -> bool {
        let follow = words.iter().enumerate().all(|(n, word)| {
            matches!(self.rest.get(n).map(|token| &token.token), Some(Token::Word(found)) if is_word(found, word))
        });
        if follow {
            self.rest = &self.rest[words.len()..];
        }
        follow
    }

    /// A name: a word, or one in backticks or double quotes.
    pub(super) fn name(&mut self) -> Option<String> {
        let name = match self.peek()? {
            Token::Word(word) => word.value.clone(),
            Token::DoubleQuotedString(text) => text.clone(),
            _ => return None,
        };
        self.next();
        Some(name)
    }

    /// The next token as an unquoted word.
    pub(super) fn word(&self) -> Option<&'t str> {
        match self.peek()? {
            Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
            _ => None,
        }
    }

    /// What is in the parentheses that open here, which are taken with it.
    pub(super) fn parenthesized(&mut self) -> Result<Option<Cursor<'t>>, Finding> {
        if self.peek() != Some(&Token::LParen) {
            return Ok(None);
        }
        let open = self.place();
        let mut depth = 0usize;
        for (n, token) in self.rest.iter().enumerate() {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inside = Cursor {
                    rest: &self.rest[1..n],
                    end: place(token),
                };
                self.rest = &self.rest[n + 1..];
                return Ok(Some(inside));
            }
        }
        Err(mistake(open, "this parenthesis is never closed"))
    }

    /// The parts between `separator`s that are in no parentheses.
    pub(super) fn split(self, separator: &Token) -> Vec<Cursor<'t>> {
        let mut parts = Vec::new();
        let (mut start, mut depth) = (0, 0usize);
        for (n, token) in self.rest.iter().enumerate() {
            match &token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                other if depth == 0 && other == separator => {
                    parts.push(Cursor {
                        rest: &self.rest[start..n],
                        end: place(token),
                    });
                    start = n + 1;
                }
                _ => {}
            }
        }
        parts.push(Cursor {
            rest: &self.rest[start..],
            end: self.end,
        });
        parts
    }

    /// The tokens as text, spaced as the server spaces types.
    pub(super) fn spelling(&self) -> String {
        let mut text = String::new();
        for token in self.rest {
            let word = token.token.to_string();
            let open = text.is_empty() || text.ends_with(['(', ' ', '.']);
            match &token.token {
                Token::Comma => text.push_str(", "),
                Token::LParen | Token::RParen | Token::Period => text.push_str(&word),
                _ if open => text.push_str(&word),
                _ => {
                    text.push(' ');
                    text.push_str(&word);
                }
            }
        }
        text
    }
}

fn is_word(found: &Word, word: &str) -> bool {
    found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word)
}

fn place(token: &TokenWithSpan) -> Place {
    Place {
        line: token.span.start.line as usize,
        column: token.span.start.column as usize,
    }
}
