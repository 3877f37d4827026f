//! The text of a scalar to a number or a boolean; an error tells what kind of thing was found, never its text.

/// What a bare scalar is when nobody says what it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Untyped {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text,
}

impl Untyped {
    pub(crate) fn of(text: &str) -> Untyped {
        if let Some(value) = parse_bool(text) {
            return Untyped::Bool(value);
        }
        let number = digits(text);
        if let Some(value) = number.as_ref().and_then(|n| n.parse().ok()) {
            return Untyped::Unsigned(value);
        }
        if let Some(value) = number.as_ref().and_then(|n| n.parse().ok()) {
            return Untyped::Signed(value);
        }
        float(text).map_or(Untyped::Text, Untyped::Float)
    }

    /// The kind in the words of an error.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Untyped::Bool(_) => "true or false",
            Untyped::Unsigned(_) | Untyped::Signed(_) => "a number",
            Untyped::Float(_) => "a number with a fraction",
            Untyped::Text => "text",
        }
    }
}

/// A whole number between two bounds.
pub(crate) fn whole<T: TryFrom<i128>>(text: &str, min: i128, max: i128) -> Result<T, String> {
    let text = text.trim();
    let Some(number) = digits(text) else {
        return Err(format!("expected a whole number, found {}", kind(text)));
    };
    number
        .parse::<i128>()
        .ok()
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("expected a whole number from {min} to {max}, found one outside"))
}

/// A finite number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    float(text).ok_or_else(|| format!("expected a number, found {}", kind(text)))
}

/// `true` or `false`.
pub(crate) fn boolean(text: &str) -> Result<bool, String> {
    let text = text.trim();
    parse_bool(text).ok_or_else(|| format!("expected `true` or `false`, found {}", kind(text)))
}

fn kind(text: &str) -> &'static str {
    if text.is_empty() {
        "an empty text"
    } else {
        Untyped::of(text).kind()
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// The text without `_` between digits, if it is a decimal whole number with an optional sign.
fn digits(text: &str) -> Option<String> {
    let (sign, number) = match text.as_bytes().first()? {
        b'+' => ("", &text[1..]),
        b'-' => ("-", &text[1..]),
        _ => ("", text),
    };
    let mut out = String::from(sign);
    for group in number.split('_') {
        if group.is_empty() || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        out.push_str(group);
    }
    Some(out)
}

fn float(text: &str) -> Option<f64> {
    // Rust's own parser also takes `inf` and `nan`, which no setting can be.
    let allowed =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    let text = digits(text).unwrap_or_else(|| text.to_owned());
    text.bytes()
        .all(allowed)
        .then(|| text.parse::<f64>().ok())
        .flatten()
        .filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_decimal_digits_in_range() {
        assert_eq!(whole::<u16>("8", 0, 65_535), Ok(8));
        assert_eq!(whole::<u16>(" 010\n", 0, 65_535), Ok(10));
        assert_eq!(whole::<u32>("500_000", 0, 4_294_967_295), Ok(500_000));
        assert_eq!(whole::<i16>("-3", -32_768, 32_767), Ok(-3));
        for (text, message) in [
            ("", "expected a whole number, found an empty text"),
            ("eight", "expected a whole number, found text"),
            (
                "8.5",
                "expected a whole number, found a number with a fraction",
            ),
            (
                "1e3",
                "expected a whole number, found a number with a fraction",
            ),
            ("true", "expected a whole number, found true or false"),
            ("_1", "expected a whole number, found text"),
            ("1__0", "expected a whole number, found text"),
            ("0x10", "expected a whole number, found text"),
            (
                "70000",
                "expected a whole number from 0 to 65535, found one outside",
            ),
            (
                "-1",
                "expected a whole number from 0 to 65535, found one outside",
            ),
            (
                &"9".repeat(60),
                "expected a whole number from 0 to 65535, found one outside",
            ),
        ] {
            assert_eq!(
                whole::<u16>(text, 0, 65_535),
                Err(message.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_is_finite() {
        assert_eq!(number("0.8"), Ok(0.8));
        assert_eq!(number("2"), Ok(2.0));
        assert_eq!(number("-1e3"), Ok(-1000.0));
        for text in [
            "", "inf", "nan", ".inf", "infinity", "1e999", "0,5", "e", ".",
        ] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn yes_and_one_are_no_booleans() {
        assert_eq!(boolean("TRUE"), Ok(true));
        assert_eq!(boolean("false"), Ok(false));
        assert_eq!(
            boolean("yes"),
            Err("expected `true` or `false`, found text".to_owned())
        );
        assert_eq!(
            boolean("1"),
            Err("expected `true` or `false`, found a number".to_owned())
        );
    }
}
