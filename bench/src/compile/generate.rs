//! The sources of one case: the schema, the table, the types, and the work, with the macro or by hand.

use std::fmt::Write as _;

use super::project::File;

/// The size of a case.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) pipelines: usize,
    /// Transforms of each pipeline.
    pub(crate) stages: usize,
    /// Fields of the schema, and columns of the table.
    pub(crate) fields: usize,
}

/// How the work is written.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    Macro,
    Hand,
}

impl Case {
    pub(crate) fn name(&self, style: Style) -> String {
        let style = match style {
            Style::Macro => "macro",
            Style::Hand => "hand",
        };
        format!(
            "p{}_k{}_f{}_{style}",
            self.pipelines, self.stages, self.fields
        )
    }
}

/// A crate without any work: compiling it builds the dependencies.
pub(crate) fn empty() -> Vec<File> {
    vec![(
        "src/lib.rs".to_owned(),
        "pub use spate as facade;\n".to_owned(),
    )]
}

/// The files of a case.
pub(crate) fn files(case: &Case, style: Style) -> Vec<File> {
    vec![
        ("record.avsc".to_owned(), schema(case)),
        ("rows.sql".to_owned(), table(case)),
        ("src/lib.rs".to_owned(), source(case, style)),
    ]
}

/// Avro type, Rust type and column type of a field, by its number.
fn types(n: usize) -> (&'static str, &'static str, &'static str) {
    match n % 4 {
        0 => ("\"long\"", "i64", "Int64"),
        1 => ("\"string\"", "&'a str", "String"),
        2 => ("\"double\"", "f64", "Float64"),
        _ => (
            "[\"null\", \"string\"]",
            "Option<&'a str>",
            "Nullable(String)",
        ),
    }
}

fn schema(case: &Case) -> String {
    let fields: Vec<String> = (0..case.fields)
        .map(|n| format!("{{\"name\": \"f{n}\", \"type\": {}}}", types(n).0))
        .collect();
    format!(
        "{{\"type\": \"record\", \"name\": \"Record\", \"fields\": [{}]}}\n",
        fields.join(",\n")
    )
}

fn table(case: &Case) -> String {
    let columns: Vec<String> = (0..case.fields)
        .map(|n| format!("f{n} {}", types(n).2))
        .collect();
    format!(
        "CREATE TABLE rows ({}) ENGINE = MergeTree ORDER BY f0;\n",
        columns.join(",\n")
    )
}

fn source(case: &Case, style: Style) -> String {
    let mut out = String::from("use spate::prelude::*;\n\n");
    let fields = |out: &mut String| {
        for n in 0..case.fields {
            let _ = writeln!(out, "    pub f{n}: {},", types(n).1);
        }
    };
    out.push_str(
        "#[derive(AvroRecord)]\n#[avro(schema = \"record.avsc\")]\npub struct Record<'a> {\n",
    );
    fields(&mut out);
    out.push_str("}\n\n#[derive(Row)]\n#[row(table = \"rows.sql\")]\npub struct Out<'a> {\n");
    fields(&mut out);
    out.push_str("}\n\npub fn to_row<'a>(record: Record<'a>) -> Out<'a> {\n    Out {\n");
    for n in 0..case.fields {
        let _ = writeln!(out, "        f{n}: record.f{n},");
    }
    out.push_str("    }\n}\n\n");
    match style {
        Style::Macro => with_macro(case, &mut out),
        Style::Hand => by_hand(case, &mut out),
    }
    out
}

/// What the transform of that number does: every other one drops, every other one changes.
fn with_macro(case: &Case, out: &mut String) {
    for pipeline in 0..case.pipelines {
        let _ = writeln!(
            out,
            "spate::pipeline! {{\n    pub work{pipeline}(limit: i64) {{\n        memory\n        -> avro::<Record<'_>>(on_error = skip)"
        );
        for stage in 0..case.stages {
            let line = match stage % 2 {
                0 => format!("filter(|record| record.f0 > limit + {stage})"),
                _ => format!("map(|mut record| {{ record.f0 += {stage}; record }})"),
            };
            let _ = writeln!(out, "        -> {line}");
        }
        out.push_str("        -> map(to_row)\n        -> clickhouse\n    }\n}\n\n");
    }
}

/// The same work over the same types, as somebody would write it who has a batch and a buffer.
fn by_hand(case: &Case, out: &mut String) {
    out.push_str(
        "use spate::connector::record::Batch;\nuse spate::connector::sink::RowEncoder;\n\n",
    );
    for pipeline in 0..case.pipelines {
        let _ = writeln!(
            out,
            "pub fn work{pipeline}(batch: &Batch<'_>, limit: i64, out: &mut Vec<u8>, skipped: &mut u64) -> Result<usize, Box<dyn std::error::Error>> {{\n    let mut rows = 0;\n    \
             for record in batch.records() {{\n        let payload = record.payload();\n        let mut record = match spate::avro::decode_body::<Record<'_>>(payload, payload.len()) {{\n            \
             Ok(record) => record,\n            Err(_) => {{\n                *skipped += 1;\n                continue;\n            }}\n        }};"
        );
        for stage in 0..case.stages {
            let line = match stage % 2 {
                0 => {
                    format!("if record.f0 <= limit + {stage} {{\n            continue;\n        }}")
                }
                _ => format!("record.f0 += {stage};"),
            };
            let _ = writeln!(out, "        {line}");
        }
        out.push_str(
            "        let row = to_row(record);\n        <spate::clickhouse::ClickHouse as RowEncoder<Out<'_>>>::encode(&row, out)?;\n        rows += 1;\n    }\n    Ok(rows)\n}\n\n",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_styles_have_the_stages_of_the_case() {
        let case = Case {
            pipelines: 2,
            stages: 5,
            fields: 3,
        };
        let macros = source(&case, Style::Macro);
        assert_eq!(macros.matches("-> filter").count(), 6);
        assert_eq!(macros.matches("record.f0 +=").count(), 4);
        let by_hand = source(&case, Style::Hand);
        assert_eq!(by_hand.matches("if record.f0").count(), 6);
        assert_eq!(by_hand.matches("record.f0 +=").count(), 4);
    }
}
