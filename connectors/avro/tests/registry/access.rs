//! Several servers, who asks, what a schema refers to, the subject of the start.

use spate_avro::AvroRecord as _;
use spate_runtime::decode::Admit;

use crate::server::{Reply, Server, referring, schema, unknown};
use crate::{Pair, Stage, ask, framed, pair, wait};

fn stage(servers: &[&Server], more: &str) -> Stage {
    let urls: Vec<String> = servers
        .iter()
        .map(|server| format!("\"{}\"", server.url()))
        .collect();
    Stage::open(&format!(
        "deserializer: {{ registry: {{ urls: [{}]{more} }} }}",
        urls.join(", ")
    ))
}

fn stopped(stage: &Stage, id: u32) -> String {
    match wait(&mut *stage.gate(), &[framed(id, 1, "v")]) {
        Admit::Stop(error) => {
            assert!(!error.is_retryable());
            error.message
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn trouble_with_one_server_is_none_while_another_answers() {
    let (first, second) = (Server::start(), Server::start());
    let late = Reply::Http(429, "Retry-After: 3600", String::new());
    for (id, reply) in [
        (1, late),
        (2, Reply::Hang),
        (3, Reply::Silence),
        (4, Reply::Cut(100)),
        (5, unknown()),
    ] {
        first.script(id, &[reply]);
        second.script(id, &[schema(Pair::SCHEMA)]);
        // Each has its own memory of who answered last.
        // Long enough for a busy machine; only the server that hangs is waited for.
        let stage = stage(&[&first, &second], ", timeout: 5s");
        assert_eq!(stage.run(&[framed(id, 1, "v")]), [pair(1, "v")], "{id}");
        assert_eq!((first.count(id), second.count(id)), (1, 1), "{id}");
    }
}

#[test]
fn the_server_that_answered_last_is_asked_first() {
    let (first, second) = (Server::start(), Server::start());
    first.script(1, &[Reply::Hang]);
    second.script(1, &[schema(Pair::SCHEMA)]);
    second.script(2, &[schema(Pair::SCHEMA)]);
    let stage = stage(&[&first, &second], "");
    stage.run(&[framed(1, 1, "v")]);
    stage.run(&[framed(2, 1, "v")]);
    assert_eq!((first.count(1), first.count(2), second.count(2)), (1, 0, 1));
}

#[test]
fn an_id_is_unknown_only_if_every_server_says_so() {
    let (first, second) = (Server::start(), Server::start());
    first.script(1, &[unknown()]);
    second.script(1, &[Reply::Http(500, "", String::new()), unknown()]);
    let stage = stage(&[&first, &second], "");
    let refused = Err("unknown schema id 1: the registry does not have it".to_owned());
    assert_eq!(stage.run(&[framed(1, 1, "v")]), [refused]);
    assert_eq!((first.count(1), second.count(1)), (2, 2));
}

#[test]
fn a_token_is_presented_and_never_shown() {
    let server = Server::start();
    server.script(1, &[schema(Pair::SCHEMA)]);
    server.script(2, &[Reply::Http(403, "", String::new())]);
    let stage = stage(&[&server], ", token: hidden-one");
    stage.run(&[framed(1, 1, "v")]);
    let (_, authorization) = server.asked().remove(0);
    assert_eq!(authorization.as_deref(), Some("Bearer hidden-one"));
    let message = stopped(&stage, 2);
    assert!(
        message.contains("`token`") && !message.contains("hidden-one"),
        "{message}"
    );
}

/// `Pair` with a record of another subject in it, in pieces: a diamond that also closes to a circle.
const OUTER: &str = r#"{"type":"record","name":"Outer","namespace":"n","fields":[{"name":"left","type":"m.Left"},{"name":"right","type":"Right"},{"name":"kind","type":"m.Kind"}]}"#;
const LEFT: &str = r#"{"type":"record","name":"Left","namespace":"m","fields":[{"name":"leaf","type":"Leaf"},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A"]}}]}"#;
const RIGHT: &str = r#"{"type":"record","name":"Right","namespace":"n","fields":[{"name":"leaf","type":"m.Leaf"}]}"#;
const LEAF: &str = r#"{"type":"record","name":"Leaf","namespace":"m","fields":[{"name":"up","type":["null","Left"]}]}"#;

#[test]
fn references_are_fetched_once_each_and_make_one_schema_in_any_order() {
    let server = Server::start();
    let left = ("m.Left", "left subject", 2);
    let right = ("n.Right", "right", 1);
    let leaf = ("m.Leaf", "leaf", 3);
    server.script(7, &[referring(OUTER, &[right, left])]);
    server.script_path(
        "/subjects/left%20subject/versions/2?deleted=true",
        &[referring(LEFT, &[leaf])],
    );
    server.script_path(
        "/subjects/right/versions/1?deleted=true",
        &[referring(RIGHT, &[leaf])],
    );
    server.script_path(
        "/subjects/leaf/versions/3?deleted=true",
        &[referring(LEAF, &[left])],
    );
    // The compiled schema does not fit, so the difference tells how far the parts were put together.
    let stage = stage(&[&server], "");
    let error = stage
        .run(&[framed(7, 1, "v")])
        .remove(0)
        .expect_err("another schema");
    assert!(
        error.contains("n.Outer") && error.contains("test.Pair"),
        "{error}"
    );
    assert_eq!(server.asked().len(), 4, "{:?}", server.asked());
}

#[test]
fn a_schema_that_refers_to_what_is_not_there_is_an_error_of_its_records() {
    let server = Server::start();
    server.script(7, &[referring(OUTER, &[("m.Left", "left", 2)])]);
    server.script(8, &[referring(OUTER, &[("m.Left", "trouble", 1)])]);
    server.script_path("/subjects/left/versions/2?deleted=true", &[unknown()]);
    server.script_path(
        "/subjects/trouble/versions/1?deleted=true",
        &[
            Reply::Hang,
            Reply::Http(503, "", String::new()),
            referring(LEFT, &[]),
        ],
    );
    let stage = stage(&[&server], "");
    let errors: Vec<String> = stage
        .run(&[framed(7, 1, "v"), framed(8, 1, "v")])
        .into_iter()
        .map(|result| result.expect_err("not usable"))
        .collect();
    assert_eq!(
        errors,
        [
            "schema id 7 refers to `m.Left`, version 2 of the subject `left`, which the registry does not have",
            "schema id 8 cannot be used: it names `Leaf` and does not define it",
        ]
    );
}

#[test]
fn the_latest_schema_of_the_subject_is_compared_before_anything_runs() {
    let server = Server::start();
    let latest = "/subjects/pairs-value/versions/latest";
    server.script_path(
        latest,
        &[
            Reply::Http(500, "", String::new()),
            referring(Pair::SCHEMA, &[]),
        ],
    );
    let first = stage(&[&server], ", subject: pairs-value");
    assert!(matches!(ask(&mut *first.gate(), &[vec![]]), Admit::Hold));
    // Its id is known then, and nobody has to ask for it.
    assert_eq!(first.run(&[framed(7, 1, "v")]), [pair(1, "v")]);
    assert_eq!(server.asked().len(), 2);

    let other = Pair::SCHEMA.replace("\"long\"", "\"string\"");
    server.script_path(latest, &[referring(&other, &[])]);
    let message = stopped(&stage(&[&server], ", subject: pairs-value"), 7);
    assert!(
        message.starts_with("the latest schema of the subject `pairs-value` does not fit")
            && message.contains("`key`"),
        "{message}"
    );
    server.script_path(latest, &[unknown()]);
    let message = stopped(&stage(&[&server], ", subject: pairs-value"), 7);
    assert!(
        message.contains("has no subject `pairs-value`"),
        "{message}"
    );
}

#[test]
fn ids_and_references_are_those_of_the_subjects_context() {
    let server = Server::start();
    server.script_path(
        "/subjects/%3A.eu%3Apairs-value/versions/latest",
        &[schema(Pair::SCHEMA)],
    );
    // The default context has another schema of that id, and another subject of that name.
    server.script(9, &[schema("\"int\"")]);
    server.script_path("/subjects/leaf/versions/1?deleted=true", &[unknown()]);
    let text = r#"{"type":"record","name":"Pair","namespace":"test","fields":[
        {"name":"leaf","type":"m.Leaf"},{"name":"far","type":"m.Far"},{"name":"key","type":"long"},{"name":"value","type":"string"}]}"#;
    let references = [("m.Leaf", "leaf", 1), ("m.Far", ":.us:far", 2)];
    server.script_path(
        "/schemas/ids/9?subject=%3A.eu%3A",
        &[referring(text, &references)],
    );
    for (path, name) in [
        ("/subjects/%3A.eu%3Aleaf/versions/1?deleted=true", "Leaf"),
        ("/subjects/%3A.us%3Afar/versions/2?deleted=true", "Far"),
    ] {
        let text = format!(r#"{{"type":"record","name":"{name}","namespace":"m","fields":[]}}"#);
        server.script_path(path, &[schema(&text)]);
    }
    let stage = stage(&[&server], ", subject: \":.eu:pairs-value\"");
    assert_eq!(stage.run(&[framed(9, 1, "v")]), [pair(1, "v")]);
}
