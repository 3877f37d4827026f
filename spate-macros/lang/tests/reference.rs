//! The reference in `docs/language.md` is the registry: this test writes it anew and compares.
//! `UPDATE_DOCS=1 cargo test -p spate-lang --test reference` takes over what changed.

use std::fmt::Write as _;
use std::path::Path;

use spate_lang::pipeline::registry::{OptionKind, Part, StageDef, stages};

const BEGIN: &str = "<!-- generated from the stage registry -->\n";

fn stage(out: &mut String, stage: &StageDef) -> std::fmt::Result {
    writeln!(out, "\n### `{}`\n\n{}\n", stage.name, stage.doc)?;
    writeln!(out, "```text\n{}\n```", stage.usage)?;
    if let Some(argument) = stage.type_argument {
        writeln!(
            out,
            "\n`::<Type>` names {argument}; it may be left out where closures say it."
        )?;
    }
    if let Some(feature) = stage.feature {
        writeln!(out, "\nNeeds the feature `{feature}`.")?;
    }
    for option in stage.options {
        match option.kind {
            OptionKind::Policy | OptionKind::Switch => {
                writeln!(out, "\n- `{}`: {}", option.name, option.doc)?;
            }
            OptionKind::Setting { config, .. } => writeln!(
                out,
                "\n- `{} = \"..\"`: {} The configuration sets it as `{config}`.",
                option.name, option.doc
            )?,
        }
    }
    // The tests of the pages compile it.
    writeln!(
        out,
        "\n<!-- prelude: orders -->\n\n```rust\nspate::pipeline! {{\n    example {{ {} }}\n}}\n```",
        stage.example
    )
}

fn reference() -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for (title, part) in [
        ("Sources", Part::Source),
        ("Decoders", Part::Decoder),
        ("Transforms", Part::Transform),
        ("Branches", Part::Branch),
        ("Sinks", Part::Sink),
    ] {
        writeln!(out, "\n## {title}")?;
        for def in stages().filter(|def| def.part() == part && !def.is_planned()) {
            stage(&mut out, def)?;
        }
    }
    writeln!(
        out,
        "\n## Not available yet\n\nThe language knows these names and says so: "
    )?;
    let planned: Vec<String> = stages()
        .filter(|def| def.is_planned())
        .map(|def| format!("`{}`", def.name))
        .collect();
    writeln!(out, "{}.", planned.join(", "))?;
    writeln!(
        out,
        "\n## Error codes\n\nEvery error that the macros report has a code; [Errors at build time](errors.md) has the cause, an example and the fix \
         of each."
    )?;
    Ok(out)
}

#[test]
fn the_documented_reference_is_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = std::fs::read_to_string(&path).expect("docs/language.md");
    let (introduction, documented) = page
        .split_once(BEGIN)
        .expect("the page has a generated part");
    let reference = reference().expect("a String takes everything");
    if documented == reference {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/language.md is not what the registry says; UPDATE_DOCS=1 writes it anew"
    );
    std::fs::write(path, format!("{introduction}{BEGIN}{reference}"))
        .expect("the page can be written");
}
