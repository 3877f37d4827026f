//! Finds the server's exception in an answer: by its header, or by its text, which may stand anywhere in the body.
//!
//! The shapes: `Code: 60. DB::Exception: text. (UNKNOWN_TABLE) (version 26.1)`, the same between `__exception__` marks after
//! what had been sent before, and `Code: 60, e.displayText() = DB::Exception: ..` of servers before 20.

/// How much of the server's text goes into a message, in bytes.
const MAX_TEXT: usize = 800;

/// An exception of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exception {
    /// The number, where the answer tells it.
    pub(crate) code: Option<u32>,
    /// The symbolic name: `UNKNOWN_TABLE`.
    pub(crate) name: Option<String>,
    /// The text on one line, without code, name and version.
    pub(crate) text: String,
}

impl Exception {
    /// The exception that `header` (the value of `X-ClickHouse-Exception-Code`) or `body` tell; `None` if neither does.
    /// The header's number wins: the text can quote another server's exception.
    pub(crate) fn find(header: Option<&str>, body: &[u8]) -> Option<Exception> {
        let body = String::from_utf8_lossy(body);
        let in_body = in_text(&body);
        if header.is_none() && in_body.is_none() {
            return None;
        }
        let mut exception = in_body.unwrap_or_else(|| Exception {
            code: None,
            name: None,
            text: one_line(&body),
        });
        if let Some(code) = header.and_then(|value| value.trim().parse().ok()) {
            exception.code = Some(code);
        }
        if exception.name.is_none() {
            exception.name = exception
                .code
                .and_then(super::codes::name)
                .map(str::to_owned);
        }
        Some(exception)
    }

    /// What an answer without any exception, such as a proxy's, says.
    pub(crate) fn foreign(body: &[u8]) -> Exception {
        Exception {
            code: None,
            name: None,
            text: one_line(&String::from_utf8_lossy(body)),
        }
    }
}

fn in_text(body: &str) -> Option<Exception> {
    let Some((code, rest)) = code_in(body) else {
        let marked = body
            .find("__exception__")
            .map(|at| &body[at + "__exception__".len()..])?;
        return Some(Exception {
            code: None,
            name: None,
            text: one_line(marked),
        });
    };
    // The length and the mark that follow a marked exception are no part of its text.
    let rest = rest.split("__exception__").next().unwrap_or(rest);
    let text = match rest.find("Exception: ") {
        Some(at) => &rest[at + "Exception: ".len()..],
        None => rest,
    };
    let (text, name) = without_tail(text.trim());
    Some(Exception {
        code: Some(code),
        name,
        text: one_line(text),
    })
}

/// The first `Code: <number>` that an exception follows, and what comes after the number.
fn code_in(body: &str) -> Option<(u32, &str)> {
    let mut from = body;
    while let Some(at) = from.find("Code:") {
        from = &from[at + "Code:".len()..];
        let number = from.trim_start();
        let end = number
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(number.len());
        let rest = &number[end..];
        if let Ok(code) = number[..end].parse()
            && rest.contains("DB::")
            && rest.contains("Exception")
        {
            return Some((code, rest));
        }
    }
    None
}

