//! The registry is the reference: every entry can be written as it says, and what it says of itself is true.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use spate_lang::diagnostic::Code;
use spate_lang::pipeline::registry::{Branch, Kind, OptionKind, Part, RESERVED, StageDef, stages};
use spate_lang::pipeline::{diagnose, expand};

fn codes(features: &str, source: &str) -> Vec<Code> {
    let mut input: TokenStream = format!("[spate] [{features}]").parse().expect("a front");
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    diagnose(input)
        .iter()
        .map(|diagnostic| diagnostic.code())
        .collect()
}

/// A legal chain around a stage.
fn chain(stage: &StageDef, written: &str) -> String {
    match stage.part() {
        Part::Source => format!("{written} -> bytes -> capture"),
        Part::Decoder => format!("memory -> {written} -> capture::<u8>"),
        Part::Transform => format!("memory -> bytes -> {written} -> capture"),
        Part::Sink | Part::Branch => format!("memory -> bytes -> {written}"),
    }
}

const ALL: &str = "kafka avro clickhouse";

fn built() -> impl Iterator<Item = &'static StageDef> {
    stages().filter(|stage| !stage.is_planned())
}

#[test]
fn every_example_and_every_usage_is_legal() {
    for stage in built() {
        assert_eq!(codes(ALL, stage.example), [], "{}", stage.example);
        assert!(stage.example.contains(stage.name), "{}", stage.name);
        let usage = stage.usage.replace("..)", "record)");
        assert_eq!(codes(ALL, &chain(stage, &usage)), [], "{usage}");
        assert!(stage.doc.ends_with('.'), "{}", stage.name);
    }
}

#[test]
fn every_stage_refuses_an_option_that_it_does_not_have() {
    for stage in built() {
        let arguments = if stage.positional.is_empty() {
            "colour = 1"
        } else {
            "|record| record, colour = 1"
        };
        let arms = match stage.kind {
            Kind::Branch(Branch::Route) => "{ _ => capture }",
            Kind::Branch(Branch::Tee) => "{ arm: capture }",
            _ => "",
        };
        let source = chain(stage, &format!("{}({arguments}) {arms}", stage.name));
        assert_eq!(codes(ALL, &source), [Code::UnknownOption], "{source}");
    }
}

#[test]
fn every_option_is_taken_and_documented() {
    for stage in built() {
        let function = if stage.positional.is_empty() {
            ""
        } else {
            "f, "
        };
        for option in stage.options {
            let value = match option.kind {
                OptionKind::Policy => "skip",
                OptionKind::Switch => "off",
                OptionKind::Setting { .. } => "\"name\"",
            };
            let source = chain(
                stage,
                &format!("{}({function}{} = {value})", stage.name, option.name),
            );
            assert_eq!(codes(ALL, &source), [], "{source}");
            assert!(option.doc.ends_with('.'), "{}", option.name);
        }
    }
}

#[test]
fn on_error_is_an_option_of_exactly_the_stages_that_can_fail() {
    for stage in stages() {
        let takes = stage.options.iter().any(|option| option.name == "on_error");
        assert_eq!(takes, stage.fallible, "{}", stage.name);
    }
}

#[test]
fn a_stage_without_its_feature_is_an_error_that_names_it() {
    for stage in built() {
        let Some(feature) = stage.feature else {
            continue;
        };
        let found = codes("", &chain(stage, stage.usage));
        assert_eq!(found, [Code::FeatureOff], "{feature}");
    }
}

#[test]
fn what_is_planned_is_never_unknown() {
    for stage in stages().filter(|stage| stage.is_planned()) {
        let found = codes(ALL, &chain(stage, &stage.usage.replace("..", "record")));
        assert_eq!(found, [Code::NotAvailable], "{}", stage.usage);
    }
}

#[test]
fn what_is_reserved_is_free_of_stages_and_refused_as_stage_label_and_clause() {
    for word in RESERVED {
        assert!(stages().all(|stage| stage.name != *word), "{word}");
        for source in [
            format!("memory -> bytes -> {word}(x) -> capture"),
            format!("memory -> bytes -> {word}: map(f) -> capture"),
            format!("memory -> bytes -> capture {word} = 1;"),
        ] {
            assert_eq!(codes(ALL, &source), [Code::Reserved], "{source}");
        }
    }
}

#[test]
fn a_name_is_one_stage_in_each_part() {
    let mut seen = HashSet::new();
    for stage in stages() {
        assert!(
            seen.insert((stage.name, format!("{:?}", stage.part()))),
            "{}",
            stage.name
        );
    }
}

#[test]
fn the_generated_code_names_what_the_registry_says() {
    for stage in built() {
        let path = match stage.kind {
            Kind::Source(path) | Kind::Sink(path) => path.to_owned(),
            Kind::Decoder(decoder) => decoder.path.to_owned(),
            Kind::Transform(_) | Kind::Branch(_) => format!("stage::{}", stage.name),
            Kind::Planned(_) => continue,
        };
        let mut input: TokenStream = format!("[spate] [{ALL}]").parse().expect("a front");
        // A closure may be written into the loop; a function is always called by the helper.
        let function = format!("a {{ memory -> bytes -> {}(f) -> capture }}", stage.name);
        let example = match stage.kind {
            Kind::Transform(_) => function.as_str(),
            _ => stage.example,
        };
        input.extend(example.parse::<TokenStream>().expect("tokens"));
        let output = expand(input).to_string().replace(' ', "");
        assert!(
            output.contains(&format!("spate::__private::{path}")),
            "{path}"
        );
    }
}
