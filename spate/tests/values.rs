//! A pipeline without a compiled schema: records of two writers, whose schemas only the registry knows, become rows.

use std::time::Duration;

use spate::avro;
use spate_test::services::SchemaRegistry;

/// What the rows keep of an order, whoever wrote it.
fn to_row(order: &avro::Value) -> Result<String, spate::StageError> {
    let id = order.field("order_id")?.as_i64().unwrap_or_default();
    // One writer has a record here, the other a name.
    let customer = order.field("customer")?;
    let name = customer.get("name").unwrap_or(customer).as_str();
    let at = order.get("at").and_then(avro::Value::as_timestamp_millis);
    let quantity: i64 = match order.get("lines") {
        Some(lines) => lines
            .items()
            .filter_map(|line| line.get("qty")?.as_i64())
            .sum(),
        None => 0,
    };
    Ok(format!(
        "{id} {} {at:?} {quantity}",
        name.unwrap_or("nobody")
    ))
}

spate::pipeline! {
    named(least: i64) {
        let mut seen = 0u64;
        memory
        -> avro::<avro::Value>(on_error = skip)
        -> filter(|order| order.get("order_id").and_then(avro::Value::as_i64).is_some_and(|id| id >= least))
        -> inspect(|order| { seen += u64::from(!order.is_null()); })
        -> try_map(|order: avro::Value| to_row(&order), on_error = skip)
        -> capture
    }

    inferred {
        memory
        -> avro
        -> map(|order: avro::Value| order.to_string())
        -> capture
    }

    branched {
        memory
        -> avro::<avro::Value>
        -> route(|order| order.get("note").is_some()) {
            true => map(|order| order.to_string()) -> noted: capture,
            false => tee {
                all: map(|order| order.fields().map(|(name, _)| name).collect::<Vec<_>>().join(",")) -> capture,
                kinds: flat_map(|order: avro::Value| order.items().map(avro::Value::to_string).collect::<Vec<_>>()) -> capture,
            },
        }
    }
}

const OLD: &str = r#"{"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "order_id", "type": "int"}, {"name": "customer", "type": ["null", "string"]}]}"#;

const NEW: &str = r#"{"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "customer", "type": {"type": "record", "name": "Customer", "fields": [{"name": "name", "type": "string"}]}},
    {"name": "order_id", "type": "long"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "qty", "type": "int"}]}}}]}"#;

const OTHER: &str = r#"{"type": "record", "name": "Other", "fields": [{"name": "order_id", "type": "long"}, {"name": "note", "type": "string"}]}"#;

fn framed(id: u32, body: &[u8]) -> Vec<u8> {
    [&[0][..], &id.to_be_bytes(), body].concat()
}

/// Runs it over the payloads, and gives its report back.
fn run(pipeline: spate::Pipeline, deserializer: &str, payloads: &[Vec<u8>]) -> spate::ExitReport {
    let source = pipeline.memory_source().expect("the source is `memory`");
    let yaml = format!(
        "{{pipeline: {{threads: 2, pin: false}}, checkpoint: {{interval: 100ms}}, deserializer: {deserializer}}}"
    );
    let config = spate::Config::from_yaml(&yaml).expect("it is YAML");
    let configured = pipeline.with_config(config).expect("it fits");
    let runtime = configured
        .into_runtime(spate::RuntimeOptions::embedded())
        .expect("it starts");
    let run = std::thread::spawn(move || runtime.run());
    for (partition, payload) in (0..2).cycle().zip(payloads) {
        source.push(partition, payload.clone());
    }
    source.assign_lanes(2);
    for partition in 0..2 {
        let end = (payloads.len() + 1 - partition as usize) / 2;
        assert!(source.wait_committed(partition, end as i64, Duration::from_secs(60)));
    }
    source.close();
    let report = run.join().expect("it returns");
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().unaccounted(), 0);
    report
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn records_of_schemas_that_only_the_registry_knows_become_rows() {
    let registry = SchemaRegistry::start().expect("it starts");
    let id = |text: &str, subject: &str| registry.register(subject, text).expect("a schema");
    let (old, new) = (id(OLD, "old"), id(NEW, "new"));
    let other = id(OTHER, "other");
    let new_order = |n: u8| framed(new, &[4, b'Z', b'o', n << 1, 14, 4, 6, 8, 0]);
    let payloads = [
        framed(old, &[2 << 1, 2, 6, b'M', b'i', b'a']),
        new_order(3),
        framed(old, &[4 << 1, 0]),
        new_order(1),
        // Cut short, and of a writer that has no customer.
        framed(new, &[4, b'Z']),
        framed(other, &[5 << 1, 2, b'x']),
    ];
    let url = registry.url();
    let pipeline = named(2);
    let sink = pipeline
        .capture_sink("capture")
        .expect("the sink is `capture`");
    let report = run(
        pipeline,
        &format!("{{registry: {{url: \"{url}\"}}}}"),
        &payloads,
    );
    assert_eq!(
        sorted(sink.lines()),
        [
            "2 Mia None 0",
            "3 Zo Some(TimestampMillis(7)) 7",
            "4 nobody None 0"
        ]
    );
    let stage = |name: &str| report.stage(name).expect("a stage");
    assert_eq!(
        (
            stage("avro").skipped,
            stage("filter").dropped,
            stage("try_map").skipped
        ),
        (1, 1, 1)
    );
}

#[test]
fn a_closure_may_say_what_the_stage_reads_and_values_go_through_branches() {
    let directory = std::env::temp_dir().join(format!("spate-values-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("other.avsc");
    std::fs::write(&path, OTHER).expect("a file");
    let deserializer = format!("{{framing: raw, schema: \"{}\"}}", path.display());
    let payloads = [vec![10, 2, b'x'], vec![12, 2, b'y']];

    let pipeline = inferred();
    let sink = pipeline.capture_sink("capture").expect("a sink");
    run(pipeline, &deserializer, &payloads);
    let expected = [
        r#"{"order_id": 5, "note": "x"}"#,
        r#"{"order_id": 6, "note": "y"}"#,
    ];
    assert_eq!(sorted(sink.lines()), expected);

    let pipeline = branched();
    let sink = pipeline.capture_sink("noted").expect("a sink");
    run(pipeline, &deserializer, &payloads);
    assert_eq!(sorted(sink.lines()), expected);
    std::fs::remove_dir_all(&directory).expect("it was made");
}

#[test]
fn what_needs_a_compiled_schema_is_refused_when_the_configuration_is_loaded() {
    let pipeline = named(0);
    let yaml = "{deserializer: {schema_ids: [1], registry: {url: \"http://127.0.0.1:1\"}}}";
    let config = spate::Config::from_yaml(yaml).expect("it is YAML");
    let refused = pipeline
        .with_config(config)
        .map(|it| it.into_runtime(spate::RuntimeOptions::embedded()).map(drop));
    let error = match refused {
        Err(error) => error.to_string(),
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(())) => panic!("it starts"),
    };
    assert!(
        error.contains("deserializer.schema_ids") && error.contains("leave them out"),
        "{error}"
    );
}
