//! The arrows between crates that must never exist (ARCHITECTURE.md), read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Direct dependencies of each workspace crate on workspace crates, without dev-dependencies.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let direct = dependencies
                .iter()
                .filter(|d| d["kind"].as_str() != Some("dev"));
            (
                name(package),
                direct.map(name).filter(|d| ours.contains(d)).collect(),
            )
        })
        .collect()
}

fn only(arrows: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &[&str]) {
    let allowed: BTreeSet<String> = to.iter().map(|name| (*name).to_owned()).collect();
    let found = arrows
        .get(from)
        .unwrap_or_else(|| panic!("there is no crate {from}"));
    let forbidden: Vec<_> = found.difference(&allowed).collect();
    assert!(
        forbidden.is_empty(),
        "{from} must not depend on {forbidden:?}"
    );
}

#[test]
fn no_crate_depends_on_what_it_must_not_know() {
    let arrows = arrows();
    only(&arrows, "spate-runtime", &[]);
    only(&arrows, "spate-lang", &["spate-avro-schema"]);
    only(&arrows, "spate-macros", &["spate-lang"]);
    only(&arrows, "spate-avro-schema", &[]);
    only(
        &arrows,
        "spate-avro",
        &["spate-avro-schema", "spate-runtime"],
    );
    for connector in ["spate-clickhouse", "spate-kafka"] {
        only(&arrows, connector, &["spate-runtime"]);
    }
    only(&arrows, "spate-test", &["spate-runtime"]);
    only(
        &arrows,
        "spate",
        &[
            "spate-avro",
            "spate-clickhouse",
            "spate-kafka",
            "spate-macros",
            "spate-runtime",
        ],
    );
}
