//! How deep tokens are nested, found out before anything reads them by recursion: an overflow of the stack ends the
//! compiler without a word, and no panic handler sees it.
//!
//! Brackets nest, and so does what needs none: `&&&T`, `!!!x`, `|a| |b| c`, `fn() -> fn() -> T`, `A<B<C>>`. Only the arrows
//! that join stages do not.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Far more than anybody writes; each level takes syn up to 40 KiB of the stack where it is not optimised.
const LIMIT: usize = 64;

/// Keywords behind which an operator stands before its operand.
const NO_OPERANDS: [&str; 22] = [
    "as", "async", "await", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let",
    "loop", "match", "move", "mut", "ref", "return", "static", "unsafe", "while", "yield",
];

/// Keywords that open a level of their own.
const OPENERS: [&str; 6] = ["break", "dyn", "fn", "impl", "return", "yield"];

/// `else if` is so many times cheaper to read than other levels, and found in long rows.
const ELSES: usize = 8;

/// What is said of a token that is nested too deep.
pub(crate) fn message() -> String {
    format!("this is nested more than {LIMIT} levels deep")
}

/// The first token that is nested too deep to be read. `chain`: the tokens are a chain of stages or contain some.
pub(crate) fn too_deep(tokens: TokenStream, chain: bool) -> Option<Span> {
    let mut open = vec![Level::new(tokens, 0, chain)];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.tokens.next() else {
            open.pop();
            continue;
        };
        let depth = level.read(&token);
        if depth > LIMIT {
            return Some(token.span());
        }
        if let TokenTree::Group(group) = token {
            // Arms hold chains, and so do pipelines; what is in parentheses is Rust.
            let chain = level.chain && !level.state && group.delimiter() == Delimiter::Brace;
            open.push(Level::new(group.stream(), depth, chain));
        }
    }
    None
}

/// The tokens between two brackets.
struct Level {
    tokens: Peekable<IntoIter>,
    /// The levels around them.
    outside: usize,
    /// Levels that the tokens up to here opened without brackets, and those of them that are `<`.
    inside: usize,
    angles: usize,
    elses: usize,
    /// Operators before the operand that is being read: one with two operands ends them.
    prefixes: usize,
    /// Stages that nest all that follows them.
    loops: usize,
    chain: bool,
    /// Whether a `let` is being read, which is Rust.
    state: bool,
    /// Whether the parameters of a closure are being read, whose commas end nothing.
    bars: bool,
    /// Whether an operator that follows has an operand before it.
    operand: bool,
    /// How many more marks may belong to the operator that was begun.
    operator: u8,
    last: Last,
}

/// What the last token was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Braces,
    /// A mark that the next one is joined to.
    Joint(char),
    Else,
    Other,
}

impl Level {
    fn new(tokens: TokenStream, outside: usize, chain: bool) -> Self {
        Level {
            tokens: tokens.into_iter().peekable(),
            outside,
            inside: 0,
            angles: 0,
            elses: 0,
            prefixes: 0,
            loops: 0,
            chain,
            state: false,
            bars: false,
            operand: false,
            operator: 0,
            last: Last::Other,
        }
    }

