//! What a lint says, and whether it speaks of the user's code or of ours.

use serde_json::Value;

/// A lint that fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// `clippy::needless_return`, or rustc's own name for it.
    pub name: String,
    /// As a terminal shows it.
    pub text: String,
    /// Whether a primary place of it is in code that `pipeline!` or a derive of ours has written.
    pub is_generated: bool,
}

/// How rustc calls our macros.
const OURS: [&str; 5] = [
    "pipeline!",
    "pipeline_impl!",
    "__expand!",
    "AvroRecord",
    "Row",
];

impl Lint {
    /// Reads a diagnostic of rustc; `None` for one without a lint or another code, such as the count at the end.
    pub(crate) fn read(message: &Value) -> Option<Lint> {
        let name = message["code"]["code"].as_str()?.to_owned();
        let text = message["rendered"].as_str().unwrap_or_default().to_owned();
        let spans = message["spans"].as_array().into_iter().flatten();
        let mut primary = spans.filter(|span| span["is_primary"] == true);
        let is_generated = primary.any(is_generated);
        Some(Lint {
            name,
            text,
            is_generated,
        })
    }
}

fn is_generated(span: &Value) -> bool {
    let expansion = &span["expansion"];
    let name = expansion["macro_decl_name"].as_str().unwrap_or_default();
    let name = name.trim_start_matches("#[derive(").trim_end_matches(")]");
    let last = name.rsplit("::").next().unwrap_or_default();
    OURS.contains(&last) || (!expansion.is_null() && is_generated(&expansion["span"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_ours(expansions: &[&str]) -> bool {
        let mut span = Value::Null;
        for name in expansions.iter().rev() {
            span = json!({"expansion": {"macro_decl_name": name, "span": span}});
        }
        span["is_primary"] = true.into();
        let message = json!({"code": {"code": "clippy::x"}, "rendered": "", "spans": [span]});
        Lint::read(&message).expect("a lint").is_generated
    }

    #[test]
    fn what_our_macros_wrote_is_ours_through_any_other_macro() {
        for (expansions, ours) in [
            (&["spate::pipeline!"][..], true),
            (&["#[derive(AvroRecord)]"], true),
            (&["#[derive(spate::Row)]"], true),
            (&["matches!", "kit::etl::pipeline!"], true),
            (&["matches!"], false),
            (&["#[derive(Clone)]"], false),
            (&["my_pipeline!"], false),
        ] {
            assert_eq!(is_ours(expansions), ours, "{expansions:?}");
        }
        let users =
            json!({"code": {"code": "x"}, "spans": [{"is_primary": true, "expansion": null}]});
        assert!(!Lint::read(&users).expect("a lint").is_generated);
        assert_eq!(Lint::read(&json!({"code": null, "spans": []})), None);
    }
}
