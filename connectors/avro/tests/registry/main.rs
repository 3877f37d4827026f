//! The stage against a registry: what holds a batch, what is a record's error, what stops the pipeline.
#![deny(warnings)]

mod access;
mod known_faults;
mod server;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "value")]
mod values;

use std::sync::Arc;
use std::time::{Duration, Instant};

use server::{Reply, Server, schema, unknown};
use spate_avro::{Avro, AvroRecord as _};
use spate_macros::AvroRecord;
use spate_runtime::config::Config;
use spate_runtime::decode::{Admit, Decode, DecoderKind, Gate, SharedDecoder};
use spate_runtime::record::{Batch, Partition, Record};
use spate_runtime::scratch::Scratch;
use spate_runtime::source::OpenContext;
use tokio::runtime::Runtime;

/// What an application sees as `spate`.
pub mod facade {
    /// Where derives find the codec.
    pub mod __private {
        pub use spate_avro as avro;
    }
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/pair.avsc", crate = facade)]
struct Pair<'a> {
    key: i64,
    value: &'a str,
}

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

struct Stage {
    decoder: Arc<dyn SharedDecoder>,
    /// Fetches run on it.
    _runtime: Runtime,
}

impl Stage {
    fn open(yaml: &str) -> Self {
        Self::try_open(yaml).expect("a valid section")
    }

    fn try_open(yaml: &str) -> Result<Self, String> {
        Self::open_for::<Pair<'_>>(yaml)
    }

    /// The stage of another record type.
    fn open_for<'b, R>(yaml: &str) -> Result<Self, String>
    where
        Avro: Decode<'b, R>,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let config = Config::from_yaml(yaml).expect("valid YAML");
        let context = OpenContext {
            pipeline: "test".to_owned(),
            threads: 1,
            tokio: Some(runtime.handle().clone()),
            attachment: None,
        };
        let reader = <Avro as Decode<'b, R>>::reader();
        let decoder = Avro::open(&config.section("deserializer"), reader, &context)
            .map_err(|error| format!("{error:?}"))?;
        Ok(Stage {
            decoder,
            _runtime: runtime,
        })
    }

    fn with_registry(server: &Server, more: &str) -> Self {
        Self::open(&format!(
            "deserializer: {{ registry: {{ url: \"{}\"{more} }} }}",
            server.url()
        ))
    }

    fn gate(&self) -> Box<dyn Gate> {
        self.decoder.gate().expect("a gate")
    }

    /// Waits for the verdicts, then decodes every payload.
    fn run(&self, payloads: &[Vec<u8>]) -> Vec<Result<(i64, String), String>> {
        let admit = wait(&mut *self.gate(), payloads);
        assert!(matches!(admit, Admit::Ready), "{admit:?}");
        let mut thread = Avro::thread(&*self.decoder);
        let scratch = Scratch::new();
        let decode = |payload: &Vec<u8>| {
            let record = Record::new(0, Some(payload));
            let pair: Result<Pair<'_>, _> = Avro::decode(&mut thread, &record, &scratch);
            pair.map(|pair| (pair.key, pair.value.to_owned()))
                .map_err(|error| error.to_string())
        };
        payloads.iter().map(decode).collect()
    }
}

fn ask(gate: &mut dyn Gate, payloads: &[Vec<u8>]) -> Admit {
    let records: Vec<Record<'_>> = (0..)
        .zip(payloads)
        .map(|(n, payload)| Record::new(n, Some(payload)))
        .collect();
    let partition = Partition::new("orders", 0);
    gate.admit(&Batch::new(&partition, &records, records.len() as i64))
}

/// Asks as a driver does, until the answer is not to hold.
fn wait(gate: &mut dyn Gate, payloads: &[Vec<u8>]) -> Admit {
    let started = Instant::now();
    loop {
        match ask(gate, payloads) {
            Admit::Hold if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5))
            }
            answer => return answer,
        }
    }
}

/// A framed pair.
fn framed(id: u32, key: i64, value: &str) -> Vec<u8> {
    assert!((0..64).contains(&key) && value.len() < 64, "one byte each");
    let head = [(key << 1) as u8, (value.len() << 1) as u8];
    [&[0][..], &id.to_be_bytes(), &head, value.as_bytes()].concat()
}

fn pair(key: i64, value: &str) -> Result<(i64, String), String> {
    Ok((key, value.to_owned()))
}

#[test]
fn an_error_that_passes_holds_the_batch_and_drops_nothing() {
    let server = Server::start();
    let busy = Reply::Http(503, "Retry-After: 0", String::new());
    server.script(7, &[busy, Reply::Hang, schema(Pair::SCHEMA)]);
    let stage = Stage::with_registry(&server, "");
    let payloads: Vec<Vec<u8>> = (0..60).map(|key| framed(7, key, "v")).collect();
    assert!(
        matches!(ask(&mut *stage.gate(), &payloads), Admit::Hold),
        "nothing is known at first"
    );
    let expected: Vec<_> = (0..60).map(|key| pair(key, "v")).collect();
    assert_eq!(stage.run(&payloads), expected);
    assert_eq!(server.count(7), 3);
}