/// Takes `(NAME) (version ..)` and what follows off the end; either can be missing.
fn without_tail(text: &str) -> (&str, Option<String>) {
    let text = text.split(" (version ").next().unwrap_or(text).trim_end();
    let Some((before, name)) = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('))
    else {
        return (text, None);
    };
    if name.len() < 3
        || !name
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    {
        return (text, None);
    }
    (
        before.trim_end().trim_end_matches('.'),
        Some(name.to_owned()),
    )
}

/// Control characters and runs of spaces become one space. A long text loses its middle: the server tells the error first,
/// and at the end the row and the column.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    if line.len() <= MAX_TEXT {
        return line;
    }
    let (head, tail) = (MAX_TEXT * 3 / 4, line.len() - MAX_TEXT / 4);
    format!(
        "{} .. {}",
        &line[..line.floor_char_boundary(head)],
        &line[line.ceil_char_boundary(tail)..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(header: Option<&str>, body: &str) -> Exception {
        Exception::find(header, body.as_bytes()).expect("an exception")
    }

    #[test]
    fn code_name_and_text_are_taken_apart() {
        let e = found(
            None,
            "Code: 60. DB::Exception: Table shop.orders does not exist. (UNKNOWN_TABLE) (version 26.9.2.1 (official build))\n",
        );
        assert_eq!(
            (e.code, e.name.as_deref()),
            (Some(60), Some("UNKNOWN_TABLE"))
        );
        assert_eq!(e.text, "Table shop.orders does not exist");
    }

    #[test]
    fn the_shapes_of_all_versions_are_understood() {
        for (body, code, name, text) in [
            (
                "Code: 252. DB::Exception: Too many parts",
                252,
                Some("TOO_MANY_PARTS"),
                "Too many parts",
            ),
            (
                "Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist.",
                60,
                Some("UNKNOWN_TABLE"),
                "Table a.b doesn't exist.",
            ),
            (
                "Code: 210. DB::NetException: I/O error: Broken pipe (127.0.0.1:9000). (NETWORK_ERROR) (version 23.8.8.20)",
                210,
                Some("NETWORK_ERROR"),
                "I/O error: Broken pipe (127.0.0.1:9000)",
            ),
            (
                "Code: 117. DB::Exception: Type of 'a' must be X(3), not Y(3): While. (INCORRECT_DATA) (version 26.9). (INCORRECT_DATA)\n",
                117,
                Some("INCORRECT_DATA"),
                "Type of 'a' must be X(3), not Y(3): While",
            ),
            (
                "Code: 98765. DB::Exception: New. (BRAND_NEW) (version 99.1)",
                98_765,
                Some("BRAND_NEW"),
                "New",
            ),
            (
                "Code: 98765. DB::Exception: New one (with a remark)",
                98_765,
                None,
                "New one (with a remark)",
            ),
        ] {
            let e = found(None, body);
            assert_eq!(
                (e.code, e.name.as_deref(), e.text.as_str()),
                (Some(code), name, text),
                "{body}"
            );
        }
    }

    #[test]
    fn a_marked_exception_is_found_behind_data() {
        let body = "\x01\x02 rows\r\n__exception__\r\nrnywyenlaeqynhmu\r\nCode: 159. DB::Exception: Timeout exceeded: \
                    elapsed 126 ms. (TIMEOUT_EXCEEDED) (version 25.12.1.649 (official build))\n142 rnywyenlaeqynhmu\r\n__exception__\r\n";
        let e = found(None, body);
        assert_eq!(
            (e.code, e.name.as_deref()),
            (Some(159), Some("TIMEOUT_EXCEEDED"))
        );
        assert_eq!(e.text, "Timeout exceeded: elapsed 126 ms");
        let body = "\r\n__exception__\r\nabcdefghijklmnop\r\nCode: 159. DB::Exception: Slow\n33 abcdefghijklmnop\r\n__exception__\r\n";
        assert_eq!(found(None, body).text, "Slow 33 abcdefghijklmnop");
        assert_eq!(found(None, "__exception__\r\ntag\r\nbroken").code, None);
    }

    #[test]
    fn the_header_alone_is_enough_and_wins_over_the_text() {
        let e = found(Some("209"), "");
        assert_eq!(
            (e.code, e.name.as_deref(), e.text.as_str()),
            (Some(209), Some("SOCKET_TIMEOUT"), "")
        );
        assert_eq!(
            found(
                Some("252"),
                "Code: 60. DB::Exception: quoted. (UNKNOWN_TABLE)"
            )
            .code,
            Some(252)
        );
        assert_eq!(found(Some("?"), "").code, None);
    }

    #[test]
    fn words_that_only_look_like_an_exception_are_none() {
        for body in [
            "",
            "\n",
            "Code: 60",
            "Zip Code: 10115 Berlin",
            "an Exception without a code",
        ] {
            assert_eq!(Exception::find(None, body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn a_long_text_keeps_the_row_that_it_ends_with() {
        let text = format!(
            "Code: 27. DB::Exception: Cannot parse input: {} (at row 501). (CANNOT_PARSE_INPUT_ASSERTION_FAILED)",
            "é".repeat(5_000)
        );
        let e = found(None, &text);
        assert!(
            e.text.starts_with("Cannot parse input: é") && e.text.ends_with("(at row 501)"),
            "{}",
            e.text
        );
    }

    #[test]
    fn long_texts_and_control_characters_do_not_reach_the_log() {
        let e = found(
            None,
            &format!(
                "Code: 6. DB::Exception: a\tb\r\n\x1b[31m {}",
                "word ".repeat(10_000)
            ),
        );
        assert!(
            e.text.starts_with("a b [31m word") && e.text.contains(" .. "),
            "{}",
            e.text
        );
        assert!(e.text.len() < MAX_TEXT + 10);
    }
}
