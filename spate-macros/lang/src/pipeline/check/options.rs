//! Values of options and clauses: the error policy, and literal settings by the rules of the systems that they name.

use crate::diagnostic::{Code, Diagnostic, Errors, suggest};
use crate::pipeline::ast::{Shape, Value};
use crate::pipeline::plan::Policy;
use crate::pipeline::registry::Rule;

const POLICIES: &[&str] = &["fail", "skip"];

/// Reads `fail`, `skip`, or `dead_letter` where the pipeline says where these go.
pub(super) fn policy(value: &Value, dead_letters: bool, errors: &mut Errors) -> Option<Policy> {
    let expected = "expected `fail` or `skip`";
    let error = |code, message: String| Diagnostic::spanned(code, &value.tokens, message);
    let found = match value.shape.as_ref().ok()? {
        Shape::Path(Some(word)) => match word.as_str() {
            "fail" => return Some(Policy::Fail),
            "skip" => return Some(Policy::Skip),
            // What is not available yet is said once, at the clause.
            "dead_letter" if dead_letters => return None,
            "dead_letter" => error(
                Code::BadPolicy,
                "`on_error = dead_letter` needs a clause that says where the record goes"
                    .to_owned(),
            )
            .help("add `dead_letter = kafka(topic = \"..\");` behind the chain"),
            word => match suggest(word, POLICIES.iter().copied()) {
                Some(meant) => error(
                    Code::BadPolicy,
                    format!("{expected}, found `{word}`; did you mean `{meant}`?"),
                ),
                None => error(Code::BadPolicy, format!("{expected}, found `{word}`")),
            },
        },
        Shape::Str(_) => error(Code::BadPolicy, format!("{expected}, found a string"))
            .help("the word stands without quotes: `on_error = skip`"),
        other => error(
            Code::BadPolicy,
            format!("{expected}, found {}", found(other)),
        ),
    };
    errors.push(found);
    None
}

/// Reads `on` or `off`.
pub(super) fn switch(name: &str, value: &Value, errors: &mut Errors) -> Option<bool> {
    let message = match value.shape.as_ref().ok()? {
        Shape::Path(Some(word)) if word == "on" => return Some(true),
        Shape::Path(Some(word)) if word == "off" => return Some(false),
        Shape::Path(Some(word)) => format!("`{name}` is `on` or `off`, found `{word}`"),
        other => format!("`{name}` is `on` or `off`, found {}", found(other)),
    };
    errors.push(Diagnostic::spanned(Code::WrongValue, &value.tokens, message).help(""));
    None
}

/// Reads a literal setting.
pub(super) fn setting(
    name: &str,
    value: &Value,
    config: &str,
    rule: Rule,
    errors: &mut Errors,
) -> Option<String> {
    let problem = match value.shape.as_ref().ok()? {
        Shape::Str(text) => match broken(text, rule) {
            None => return Some(text.clone()),
            Some(problem) => Diagnostic::spanned(Code::BadSetting, &value.tokens, problem),
        },
        other => {
            let message = format!("`{name}` expects a string literal, found {}", found(other));
            let help =
                format!("what is known only at run time is set in the config file, as `{config}`");
            Diagnostic::spanned(Code::WrongValue, &value.tokens, message).help(help)
        }
    };
    errors.push(problem);
    None
}

/// What a literal violates, if anything.
fn broken(text: &str, rule: Rule) -> Option<String> {
    match rule {
        Rule::Topic => {
            let legal = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | '_' | '-');
            if text.is_empty() || text == "." || text == ".." {
                Some(format!("{text:?} is not a Kafka topic: it needs a name"))
            } else if text.len() > 249 {
                Some(format!(
                    "a Kafka topic has at most 249 characters, this one has {}",
                    text.len()
                ))
            } else {
                let wrong = text.chars().find(|ch| !legal(*ch))?;
                Some(format!(
                    "{text:?} is not a Kafka topic: {wrong:?} is not allowed, only letters, digits, `.`, `_` and `-`"
                ))
            }
        }
        Rule::Table => {
            let parts: Vec<&str> = text.split('.').collect();
            let illegal = |ch: char| {
                ch.is_whitespace() || ch.is_control() || matches!(ch, '`' | '"' | '\'' | ';' | '\\')
            };
            if text.is_empty() {
                Some("the table needs a name".to_owned())
            } else if parts.len() > 2 || parts.contains(&"") {
                Some(format!(
                    "{text:?} is not a table: write `table` or `database.table`"
                ))
            } else {
                let wrong = text.chars().find(|ch| illegal(*ch))?;
                Some(format!(
                    "{text:?} is not a table: {wrong:?} is not allowed in its name"
                ))
            }
        }
    }
}

/// A value as the end of "expected .., found ..".
pub(super) fn found(shape: &Shape) -> String {
    match shape {
        Shape::Closure(_) => "a closure".to_owned(),
        Shape::Path(Some(name)) => format!("the name `{name}`"),
        Shape::Path(None) => "a path".to_owned(),
        Shape::Str(_) => "a string".to_owned(),
        Shape::Other(kind) => (*kind).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_tables_follow_the_rules_of_their_systems() {
        let long = "x".repeat(250);
        for (text, rule, legal) in [
            ("orders.v2_eu-1", Rule::Topic, true),
            ("", Rule::Topic, false),
            ("..", Rule::Topic, false),
            ("or ders", Rule::Topic, false),
            ("größe", Rule::Topic, false),
            (&long[1..], Rule::Topic, true),
            (&long, Rule::Topic, false),
            ("orders", Rule::Table, true),
            ("db.orders", Rule::Table, true),
            ("größe", Rule::Table, true),
            ("", Rule::Table, false),
            ("a.b.c", Rule::Table, false),
            ("db.", Rule::Table, false),
            ("orders; drop", Rule::Table, false),
        ] {
            assert_eq!(broken(text, rule).is_none(), legal, "{text:?}");
        }
    }
}