#[test]
fn an_id_is_asked_for_once_however_many_threads_want_it() {
    let server = Server::start();
    server.script(7, &[schema(Pair::SCHEMA)]);
    let stage = Stage::with_registry(&server, ", username: me, password: \"it's\"");
    let mut gates: Vec<_> = (0..8).map(|_| stage.gate()).collect();
    for gate in &mut gates {
        let _ = ask(&mut **gate, &[framed(7, 1, "a"), framed(7, 2, "b")]);
    }
    for gate in &mut gates {
        assert!(matches!(
            wait(&mut **gate, &[framed(7, 1, "a")]),
            Admit::Ready
        ));
    }
    let basic = Some("Basic bWU6aXQncw==".to_owned());
    assert_eq!(server.asked(), [("/schemas/ids/7".to_owned(), basic)]);
}

#[test]
fn a_schema_that_is_not_the_compiled_one_is_an_error_of_its_records_only() {
    let server = Server::start();
    let reformatted =
        Pair::SCHEMA.replace("{\"name\":\"key\"", "{ \"doc\": \"x\", \"name\": \"key\"");
    assert_ne!(reformatted, Pair::SCHEMA);
    server.script(1, &[schema(&reformatted)]);
    server.script(
        2,
        &[schema(&Pair::SCHEMA.replace("\"long\"", "\"string\""))],
    );
    server.script(3, &[unknown()]);
    server.script(
        4,
        &[Reply::Http(
            200,
            "",
            r#"{"schema":"{}","schemaType":"JSON"}"#.to_owned(),
        )],
    );
    server.script(
        5,
        &[schema(r#"{"type":"record","name":"a-b","fields":[]}"#)],
    );
    let stage = Stage::with_registry(&server, "");
    let payloads: Vec<Vec<u8>> = [1, 2, 3, 4, 5, 1].map(|id| framed(id, 4, "v")).to_vec();
    let refused = |text: &str| Err(text.to_owned());
    assert_eq!(
        stage.run(&payloads),
        [
            pair(4, "v"),
            refused(
                "schema id 2 cannot be read as the compiled schema `test.Pair`, at field path `key`: string there cannot be read as long here"
            ),
            refused("unknown schema id 3: the registry does not have it"),
            refused("schema id 4 is a schema of type JSON, not Avro"),
            refused("schema id 5 cannot be used: `a-b` is not a name"),
            pair(4, "v"),
        ]
    );
    // Verdicts stay: nothing is asked again.
    stage.run(&payloads);
    assert_eq!(server.asked().len(), 5);
}

#[test]
fn records_of_other_schemas_are_resolved_beside_those_of_the_compiled_one() {
    let server = Server::start();
    let narrower = Pair::SCHEMA.replace("\"long\"", "\"int\"");
    let turned = r#"{"type":"record","name":"Pair","namespace":"test","fields":[
        {"name":"more","type":{"type":"array","items":"double"}},{"name":"value","type":["null","string"]},{"name":"key","type":"long"}]}"#;
    server.script(1, &[schema(Pair::SCHEMA)]);
    server.script(2, &[schema(&narrower)]);
    server.script(3, &[schema(turned)]);
    let stage = Stage::with_registry(&server, "");
    let body = |value: &[u8]| [&[0][..], &3u32.to_be_bytes(), &[0][..], value].concat();
    let results = stage.run(&[
        framed(1, 1, "a"),
        framed(2, 2, "b"),
        body(&[2, 2, b'c', 6]),
        framed(2, 4, "d"),
        framed(1, 5, "e"),
        body(&[0, 6]),
        body(&[2, 2, 0xff, 6]),
    ]);
    let expected = [
        pair(1, "a"),
        pair(2, "b"),
        pair(3, "c"),
        pair(4, "d"),
        pair(5, "e"),
    ];
    assert_eq!(results[..5], expected);
    assert_eq!(
        results[5],
        Err("field `value`, byte 7 of 8: branch 0 of the writer's union cannot be read as the compiled type".to_owned()),
        "null in the record of that writer is that record's error"
    );
    // What a text holds is looked at by the compiled decoder, as ever.
    assert!(
        results[6]
            .as_ref()
            .is_err_and(|error| error.contains("UTF-8")),
        "{:?}",
        results[6]
    );
}

#[test]
fn what_is_not_framed_is_the_records_own_error_and_never_asked_for() {
    let server = Server::start();
    let stage = Stage::with_registry(&server, "");
    let payloads = [
        vec![],
        vec![0, 0, 0],
        b"{}".to_vec(),
        vec![0xc3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2],
        framed(0, 1, "v"),
        framed(1 << 31, 1, "v"),
    ];
    for result in stage.run(&payloads) {
        result.expect_err("not framed");
    }
    assert_eq!(server.asked(), []);
}

