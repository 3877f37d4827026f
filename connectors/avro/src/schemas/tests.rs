//! Verdicts on ids: given once, kept, and asked for again.

use spate_runtime::config::Config;

use super::*;
use crate::config::DecoderConfig;

const SCHEMA: &str = r#"{"type":"record","name":"R","fields":[]}"#;

/// A table whose registry nobody answers for, and the runtime of its fetches, which is never driven.
fn table() -> (Arc<Schemas>, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let yaml = "deserializer: { schema_ids: [1], registry: { url: \"http://127.0.0.1:1\" } }";
    let config = Config::from_yaml(yaml).expect("valid");
    let config = DecoderConfig::read(&config.section("deserializer")).expect("valid");
    let client = config.registry.map(Client::new);
    let registry = client.zip(Some(runtime.handle().clone()));
    (
        Schemas::new("R", SCHEMA, &config.schema_ids, registry).expect("a schema"),
        runtime,
    )
}

fn refused(reason: &str) -> Verdict {
    Verdict::Refused(reason.into())
}

#[test]
fn an_unknown_id_is_asked_for_again_after_a_while_and_its_verdict_holds_until_then() {
    let (schemas, _runtime) = table();
    let now = Instant::now();
    assert_eq!(schemas.ask(7, now), Known::Wait);
    assert_eq!(schemas.ask(7, now), Known::Wait, "asked for once");
    let until = now + limits::FORGET_UNKNOWN_AFTER;
    schemas.settle(7, refused("unknown"), Some(until));
    assert_eq!(
        schemas.ask(7, until - Duration::from_millis(1)),
        Known::Refused
    );
    assert_eq!(schemas.ask(7, until), Known::Wait, "forgotten");
    assert_eq!(
        schemas.verdict(7),
        refused("unknown"),
        "a batch that was let through before still has it"
    );
    schemas.settle(7, Verdict::Same, None);
    assert_eq!(
        schemas.ask(7, until + limits::FORGET_UNKNOWN_AFTER * 100),
        Known::Readable,
        "kept for good"
    );
}

#[test]
fn only_what_the_registry_may_learn_is_asked_for_again() {
    let (schemas, _runtime) = table();
    let now = Instant::now();
    let later = now + limits::FORGET_UNKNOWN_AFTER;
    let said = || "is no good".to_owned();
    for (id, answer, known) in [
        (7, Answer::Unknown, Known::Wait),
        (8, Answer::Incomplete(said()), Known::Wait),
        (9, Answer::Unusable(said()), Known::Refused),
    ] {
        schemas.take(id, answer, now);
        assert_eq!(schemas.ask(id, now), Known::Refused, "{id}");
        assert_eq!(schemas.ask(id, later), known, "{id}");
    }
}

#[test]
fn a_gate_need_not_ask_again_for_what_can_be_read() {
    let (schemas, _runtime) = table();
    let now = Instant::now();
    let (compiled, extras) = parse_reader(SCHEMA).expect("a schema");
    let plan = Resolver::new(&compiled, &compiled, &extras);
    schemas.settle(7, Verdict::Resolve(Arc::new(plan.expect("a plan"))), None);
    schemas.settle(8, refused("another schema"), None);
    assert_eq!(schemas.ask(7, now), Known::Readable);
    assert_eq!(schemas.ask(1, now), Known::Readable);
    assert_eq!(schemas.ask(8, now), Known::Refused);
}

#[test]
fn noise_that_looks_like_ids_does_not_fill_the_memory() {
    let (schemas, _runtime) = table();
    let now = Instant::now();
    for id in 2..(limits::REMEMBERED_IDS as u32 * 3) {
        schemas.ask(id, now);
        schemas.settle(id, refused("unknown"), None);
    }
    assert!(schemas.table().len() <= limits::REMEMBERED_IDS);
    assert_eq!(
        schemas.ask(1, now),
        Known::Readable,
        "what is known to be right is kept"
    );
}

#[test]
fn pauses_grow_within_their_bounds_and_follow_the_registry() {
    let mut pause = limits::FIRST_PAUSE;
    let pauses: Vec<u128> = (0..7)
        .map(|_| next_pause(&mut pause, None).as_millis())
        .collect();
    assert_eq!(pauses, [200, 400, 800, 1600, 3200, 5000, 5000]);
    assert_eq!(
        next_pause(&mut pause, Some(Duration::ZERO)),
        limits::FIRST_PAUSE
    );
    assert_eq!(
        next_pause(&mut pause, Some(Duration::from_secs(2))),
        Duration::from_secs(2)
    );
    assert_eq!(
        next_pause(&mut pause, Some(Duration::from_secs(3600))),
        limits::LONGEST_PAUSE
    );
}
