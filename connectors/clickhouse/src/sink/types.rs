//! Whether two spellings of a column type mean the same bytes.
//!
//! The server spells types its own way (`Decimal64(2)` comes back as `Decimal(18, 2)`, `DateTime` may have a time zone that
//! no byte depends on). Everything else must be the same.

/// Whether values of both types are encoded alike.
pub(super) fn same(a: &str, b: &str) -> bool {
    a == b || canonical(a) == canonical(b)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Quoted(&'a str),
    Sign(&'a str),
}

/// The type without spaces, time zones and synonyms.
fn canonical(ty: &str) -> String {
    let tokens = tokens(ty);
    let mut out = String::with_capacity(ty.len());
    let mut rest = &tokens[..];
    let mut after_word = false;
    while let Some((token, tail)) = rest.split_first() {
        rest = tail;
        let (text, is_word) = match token {
            Token::Word(word) => (*word, true),
            Token::Quoted(text) | Token::Sign(text) => (*text, false),
        };
        if is_word && after_word {
            out.push(' ');
        }
        after_word = is_word;
        match (text, tail) {
            (
                "DateTime",
                [
                    Token::Sign("("),
                    Token::Quoted(_),
                    Token::Sign(")"),
                    tail @ ..,
                ],
            ) => {
                out.push_str("DateTime");
                rest = tail;
            }
            (
                "DateTime64",
                [
                    Token::Sign("("),
                    Token::Word(p),
                    Token::Sign(","),
                    Token::Quoted(_),
                    Token::Sign(")"),
                    tail @ ..,
                ],
            ) => {
                out.push_str(&format!("DateTime64({p})"));
                (rest, after_word) = (tail, false);
            }
            (
                name,
                [
                    Token::Sign("("),
                    Token::Word(scale),
                    Token::Sign(")"),
                    tail @ ..,
                ],
            ) if decimal_precision(name).is_some() => {
                out.push_str(&format!(
                    "Decimal({},{scale})",
                    decimal_precision(name).unwrap_or_default()
                ));
                (rest, after_word) = (tail, false);
            }
            ("Boolean", _) => out.push_str("Bool"),
            (text, _) => out.push_str(text),
        }
    }
    out
}

fn decimal_precision(name: &str) -> Option<u32> {
    match name {
        "Decimal32" => Some(9),
        "Decimal64" => Some(18),
        "Decimal128" => Some(38),
        "Decimal256" => Some(76),
        _ => None,
    }
}

fn tokens(ty: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = ty.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '`' | '"' => quoted_end(rest, first),
            c if c.is_alphanumeric() || c == '_' || c == '.' => rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, tail) = rest.split_at(end);
        tokens.push(match first {
            '\'' => Token::Quoted(token),
            '`' | '"' if token.len() > 1 => Token::Word(token),
            c if c.is_alphanumeric() || c == '_' || c == '.' => Token::Word(token),
            _ => Token::Sign(token),
        });
        rest = tail.trim_start();
    }
    tokens
}

/// Where the quoted text that `text` begins with ends, its quotes included.
fn quoted_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_type_are_the_same() {
        for (a, b) in [
            ("UInt32", " UInt32 "),
            ("DateTime", "DateTime('UTC')"),
            ("DateTime64(3)", "DateTime64(3, 'UTC')"),
            ("DateTime64(3,'Europe/Berlin')", "DateTime64(3, 'UTC')"),
            (
                "Nullable( DateTime64(6) )",
                "Nullable(DateTime64(6, 'UTC'))",
            ),
            ("Array(DateTime)", "Array(DateTime('Asia/Tokyo'))"),
            ("Decimal64(2)", "Decimal(18, 2)"),
            ("Nullable(Decimal32(4))", "Nullable(Decimal(9,4))"),
            ("Enum8('a'=1,'b b'=2)", "Enum8('a' = 1, 'b b' = 2)"),
            ("Tuple(x UInt8,y String)", "Tuple(x  UInt8, y String)"),
            ("Map(String,Array(UInt8))", "Map(String, Array(UInt8))"),
            ("Boolean", "Bool"),
            ("LowCardinality(String)", "LowCardinality( String )"),
        ] {
            assert!(
                same(a, b),
                "{a} and {b}: {} and {}",
                canonical(a),
                canonical(b)
            );
        }
    }

    #[test]
    fn types_with_other_bytes_or_meanings_differ() {
        for (a, b) in [
            ("UInt32", "Int32"),
            ("UInt32", "UInt64"),
            ("String", "Nullable(String)"),
            ("String", "LowCardinality(String)"),
            ("DateTime", "DateTime64(0)"),
            ("DateTime64(3)", "DateTime64(6)"),
            ("DateTime64(3, 'UTC')", "DateTime64(6, 'UTC')"),
            ("Decimal64(4)", "Decimal(18, 2)"),
            ("Decimal32(2)", "Decimal(18, 2)"),
            ("Enum8('a' = 1)", "Enum8('a' = 2)"),
            ("Enum8('a b' = 1)", "Enum8('ab' = 1)"),
            ("FixedString(3)", "FixedString(4)"),
            ("Tuple(x UInt8, y String)", "Tuple(y String, x UInt8)"),
            ("Tuple(xUInt8)", "Tuple(x UInt8)"),
            ("Array(String)", "String"),
        ] {
            assert!(!same(a, b), "{a} and {b}");
        }
    }

    #[test]
    fn broken_spellings_do_no_harm() {
        for ty in [
            "",
            "(",
            "Enum8('",
            "Decimal64(",
            "DateTime64(3,",
            "`",
            "é(ü)",
            "'\\",
        ] {
            assert!(same(ty, ty));
            assert!(!same(ty, "UInt8"));
        }
    }
}
