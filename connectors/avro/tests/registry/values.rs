//! `avro::<avro::Value>` against a registry: every writer's schema is read by itself, through the same look-ups.

use spate_avro::value::Value;
use spate_avro::{Avro, AvroRecord as _};
use spate_runtime::decode::{Admit, Decode, DecoderKind};
use spate_runtime::record::{Headers, Record};
use spate_runtime::scratch::Scratch;

use crate::known_faults::IdHeader;
use crate::server::{Reply, Server, referring, schema, unknown};
use crate::{Pair, Stage, ask, framed, wait};

fn stage(server: &Server, more: &str) -> Stage {
    let url = server.url();
    let yaml = format!("deserializer: {{ registry: {{ url: \"{url}\"{more} }} }}");
    Stage::open_for::<Value>(&yaml).expect("a valid section")
}

/// Waits for the verdicts, then decodes every payload.
fn run(stage: &Stage, payloads: &[Vec<u8>]) -> Vec<Result<String, String>> {
    let admit = wait(&mut *stage.gate(), payloads);
    assert!(matches!(admit, Admit::Ready), "{admit:?}");
    decode(stage, payloads)
}

fn decode(stage: &Stage, payloads: &[Vec<u8>]) -> Vec<Result<String, String>> {
    let mut thread = Avro::thread(&*stage.decoder);
    let scratch = Scratch::new();
    let mut decode = |payload: &Vec<u8>| {
        let record = Record::new(0, Some(payload));
        let value: Result<Value, _> = Avro::decode(&mut thread, &record, &scratch);
        value.map(|it| it.to_string()).map_err(|it| it.to_string())
    };
    payloads.iter().map(&mut decode).collect()
}

fn body(id: u32, body: &[u8]) -> Vec<u8> {
    [&[0][..], &id.to_be_bytes(), body].concat()
}

fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

const OTHER: &str = r#"{"type":"record","name":"Other","fields":[{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-millis"}]}]}"#;