#[test]
fn refused_credentials_stop_the_pipeline() {
    let server = Server::start();
    for (id, status) in [(7, 401), (8, 403)] {
        server.script(id, &[Reply::Http(status, "", String::new())]);
        let stage = Stage::with_registry(&server, ", username: me, password: hidden-one");
        match wait(&mut *stage.gate(), &[framed(id, 1, "v")]) {
            Admit::Stop(error) => {
                assert!(!error.is_retryable());
                assert!(error.message.contains(&status.to_string()), "{error}");
                assert!(!error.message.contains("hidden-one"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_registry_that_stays_away_stops_the_pipeline_within_the_configured_time() {
    let server = Server::start();
    server.script(7, &[Reply::Http(500, "", String::new())]);
    let stage = Stage::with_registry(&server, ", give_up_after: 300ms");
    match wait(&mut *stage.gate(), &[framed(7, 1, "v")]) {
        Admit::Stop(error) => assert!(
            error.message.contains("HTTP 500") && error.message.contains("300ms"),
            "{error}"
        ),
        other => panic!("{other:?}"),
    }
    // Nobody listens on port 1.
    let yaml = "deserializer: { registry: { url: \"http://127.0.0.1:1\", give_up_after: 100ms } }";
    match wait(&mut *Stage::open(yaml).gate(), &[framed(7, 1, "v")]) {
        Admit::Stop(error) => assert!(error.message.contains("cannot connect"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_batch_that_waits_holds_no_other_batch() {
    let server = Server::start();
    server.script(7, &[Reply::Http(503, "", String::new())]);
    let stage = Stage::open(&format!(
        "deserializer: {{ schema_ids: [1], registry: {{ url: \"{}\" }} }}",
        server.url()
    ));
    let mut gate = stage.gate();
    assert!(matches!(
        ask(&mut *gate, &[framed(1, 1, "v"), framed(7, 1, "v")]),
        Admit::Hold
    ));
    assert!(matches!(
        ask(&mut *gate, &[framed(1, 1, "v")]),
        Admit::Ready
    ));
}

#[test]
fn trusted_ids_need_no_registry_and_others_are_refused() {
    let stage = Stage::open("deserializer: { schema_ids: [1, 2] }");
    let results = stage.run(&[
        framed(2, 1, "a"),
        framed(1, 2, "b"),
        framed(3, 3, "c"),
        framed(2, 4, "d"),
    ]);
    assert_eq!(
        (&results[0], &results[1], &results[3]),
        (&pair(1, "a"), &pair(2, "b"), &pair(4, "d"))
    );
    let error = results[2].as_ref().expect_err("not trusted");
    assert!(
        error.starts_with("schema id 3 is not one of `deserializer.schema_ids`"),
        "{error}"
    );
}

#[test]
fn single_objects_of_the_compiled_schema_are_records_and_others_name_both_fingerprints() {
    let stage = Stage::open("deserializer: { framing: single_object }");
    assert!(stage.decoder.gate().is_none());
    let schema = apache_avro::Schema::parse_str(Pair::SCHEMA).expect("a schema");
    let fingerprint = schema.fingerprint::<apache_avro::rabin::Rabin>().bytes;
    let mut payload = [&[0xc3, 0x01][..], &fingerprint, &[8, 2, b'v']].concat();
    let mut thread = Avro::thread(&*stage.decoder);
    let scratch = Scratch::new();
    let pair: Pair<'_> =
        Avro::decode(&mut thread, &Record::new(0, Some(&payload)), &scratch).expect("a record");
    assert_eq!(pair, Pair { key: 4, value: "v" });
    payload[2] ^= 0xff;
    let error = <Avro as Decode<'_, Pair<'_>>>::decode(
        &mut thread,
        &Record::new(0, Some(&payload)),
        &scratch,
    )
    .expect_err("another schema");
    let said = error.to_string();
    assert!(
        said.contains("fingerprint") && said.contains("the compiled one is"),
        "{said}"
    );
}

#[test]
fn raw_payloads_are_records_and_need_no_gate() {
    let stage = Stage::open("deserializer: { framing: raw }");
    assert!(stage.decoder.gate().is_none());
    let mut thread = Avro::thread(&*stage.decoder);
    let scratch = Scratch::new();
    let payload = [8, 2, b'v'];
    let pair: Pair<'_> =
        Avro::decode(&mut thread, &Record::new(0, Some(&payload)), &scratch).expect("a record");
    assert_eq!(pair, Pair { key: 4, value: "v" });
    let error = <Avro as Decode<'_, Pair<'_>>>::decode(
        &mut thread,
        &Record::new(0, Some(&payload[..2])),
        &scratch,
    )
    .expect_err("cut");
    assert_eq!(
        error.to_string(),
        "field `value`, byte 2 of 2: the payload ends here, 1 more bytes are needed"
    );
}
