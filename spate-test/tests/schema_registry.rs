//! The registry stub: the answers of the real one, and its failures on demand.

use serde_json::{Value, json};
use spate_test::services::{Auth, Reference, SchemaRegistry, SchemaType};
use std::time::Duration;

const A: &str = r#"{"type":"record","name":"A","fields":[{"name":"x","type":"long"}]}"#;
const B: &str = r#"{"type":"record","name":"B","fields":[]}"#;

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(120)))
        .build()
        .new_agent()
}

fn get(registry: &SchemaRegistry, path: &str) -> (u16, Value) {
    let mut answer = agent()
        .get(format!("{}{path}", registry.url()))
        .call()
        .unwrap();
    let body = answer.body_mut().read_to_string().unwrap();
    (
        answer.status().as_u16(),
        serde_json::from_str(&body).unwrap(),
    )
}

fn post(registry: &SchemaRegistry, path: &str, body: &Value) -> (u16, Value) {
    let mut answer = agent()
        .post(format!("{}{path}", registry.url()))
        .header("Content-Type", "application/vnd.schemaregistry.v1+json")
        .send(body.to_string())
        .unwrap();
    let body = answer.body_mut().read_to_string().unwrap();
    (
        answer.status().as_u16(),
        serde_json::from_str(&body).unwrap(),
    )
}

#[test]
fn a_schema_is_found_by_id_subject_and_version() {
    let registry = SchemaRegistry::start().unwrap();
    let id = registry.register("flights-value", A).unwrap();
    let other = registry.register("flights-value", B).unwrap();
    assert_eq!(
        get(&registry, &format!("/schemas/ids/{id}")),
        (200, json!({ "schema": A }))
    );
    assert_eq!(get(&registry, "/subjects"), (200, json!(["flights-value"])));
    assert_eq!(
        get(&registry, "/subjects/flights-value/versions"),
        (200, json!([1, 2]))
    );
    let latest = json!({ "subject": "flights-value", "version": 2, "id": other, "schema": B });
    assert_eq!(
        get(&registry, "/subjects/flights-value/versions/latest"),
        (200, latest.clone())
    );
    assert_eq!(
        get(&registry, "/subjects/flights-value/versions/2"),
        (200, latest)
    );
    assert_eq!(
        get(&registry, &format!("/schemas/ids/{id}/schema")).1,
        serde_json::from_str::<Value>(A).unwrap()
    );
    assert_eq!(
        get(&registry, &format!("/schemas/ids/{id}/versions")),
        (200, json!([{ "subject": "flights-value", "version": 1 }]))
    );
}

#[test]
fn the_same_schema_has_one_id_in_every_subject() {
    let registry = SchemaRegistry::start().unwrap();
    let id = registry.register("a", A).unwrap();
    let spaced = A.replace(':', " : ");
    assert_eq!(
        post(
            &registry,
            "/subjects/b%2Fc/versions",
            &json!({ "schema": spaced })
        ),
        (200, json!({ "id": id }))
    );
    assert_eq!(
        get(&registry, "/subjects/b%2Fc/versions"),
        (200, json!([1]))
    );
    assert_eq!(
        get(&registry, &format!("/schemas/ids/{id}/subjects")),
        (200, json!(["a", "b/c"]))
    );
    let found = json!({ "subject": "a", "version": 1, "id": id, "schema": A });
    assert_eq!(
        post(&registry, "/subjects/a", &json!({ "schema": A })),
        (200, found)
    );
    assert_eq!(
        post(&registry, "/subjects/a", &json!({ "schema": B })).1["error_code"],
        40403
    );
}

#[test]
fn other_types_and_references_are_told() {
    let registry = SchemaRegistry::start().unwrap();
    registry
        .register_as("common", SchemaType::Protobuf, "message C {}", &[])
        .unwrap();
    let reference = Reference {
        name: "c.proto".into(),
        subject: "common".into(),
        version: 1,
    };
    let id = registry
        .register_as("m", SchemaType::Protobuf, "message M {}", &[reference])
        .unwrap();
    let body = json!({
        "schema": "message M {}",
        "schemaType": "PROTOBUF",
        "references": [{ "name": "c.proto", "subject": "common", "version": 1 }],
    });
    assert_eq!(get(&registry, &format!("/schemas/ids/{id}")), (200, body));
    let dangling = Reference {
        name: "x".into(),
        subject: "nope".into(),
        version: 1,
    };
    assert!(
        registry
            .register_as("m", SchemaType::Protobuf, "message N {}", &[dangling])
            .is_err()
    );
}