    /// How deep the token is.
    fn read(&mut self, token: &TokenTree) -> usize {
        match token {
            TokenTree::Ident(word) => self.word(word),
            TokenTree::Punct(punct) => self.mark(punct),
            TokenTree::Group(_) => self.operand = true,
            TokenTree::Literal(_) => {
                self.behind_braces();
                self.operand = true;
            }
        }
        self.last = match token {
            TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint => {
                Last::Joint(punct.as_char())
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Last::Braces,
            TokenTree::Ident(word) if word == "else" => Last::Else,
            _ => Last::Other,
        };
        let own = usize::from(matches!(token, TokenTree::Group(_)));
        self.outside + self.loops + self.inside + self.prefixes + self.elses / ELSES + own
    }

    fn word(&mut self, word: &Ident) {
        let is = |words: &[&str]| words.iter().any(|known| word == known);
        if !is(&["as", "else"]) {
            self.behind_braces();
        }
        let lifetime = self.last == Last::Joint('\'');
        self.operand = !lifetime && !is(&NO_OPERANDS);
        self.state |= self.chain && word == "let";
        self.loops += usize::from(self.chain && word == "flat_map");
        let asks = is(&["for", "if", "match", "while"]) && self.last != Last::Else;
        self.inside += usize::from(asks || is(&OPENERS));
        self.elses += usize::from(word == "else");
    }

    fn mark(&mut self, punct: &Punct) {
        let mark = punct.as_char();
        let before = match self.last {
            Last::Joint(before) => before,
            _ => ' ',
        };
        let behind = match (punct.spacing(), self.tokens.peek()) {
            (Spacing::Joint, Some(TokenTree::Punct(behind))) => behind.as_char(),
            _ => ' ',
        };
        let joins_stages = self.chain && !self.state && self.angles == 0;
        // Of `&&` between two operands the second mark is no operator of its own.
        let belongs = std::mem::take(&mut self.operator);
        let two = std::mem::replace(&mut self.operand, false);
        if (two || belongs > 1) && behind != ' ' {
            self.operator = if two { 2 } else { belongs - 1 };
        }
        if two && !matches!(mark, '?' | '.' | ':') {
            self.prefixes = 0;
        }
        match mark {
            ';' => {
                self.restart();
                self.state = false;
            }
            // Between angle brackets and between bars a comma ends an argument only.
            ',' if self.angles == 0 && !self.bars => self.restart(),
            '>' if before == '-' && joins_stages => self.restart(),
            '>' if before == '-' => self.inside += 1,
            // The pattern and its guard are over.
            '>' if before == '=' => self.restart(),
            '>' if self.angles > 0 => {
                self.angles -= 1;
                self.inside = self.inside.saturating_sub(1);
                self.operand = true;
            }
            '<' if behind != '=' => {
                self.angles += 1;
                self.inside += 1;
            }
            '|' if self.bars => self.bars = false,
            // `a < b && c < d` compares: no bracket is open any more.
            '&' | '|' if two => {
                self.inside = self.inside.saturating_sub(self.angles);
                self.angles = 0;
            }
            '-' if behind == '>' => {}
            '=' if !matches!(before, '=' | '<' | '>' | '!' | '.')
                && !matches!(behind, '=' | '>') =>
            {
                self.inside += 1;
            }
            '@' => self.inside += 1,
            '!' | '-' | '*' | '&' if !two && belongs == 0 => self.prefixes += 1,
            '|' | '.' if !two && belongs == 0 => {
                self.inside += 1;
                self.bars = mark == '|';
            }
            '?' => self.operand = two,
            _ => {}
        }
    }

    /// A statement that needs no semicolon has ended.
    fn behind_braces(&mut self) {
        if self.last == Last::Braces {
            self.restart();
        }
    }

    fn restart(&mut self) {
        (self.inside, self.angles, self.elses, self.prefixes) = (0, 0, 0, 0);
        self.bars = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        too_deep(text.parse().expect("tokens"), true).is_some()
    }

    #[test]
    fn what_people_write_at_length_is_not_deep() {
        let many = |text: &str| text.repeat(500);
        for text in [
            format!("kafka -> avro {} -> clickhouse", many("-> map(|r, m| r) ")),
            format!(
                "memory -> bytes -> filter(|r| a < 1 {} ) -> capture",
                many("&& r.b < 2 || r.c == -3 && !r.d ")
            ),
            format!(
                "memory -> bytes -> map(|r| r {} ) -> capture",
                many(".a()?.b")
            ),
            format!(
                "memory -> bytes -> map(|r| r {} ) -> capture",
                many("+ 1 - 2 * x as i64 & y | z << 3 ")
            ),
            format!(
                "memory -> bytes -> map(|r| match r {{ {} _ => 0 }} ) -> capture",
                many("A | B if x >= y => -1, &C if z => {} 1 => if a { b } else { c } ")
            ),
            format!(
                "memory -> bytes -> map(|r| {{ {} 1 }} ) -> capture",
                many("if *a { return x; } else { y = -z; } match &b {} ")
            ),
            format!(
                "memory -> bytes -> map(|r| {{ {} 1 }} ) -> capture",
                many("let x: A<B, C> = |a, b| &c[1..2]; if a {} for b in c {} while d {} ")
            ),
            format!(
                "memory -> bytes -> map(f({})) -> capture",
                many("&a, *b, !c, |d| e, 1..2, ")
            ),
            format!(
                "memory -> bytes -> route(|r| r) {{ {} _ => drop }}",
                many("'a' | 'b' => map(|r| -r) -> capture, ")
            ),
            many(
                "a(x: &'a A<B>, y: fn() -> C) { let z = 1; kafka -> avro::<&A> -> capture name = \"x\"; } ",
            ),
            format!(
                "memory -> bytes -> map(|r| if a {{}} {} ) -> capture",
                "else if b {}".repeat(300)
            ),
        ] {
            assert!(!refused(&text), "{text}");
        }
    }

    #[test]
    fn whatever_nests_is_deep() {
        for text in [
            "!",
            "-",
            "*",
            "& &",
            "&&",
            "&mut ",
            "|a| ",
            "|a, b| ",
            "|| ",
            "x = ",
            "x += ",
            "return ",
            "a @ ",
            "..",
            "A<",
            "A<B, ",
            "fn() -> ",
            "&'a ",
            "*const ",
            "impl A<B> -> ",
            "(",
            "{",
            "[",
            "f(",
            "S { a: ",
            "match ",
            "if ",
        ] {
            let opened =
                text.matches(['(', '{', '[']).count() - text.matches([')', '}', ']']).count();
            let close = match text.chars().rev().find(|mark| "({[".contains(*mark)) {
                Some('(') if opened > 0 => ")",
                Some('{') if opened > 0 => "}",
                Some('[') if opened > 0 => "]",
                _ => "",
            };
            let nested = format!("{} r {}", text.repeat(LIMIT + 1), close.repeat(LIMIT + 1));
            assert!(
                refused(&format!("memory -> bytes -> map({nested}) -> capture")),
                "{text}"
            );
            assert!(
                refused(&format!(
                    "a {{ let x = {nested}; memory -> bytes -> capture }}"
                )),
                "{text}"
            );
        }
        assert!(refused(&format!(
            "memory -> bytes {} -> capture",
            "-> flat_map(|r| r)".repeat(LIMIT + 1)
        )));
    }
}