#[test]
fn records_of_different_schemas_in_one_batch_are_each_read_by_their_own() {
    let server = Server::start();
    server.script(1, &[schema(Pair::SCHEMA)]);
    server.script(2, &[schema(OTHER)]);
    let stage = stage(&server, "");
    let payloads = [
        framed(1, 1, "a"),
        body(2, &[2, 14]),
        framed(1, 2, "b"),
        body(2, &[0]),
        body(2, &[0]),
    ];
    let expected = [
        ok(r#"{"key": 1, "value": "a"}"#),
        ok(r#"{"at": 7}"#),
        ok(r#"{"key": 2, "value": "b"}"#),
        ok(r#"{"at": null}"#),
        ok(r#"{"at": null}"#),
    ];
    assert_eq!(run(&stage, &payloads), expected);
    assert_eq!(run(&stage, &payloads), expected);
    assert_eq!((server.count(1), server.count(2)), (1, 1), "asked for once");
}

#[test]
fn more_schemas_than_a_thread_keeps_are_read_all_the_same() {
    let server = Server::start();
    let payloads: Vec<Vec<u8>> = (1..=40).chain(1..=40).map(|id| body(id, &[2])).collect();
    for id in 1..=40 {
        let text =
            format!(r#"{{"type":"record","name":"R","fields":[{{"name":"f{id}","type":"int"}}]}}"#);
        server.script(id, &[schema(&text)]);
    }
    let results = run(&stage(&server, ""), &payloads);
    for (id, result) in (1..=40).chain(1..=40).zip(results) {
        assert_eq!(result, Ok(format!("{{\"f{id}\": 1}}")));
    }
}

#[test]
fn a_schema_with_references_is_read_with_the_types_of_other_subjects() {
    let server = Server::start();
    let outer = r#"{"type":"record","name":"Outer","namespace":"n","fields":[{"name":"leaf","type":"m.Leaf"},{"name":"again","type":["null","m.Leaf"]}]}"#;
    let leaf = r#"{"type":"record","name":"Leaf","namespace":"m","fields":[{"name":"kind","type":"Kind"},{"name":"up","type":["null","Leaf"]}]}"#;
    let kind = r#"{"type":"enum","name":"Kind","namespace":"m","symbols":["A","B"]}"#;
    server.script(7, &[referring(outer, &[("m.Leaf", "leaf", 3)])]);
    server.script_path(
        "/subjects/leaf/versions/3?deleted=true",
        &[referring(leaf, &[("m.Kind", "kind", 1)])],
    );
    server.script_path(
        "/subjects/kind/versions/1?deleted=true",
        &[referring(kind, &[])],
    );
    let value = run(&stage(&server, ""), &[body(7, &[2, 2, 0, 0, 2, 0, 0])]);
    let expected = r#"{"leaf": {"kind": "B", "up": {"kind": "A", "up": null}}, "again": {"kind": "A", "up": null}}"#;
    assert_eq!(value, [ok(expected)]);
}

#[test]
fn a_schema_that_cannot_be_used_is_an_error_of_its_records_with_id_and_reason() {
    let server = Server::start();
    server.script(1, &[schema(Pair::SCHEMA)]);
    server.script(
        2,
        &[schema(r#"{"type":"record","name":"a-b","fields":[]}"#)],
    );
    server.script(3, &[unknown()]);
    server.script(
        4,
        &[schema(
            r#"{"type":"record","name":"R","fields":[{"name":"x","type":"Nowhere"}]}"#,
        )],
    );
    let json = r#"{"schema":"{}","schemaType":"JSON"}"#.to_owned();
    server.script(5, &[Reply::Http(200, "", json)]);
    let stage = stage(&server, "");
    let payloads: Vec<Vec<u8>> = [1, 2, 3, 4, 5, 1].map(|id| framed(id, 4, "v")).to_vec();
    let refused = |text: &str| Err(text.to_owned());
    let expected = [
        ok(r#"{"key": 4, "value": "v"}"#),
        refused("schema id 2 cannot be used: `a-b` is not a name"),
        refused("unknown schema id 3: the registry does not have it"),
        refused("schema id 4 cannot be used: it names `Nowhere` and does not define it"),
        refused("schema id 5 is a schema of type JSON, not Avro"),
        ok(r#"{"key": 4, "value": "v"}"#),
    ];
    assert_eq!(run(&stage, &payloads), expected);
    assert_eq!(run(&stage, &payloads), expected);
    assert_eq!(server.asked().len(), 5, "verdicts stay");
}

#[test]
fn an_error_of_a_record_names_schema_id_field_and_byte() {
    let server = Server::start();
    server.script(1, &[schema(Pair::SCHEMA)]);
    let results = run(
        &stage(&server, ""),
        &[
            body(1, &[2, 4, b'a']),
            body(1, &[2, 2, 0xff]),
            body(1, &[2, 2, b'a', 0]),
            framed(0, 1, "v"),
            b"{}".to_vec(),
        ],
    );
    let errors: Vec<String> = results
        .into_iter()
        .map(|it| it.expect_err("damaged"))
        .collect();
    assert_eq!(
        errors[..3],
        [
            "schema id 1, field `value`, byte 7 of 8: the payload ends here, 1 more bytes are needed",
            "schema id 1, field `value`, byte 8 of 8: text that is not UTF-8",
            "schema id 1, byte 8 of 9: 1 bytes are left behind the end of the record: it was written with another schema",
        ]
    );
    assert!(
        errors[3].starts_with("schema id 0 is none that a registry gives"),
        "{}",
        errors[3]
    );
    assert!(errors[4].contains("begins like text"), "{}", errors[4]);
}

#[test]
fn an_id_in_a_header_is_said_and_none_is_read_out_of_the_payload() {
    let server = Server::start();
    server.script(7, &[schema(Pair::SCHEMA)]);
    let stage = stage(&server, "");
    let headers = Headers::new(&IdHeader, 0);
    let mut thread = Avro::thread(&*stage.decoder);
    let scratch = Scratch::new();
    for payload in [framed(9, 1, "v"), vec![2, 2, b'v']] {
        let record = Record::new(0, Some(&payload)).with_headers(headers);
        let value: Result<Value, _> = Avro::decode(&mut thread, &record, &scratch);
        let error = value.expect_err("its id is elsewhere").to_string();
        assert!(
            error.contains("in the header `__value_schema_id`"),
            "{error}"
        );
    }
}

#[test]
fn an_outage_holds_the_batch_and_nothing_is_lost_when_the_registry_is_back() {
    let server = Server::start();
    let busy = Reply::Http(503, "Retry-After: 0", String::new());
    server.script(7, &[busy, Reply::Hang, schema(OTHER)]);
    let stage = stage(&server, "");
    let payloads = vec![body(7, &[2, 2]); 50];
    assert!(matches!(ask(&mut *stage.gate(), &payloads), Admit::Hold));
    let early = decode(&stage, &payloads[..1]);
    assert_eq!(
        early,
        [Err("schema id 7 has not been looked up".to_owned())]
    );
    assert_eq!(run(&stage, &payloads), vec![ok(r#"{"at": 1}"#); 50]);
    assert_eq!(server.count(7), 3);
}

#[test]
fn refused_credentials_stop_the_pipeline_of_values_too() {
    let server = Server::start();
    server.script(7, &[Reply::Http(401, "", String::new())]);
    match wait(
        &mut *stage(&server, ", token: hidden-one").gate(),
        &[body(7, &[0])],
    ) {
        Admit::Stop(error) => {
            assert!(
                !error.is_retryable() && error.message.contains("401"),
                "{error}"
            );
            assert!(!error.message.contains("hidden-one"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_latest_schema_of_the_subject_is_there_before_anything_runs_and_has_to_be_usable() {
    let server = Server::start();
    let latest = "/subjects/others/versions/latest";
    server.script_path(latest, &[referring(OTHER, &[])]);
    let first = stage(&server, ", subject: others");
    assert_eq!(run(&first, &[body(7, &[2, 2])]), [ok(r#"{"at": 1}"#)]);
    assert_eq!(server.asked().len(), 1, "its id is known then");
    server.script_path(latest, &[referring("{", &[])]);
    match wait(&mut *stage(&server, ", subject: others").gate(), &[vec![]]) {
        Admit::Stop(error) => assert!(
            error.message.starts_with("the latest schema of the subject `others` does not fit: schema id 7 cannot be used: it is not JSON"),
            "{error}"
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn payloads_without_an_id_are_read_by_the_schema_of_the_configuration() {
    let directory = std::env::temp_dir().join(format!("spate-values-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("pair.avsc");
    std::fs::write(&path, Pair::SCHEMA).expect("a file");
    let open = |framing: &str, path: &std::path::Path| {
        let path = path.display();
        Stage::open_for::<Value>(&format!(
            "deserializer: {{ framing: {framing}, schema: \"{path}\" }}"
        ))
    };
    let raw = open("raw", &path).expect("a valid section");
    assert!(raw.decoder.gate().is_none());
    let results = decode(&raw, &[vec![8, 2, b'v'], vec![8, 2]]);
    assert_eq!(results[0], ok(r#"{"key": 4, "value": "v"}"#));
    let cut = "field `value`, byte 2 of 2: the payload ends here, 1 more bytes are needed";
    assert_eq!(results[1], Err(cut.to_owned()));

    let single = open("single_object", &path).expect("a valid section");
    let theirs = apache_avro::Schema::parse_str(Pair::SCHEMA).expect("a schema");
    let fingerprint = theirs.fingerprint::<apache_avro::rabin::Rabin>().bytes;
    let mut payload = [&[0xc3, 0x01][..], &fingerprint, &[8, 2, b'v']].concat();
    assert_eq!(
        decode(&single, std::slice::from_ref(&payload)),
        [ok(r#"{"key": 4, "value": "v"}"#)]
    );
    payload[2] ^= 1;
    let error = decode(&single, &[payload])
        .remove(0)
        .expect_err("another schema");
    assert!(
        error.contains("fingerprint") && error.contains("`deserializer.schema`"),
        "{error}"
    );

    std::fs::write(&path, "{").expect("a file");
    for path in [path, directory.join("nowhere.avsc")] {
        let error = open("raw", &path).err().expect("no schema");
        assert!(
            error.contains("deserializer.schema") && error.contains(&path.display().to_string()),
            "{error}"
        );
    }
    std::fs::remove_dir_all(&directory).expect("it was made");
}
