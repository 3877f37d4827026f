//! What a build says of a file of `compat` is what the decoder would do with records of it.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::TokenStream;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use spate_avro_schema::{Branch, Node, Plan, Step, Wanted, parse, parse_reader};
use spate_lang::derive;

use crate::pair::Pair;

static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("spate-lang-compat-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
});

/// Writes a file under a name that nothing had before: what was read is kept.
fn file(text: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("{}.avsc", NEXT.fetch_add(1, Ordering::Relaxed));
    std::fs::write(DIR.join(&name), text).expect("a file");
    name
}

fn derived(attribute: &str) -> TokenStream {
    let source = format!("#[avro({attribute})] struct Record {{}}");
    derive::avro_record(source.parse().expect("tokens"), &DIR)
}

/// The texts of the errors in an answer.
fn errors(answer: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(answer).expect("items");
    let texts = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Macro(call) => Some(
            call.mac
                .parse_body::<syn::LitStr>()
                .expect("a text")
                .value(),
        ),
        _ => None,
    });
    texts.collect()
}

/// The schema text that a derive compiles in.
fn compiled(reader: &str) -> String {
    let answer = derived(&format!("schema = {reader:?}")).to_string();
    let (_, text) = answer
        .split_once("const SCHEMA : & 'static str = ")
        .unwrap_or_else(|| panic!("{answer}"));
    let (text, _) = text
        .split_once(" ; const FINGERPRINT")
        .expect("the next one");
    syn::parse_str::<syn::LitStr>(text).expect("a text").value()
}

/// Whether the decoder would refuse records for a value that they have.
fn refuses_some(plan: &Plan) -> bool {
    let mut seen = vec![false; plan.nodes.len()];
    let mut open = vec![plan.root];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id], true) {
            continue;
        }
        match &plan.nodes[id] {
            Node::Symbols(ours) if ours.contains(&None) => return true,
            Node::Blocks { item, .. } => open.push(*item),
            Node::Into(_, node) => open.push(*node),
            Node::Branches { branches, .. } => {
                for branch in branches {
                    match branch {
                        Branch::Read(node) => open.push(*node),
                        Branch::Unreadable => return true,
                    }
                }
            }
            Node::Record { steps, .. } => open.extend(steps.iter().filter_map(|step| match step {
                Step::Keep(_, node) | Step::Skip(_, node) => Some(*node),
                Step::Default(_) => None,
            })),
            Node::Reordered { fields, wanted, .. } => {
                open.extend(fields.iter().map(|(_, node)| *node));
                open.extend(wanted.iter().filter_map(|wanted| match wanted {
                    Wanted::Field(_, node) => Some(*node),
                    Wanted::Default(_) => None,
                }));
            }
            _ => {}
        }
    }
    false
}

#[test]
fn a_build_accepts_a_writers_schema_exactly_if_the_decoder_reads_all_of_its_records() {
    let (read, partly, never) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let cases = 600;
    let mut runner = TestRunner::new(Config {
        cases,
        ..Config::default()
    });
    let drawn = prop::collection::vec(any::<u8>(), 0..160);
    let outcome = runner.run(&drawn, |choices| {
        let (writer, reader) = Pair::records(&choices);
        let (theirs, ours) = (file(&writer), file(&reader));
        let schema = compiled(&ours);
        let (schema, extras) = parse_reader(&schema).expect("the compiled schema");
        let plan = Plan::new(
            &parse(&writer).expect("the writer's schema"),
            &schema,
            &extras,
        );
        let said = errors(derived(&format!("schema = {ours:?}, compat = {theirs:?}")));
        let of = |count: &Cell<u32>| count.set(count.get() + 1);
        match plan {
            Ok(plan) if !refuses_some(&plan) => {
                of(&read);
                prop_assert_eq!(said, [""; 0], "{} -> {}", writer, reader);
            }
            Ok(_) => {
                of(&partly);
                prop_assert_eq!(said.len(), 1, "{} -> {}", writer, reader);
                prop_assert!(
                    said[0].starts_with("[SP085] ") && said[0].contains(": some records of "),
                    "{}",
                    said[0]
                );
            }
            Err(error) => {
                of(&never);
                prop_assert_eq!(said.len(), 1, "{} -> {}: {}", writer, reader, error);
                prop_assert!(said[0].starts_with("[SP085] "), "{}: {error}", said[0]);
                for (n, difference) in error.told().iter().enumerate() {
                    let told = match n {
                        0 => format!(",\n{difference}\n"),
                        _ => format!(": nor can they {difference}\n"),
                    };
                    prop_assert!(said[0].contains(&told), "{}: {}", said[0], difference);
                }
            }
        }
        Ok(())
    });
    std::fs::remove_dir_all(&*DIR).expect("the files");
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let counts = [read.get(), partly.get(), never.get()];
    assert!(
        counts.iter().all(|count| count * 20 > cases),
        "too few of a kind: {counts:?}"
    );
}