#[test]
fn an_id_of_choice_is_kept_and_never_given_to_another_schema() {
    let registry = SchemaRegistry::start().unwrap();
    registry.register_with_id("a", 7, A).unwrap();
    assert_eq!(get(&registry, "/schemas/ids/7").0, 200);
    assert!(registry.register_with_id("a", 7, B).is_err());
    assert_eq!(registry.register("a", B).unwrap(), 8);
}

#[test]
fn what_is_not_there_has_the_registrys_error_codes() {
    let registry = SchemaRegistry::start().unwrap();
    registry.register("a", A).unwrap();
    let code = |path: &str| {
        let (status, body) = get(&registry, path);
        (status, body["error_code"].as_u64().unwrap())
    };
    assert_eq!(code("/schemas/ids/99"), (404, 40403));
    assert_eq!(code("/subjects/b/versions"), (404, 40401));
    assert_eq!(code("/subjects/a/versions/9"), (404, 40402));
    assert_eq!(code("/subjects/a/versions/first"), (422, 42202));
    let (status, body) = post(
        &registry,
        "/subjects/a/versions",
        &json!({ "schema": "{no json" }),
    );
    assert_eq!((status, &body["error_code"]), (422, &json!(42201)));
}

#[test]
fn only_the_right_credentials_are_let_in() {
    let registry = SchemaRegistry::start().unwrap();
    registry.register_with_id("a", 1, A).unwrap();
    let with = |authorization: &str| {
        let url = format!("{}/schemas/ids/1", registry.url());
        agent()
            .get(url)
            .header("Authorization", authorization)
            .call()
            .unwrap()
            .status()
            .as_u16()
    };
    registry.set_auth(Auth::Basic {
        user: "user".into(),
        password: "pass".into(),
    });
    assert_eq!(
        (with("Basic dXNlcjpwYXNz"), with("Basic dXNlcjp3cm9uZw==")),
        (200, 401)
    );
    assert_eq!(get(&registry, "/schemas/ids/1").0, 401);
    registry.set_auth(Auth::Bearer {
        token: "t0ken".into(),
    });
    assert_eq!(
        (
            with("Bearer t0ken"),
            with("Bearer other"),
            with("Basic dXNlcjpwYXNz")
        ),
        (200, 401, 401)
    );
}

#[test]
fn faults_come_as_often_as_asked_and_every_request_is_counted() {
    let registry = SchemaRegistry::start().unwrap();
    registry.register_with_id("a", 7, A).unwrap();
    let url = format!("{}/schemas/ids/7", registry.url());
    let status = || get(&registry, "/schemas/ids/7").0;

    registry.fail_next(2);
    assert_eq!((status(), status(), status()), (500, 500, 200));

    registry.throttle_next(1, 3);
    let throttled = agent().get(&url).call().unwrap();
    assert_eq!(
        (
            throttled.status().as_u16(),
            throttled.headers()["Retry-After"].to_str().unwrap()
        ),
        (429, "3")
    );
    assert_eq!(status(), 200);

    registry.drop_next(1);
    assert!(agent().get(&url).call().is_err());
    assert_eq!(status(), 200);

    registry.cut_next(1);
    let mut cut = agent().get(&url).call().unwrap();
    assert!(cut.status().as_u16() == 200 && cut.body_mut().read_to_string().is_err());
    assert_eq!(status(), 200);

    assert_eq!(
        (
            registry.requests_for("GET /schemas/ids/7"),
            registry.requests()
        ),
        (9, 9)
    );
}

#[test]
fn a_hanging_registry_answers_nobody_until_it_is_switched_back() {
    let registry = SchemaRegistry::start().unwrap();
    registry.register_with_id("a", 7, A).unwrap();
    registry.hang(true);
    let impatient = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(300)))
        .build()
        .new_agent();
    assert!(
        impatient
            .get(format!("{}/schemas/ids/7", registry.url()))
            .call()
            .is_err()
    );
    registry.clear_faults();
    assert_eq!(get(&registry, "/schemas/ids/7").0, 200);
}
