//! The program's command line and its configuration file: nothing here needs a server.

use spate_it::{OrdersProcess, Settings};

use crate::assert_names;

const EXE: &str = env!("CARGO_BIN_EXE_orders");

/// A configuration that is right; nobody listens there.
fn settings() -> Settings {
    Settings::default()
        .set("source.brokers", "[\"127.0.0.1:1\"]")
        .set("source.topics", "[orders]")
        .set("source.group_id", "orders-etl")
        .set("deserializer.registry.url", "\"http://127.0.0.1:1\"")
        .set("sink.url", "\"http://127.0.0.1:1\"")
        .set("sink.table", "orders")
}

/// Runs the program with the file and these further arguments.
fn run(settings: &Settings, args: &[&str]) -> (Option<i32>, String) {
    let path = OrdersProcess::config_file(settings);
    let text = path.to_string_lossy().into_owned();
    let all: Vec<&str> = ["--config", &text].iter().chain(args).copied().collect();
    let end = OrdersProcess::with_args(EXE, &all).finish();
    // Best effort: a small file in the temporary folder.
    let _ = std::fs::remove_file(path);
    end
}

/// The configuration is refused with all of these parts, before anything is started.
fn refused(settings: &Settings, parts: &[&str]) {
    for args in [&[][..], &["--check"]] {
        let (code, output) = run(settings, args);
        assert_eq!(code, Some(2), "{args:?}: {output}");
        assert_names(&output, parts);
    }
}

#[test]
fn check_accepts_a_right_file_without_any_server() {
    let (code, output) = run(&settings(), &["--check"]);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.trim_end().ends_with(": ok"), "{output}");
}

#[test]
fn a_misspelt_setting_is_refused_with_its_path_and_a_suggestion() {
    refused(
        &settings().set("source.group_idd", "x"),
        &["source.group_idd", "group_id"],
    );
    refused(
        &settings().set("sink.batch.max_row", 5),
        &["sink.batch.max_row", "max_rows"],
    );
    refused(
        &settings().set("sink.databse", "x"),
        &["sink.databse", "database"],
    );
    refused(
        &settings().set("deserializer.registry.timout", "1s"),
        &["deserializer.registry.timout", "timeout"],
    );
    refused(
        &settings().set("checkpoint.intervall", "1s"),
        &["checkpoint.intervall", "interval"],
    );
    refused(&settings().set("sourse.topic", "x"), &["sourse", "source"]);
}

#[test]
fn a_missing_setting_is_refused_with_its_path() {
    for path in [
        "source.brokers",
        "source.topics",
        "source.group_id",
        "sink.url",
        "sink.table",
    ] {
        refused(&settings().without(path), &[path]);
    }
    refused(
        &settings().without("deserializer.registry.url"),
        &["deserializer", "registry.url"],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_its_path() {
    refused(
        &settings().set("sink.batch.max_rows", "many"),
        &["sink.batch.max_rows"],
    );
    refused(
        &settings().set("checkpoint.interval", 5),
        &["checkpoint.interval"],
    );
    refused(
        &settings().set("pipeline.threads", 0),
        &["pipeline.threads"],
    );
    refused(&settings().set("sink.url", "localhost"), &["sink.url"]);
    refused(
        &settings().set("source.brokers", "[localhost]"),
        &["source.brokers"],
    );
    refused(
        &settings().set("source.start_offset", "newest"),
        &["source.start_offset"],
    );
}

#[test]
fn a_variable_that_is_not_set_is_refused_by_its_name_and_path() {
    let missing = settings().set("sink.password", "\"${SPATE_IT_NOT_SET}\"");
    refused(&missing, &["sink.password", "SPATE_IT_NOT_SET"]);
    let told = settings().set(
        "sink.password",
        "\"${SPATE_IT_NOT_SET:?ask the operators}\"",
    );
    refused(&told, &["sink.password", "ask the operators"]);
}

#[test]
fn commits_behind_the_engines_back_are_refused() {
    for key in ["enable.auto.commit", "enable.auto.offset.store"] {
        let settings = settings().set("source.rdkafka", format!("{{{key}: true}}"));
        refused(&settings, &[&format!("source.rdkafka.{key}")]);
    }
    refused(
        &settings().set("sink.settings", "{async_insert: 1}"),
        &["sink.settings.async_insert"],
    );
}

#[test]
fn a_refusal_shows_no_value() {
    let settings = settings().set("sink.password", "hunter2").set(
        "source.rdkafka",
        "{sasl.password: hunter3, sasl.mechanism: hunter4}",
    );
    let (code, output) = run(&settings.set("sink.nothing", "hunter5"), &[]);
    assert_eq!(code, Some(2), "{output}");
    assert!(!output.contains("hunter"), "{output}");
}

#[test]
fn a_file_that_is_not_there_or_not_yaml_is_refused() {
    let (code, output) =
        OrdersProcess::with_args(EXE, &["--config", "/nowhere/spate.yaml"]).finish();
    assert_eq!(code, Some(2), "{output}");
    assert_names(&output, &["/nowhere/spate.yaml"]);
    refused(&settings().set("sink.database", "[unclosed"), &["error"]);
}

#[test]
fn without_a_file_the_command_line_is_refused_and_help_tells_the_exit_codes() {
    let (code, output) = OrdersProcess::with_args(EXE, &[]).finish();
    assert_eq!(code, Some(2), "{output}");
    assert_names(&output, &["--config"]);
    let (code, output) = OrdersProcess::with_args(EXE, &["--help"]).finish();
    assert_eq!(code, Some(0), "{output}");
    assert_names(&output, &["--config", "--check", "--graph", "Exit codes"]);
}

#[test]
fn graph_prints_the_stages_as_a_flowchart() {
    let (code, output) = OrdersProcess::with_args(EXE, &["--graph"]).finish();
    assert_eq!(code, Some(0), "{output}");
    let expected = "flowchart LR
    s0[(\"kafka\")]
    s1[/\"avro<br/>on_error = skip\"/]
    s2[\"paid: filter<br/>asked after total_cents\"]
    s3[\"to_row: try_map<br/>on_error = skip\"]
    s4[(\"clickhouse\")]
    s0 --> s1
    s1 --> s2
    s2 --> s3
    s3 --> s4
";
    assert_eq!(output, expected);
}

#[test]
fn graph_knows_other_formats_and_names_them_when_it_does_not() {
    for (format, first) in [("dot", "digraph"), ("text", "orders\n    kafka\n")] {
        let argument = format!("--graph={format}");
        let (code, output) = OrdersProcess::with_args(EXE, &[&argument]).finish();
        assert_eq!(code, Some(0), "{output}");
        assert!(output.starts_with(first), "{output}");
    }
    let (code, output) = OrdersProcess::with_args(EXE, &["--graph=svg"]).finish();
    assert_eq!(code, Some(2), "{output}");
    assert_names(&output, &["svg", "mermaid", "dot", "text"]);
}
