//! What the parser found wrong, in words that say what to do and quote nothing of the file.

use granit_parser::ErrorKind;

/// The message for an error of the parser in `line`.
pub(crate) fn message(kind: &ErrorKind, line: &str) -> String {
    let advice = match kind {
        ErrorKind::UnexpectedCharacter { .. } => {
            "a value cannot begin with this character; put it in quotes"
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => "a tab in the indentation; YAML is indented with spaces",
        ErrorKind::UnknownAnchor => {
            "an alias without its anchor; put a value that begins with `*` in quotes"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "an unknown escape; in \"..\" a backslash is written `\\\\`, in '..' it stands for itself"
        }
        ErrorKind::MappingValueNotAllowed => {
            "a `:` where none can be; check the indentation, and put a text that holds `: ` in quotes"
        }
        ErrorKind::ExpectedBlockMappingKey => {
            "not indented like the lines before; a key is expected here"
        }
        ErrorKind::SimpleKeyExpected => "a key without its `:`, or a text that is not indented",
        ErrorKind::UnclosedQuotedScalar => "a quote that is not closed",
        ErrorKind::RecursionLimitExceeded => "nested too deep",
        // Their texts may be the file's own.
        ErrorKind::Custom(_) | ErrorKind::InputIo { .. } | ErrorKind::InputDecoding { .. } => {
            "not YAML"
        }
        kind => {
            // A bare `${X}` ends early within brackets: its braces are theirs.
            let hint = if is_about_brackets(kind) && line.contains("${") {
                "; within `{ }` and `[ ]`, put `${..}` in quotes"
            } else {
                ""
            };
            return format!("not YAML: {kind}{hint}");
        }
    };
    advice.to_owned()
}

fn is_about_brackets(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::MisplacedFlowCollectionEnd
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofFlowSequence
    )
}
