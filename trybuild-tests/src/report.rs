//! What the compiler said, without what differs from machine to machine: paths, the sources of others, the closing lines.

use std::path::Path;

use serde_json::Value;

/// Directories of this machine and what stands for them.
#[derive(Debug)]
pub(crate) struct Places {
    /// Longest first, so that a directory inside another is found.
    names: Vec<(String, &'static str)>,
}

impl Places {
    pub(crate) fn new(
        ui: &Path,
        root: &Path,
        project: &Path,
        sysroot: &Path,
        cargo_home: Option<&Path>,
    ) -> Self {
        let mut names = vec![
            (text(ui), "ui"),
            (text(project), "$PROJECT"),
            (text(root), "$WORKSPACE"),
            (text(&sysroot.join("lib/rustlib/src/rust")), "$RUST"),
        ];
        if let Some(home) = cargo_home {
            names.push((text(&home.join("registry/src")), "$CARGO"));
        }
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Places { names }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// One diagnostic of cargo's stream as it is compared; `None` for the closing lines (`aborting due to ..`), which belong to
/// no mistake.
pub(crate) fn diagnostic(message: &Value, places: &Places) -> Option<String> {
    let closing = message["spans"].as_array()?.is_empty()
        && message["message"].as_str().is_some_and(|text| {
            text.starts_with("aborting due to")
                || text.starts_with("For more information")
                || text.starts_with("Some errors have detailed explanations")
                || text.ends_with("emitted")
        });
    let rendered = message["rendered"].as_str()?;
    (!closing).then(|| {
        let mut text = rendered.to_owned();
        for (path, name) in &places.names {
            text = text.replace(path.as_str(), name);
        }
        normalize(&text)
    })
}

/// A rendered diagnostic whose known directories have been replaced: what it quotes from sources other than the case is
/// left out, and so are line numbers there, because they change without any change of ours and the standard library's
/// source may not be installed.
pub fn normalize(rendered: &str) -> String {
    let mut lines = Vec::new();
    let mut foreign = false;
    for line in rendered.trim_end().lines().map(str::trim_end) {
        match arrow(line) {
            Some((indent, arrow, place)) => {
                foreign = !place.starts_with("ui/");
                lines.push(match foreign {
                    true => format!("{indent}{arrow} {}", elsewhere(place)),
                    false => line.to_owned(),
                });
            }
            None if foreign && is_quoted(line) => {}
            None => {
                foreign = foreign && line.starts_with(' ');
                lines.push(line.to_owned());
            }
        }
    }
    narrow(&mut lines);
    lines.push(String::new());
    lines.join("\n")
}

/// Makes the margin as wide as the line numbers that are left: rustc makes it as wide as those of all sources.
fn narrow(lines: &mut [String]) {
    let Some(first) = lines.iter().position(|line| arrow(line).is_some()) else {
        return;
    };
    let width = |line: &String| arrow(line).map_or(0, |(indent, ..)| indent.len());
    let number = |line: &String| {
        line.trim_start()
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count()
    };
    let quoted = lines[first..].iter().filter(|line| is_quoted(line));
    let needed = quoted.map(number).max().unwrap_or(0).max(1);
    let surplus = " ".repeat(width(&lines[first]).saturating_sub(needed));
    for line in &mut lines[first..] {
        if let Some(rest) = line.strip_prefix(&surplus) {
            *line = rest.to_owned();
        }
    }
}

/// The parts of `  --> place` and `  ::: place`.
fn arrow(line: &str) -> Option<(&str, &str, &str)> {
    let rest = line.trim_start();
    let indent = &line[..line.len() - rest.len()];
    ["-->", ":::"].into_iter().find_map(|arrow| {
        let place = rest.strip_prefix(arrow)?.strip_prefix(' ')?;
        Some((indent, arrow, place))
    })
}

/// A place in a file that is none of ours, without line and column, compiler's hash, or the name of a registry.
fn elsewhere(place: &str) -> String {
    let file = place.split(':').next().unwrap_or(place);
    match file
        .strip_prefix("/rustc/")
        .and_then(|rest| rest.split_once('/'))
    {
        Some((_, file)) => format!("$RUST/{file}"),
        None => match file
            .strip_prefix("$CARGO/")
            .and_then(|rest| rest.split_once('/'))
        {
            Some((_, file)) => format!("$CARGO/{file}"),
            None => file.to_owned(),
        },
    }
}

/// A line of a quotation: `12 | code`, `   | ^^^`, `...`.
fn is_quoted(line: &str) -> bool {
    let rest = line.trim_start_matches(|ch: char| ch.is_ascii_digit() || ch == ' ');
    rest.starts_with('|') || rest == "..." || rest.starts_with("...  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_others_are_named_and_not_quoted() {
        let rendered = "error[E0277]: no row\n   --> ui/fail/a.rs:3:5\n    |\n  3 |     clickhouse\n    |     ^^^ no\n    |\n\
                        note: required by a bound\n   --> $WORKSPACE/spate-runtime/src/stage.rs:130:8\n    |\n120 | pub fn encode\n    |        \
                        ------ here\n...\n130 |     S: RowEncoder<R>,\n    |        ^^^ required\n    = note: this stays\nnote: and\n   --> \
                        /rustc/0123abc/library/core/src/ops/function.rs:12:1\n   ::: $CARGO/some-index/serde-1.0.228/src/lib.rs:1:1\n\n";
        let expected = "error[E0277]: no row\n --> ui/fail/a.rs:3:5\n  |\n3 |     clickhouse\n  |     ^^^ no\n  |\n\
                        note: required by a bound\n --> $WORKSPACE/spate-runtime/src/stage.rs\n  = note: this stays\nnote: and\n --> \
                        $RUST/library/core/src/ops/function.rs\n ::: $CARGO/serde-1.0.228/src/lib.rs\n";
        assert_eq!(normalize(rendered), expected);
    }

    #[test]
    fn closing_lines_belong_to_no_mistake() {
        let places = Places { names: Vec::new() };
        for (text, spans, kept) in [
            ("aborting due to 2 previous errors", "[]", false),
            (
                "For more information about this error, try `rustc --explain E0277`.",
                "[]",
                false,
            ),
            ("1 warning emitted", "[]", false),
            ("cannot find `emitted`", "[{}]", true),
        ] {
            let message = format!(
                r#"{{"message": "{text}", "spans": {spans}, "rendered": "error: {text}\n"}}"#
            );
            let message = serde_json::from_str(&message).expect("a message");
            assert_eq!(diagnostic(&message, &places).is_some(), kept, "{text}");
        }
    }
}
