//! How much `pipeline!` writes for a stage: what rustc reads again in every build.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use spate_lang::pipeline::expand;

/// What a stage may cost beside the user's own tokens: its node in the graph and its part of the loop.
const MOST: usize = 150;

/// Bytes of a pipeline with these stages.
fn bytes(stages: &str) -> usize {
    let mut input: TokenStream = "[$crate] [kafka avro clickhouse]".parse().expect("a front");
    let source = format!("p {{ memory -> bytes {stages} -> capture }}");
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    let mut text = String::new();
    write(expand(input), &mut text);
    assert!(!text.contains("compile_error"), "{text}");
    text.len()
}

/// Tokens as text, with a space only between two words: `proc-macro2` puts one around every mark, rustc does not.
fn write(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
            }
            other => {
                let other = other.to_string();
                let is_word =
                    |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric() || ch == '_');
                if is_word(text.chars().last()) && is_word(other.chars().next()) {
                    text.push(' ');
                }
                text.push_str(&other);
            }
        }
    }
}

#[test]
fn a_simple_stage_is_at_most_150_bytes() {
    for (stage, own) in [
        ("map(f)", "f"),
        ("filter(f)", "f"),
        ("inspect(f)", "f"),
        ("map(|order| order.total)", "|order|order.total"),
        ("filter(|order| order.total > 1)", "|order|order.total>1"),
        ("inspect(|order| log(order))", "|order|log(order)"),
    ] {
        // Between ten and a hundred of them, most have two digits.
        let few = bytes(&format!("-> {stage} ").repeat(10));
        let many = bytes(&format!("-> {stage} ").repeat(90));
        let each = (many - few) / 80 - own.len();
        println!("{stage}: {each} bytes");
        assert!(each <= MOST, "{stage} takes {each} bytes");
    }
}

#[test]
fn a_pipeline_grows_with_its_stages_and_not_faster() {
    let [none, half, all] = [0, 50, 100].map(|n| bytes(&"-> map(f) ".repeat(n)));
    // Numbers get a third digit at the end.
    assert!(all - half <= (half - none) * 11 / 10, "{none} {half} {all}");
}
