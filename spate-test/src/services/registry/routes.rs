//! The REST API: paths, status codes and error codes as the registry documents them.

use super::Auth;
use super::store::{Reference, Schema, SchemaType, Store, valid};
use crate::http::{Reply, Request, decode};
use serde_json::{Value, json};

const CONTENT_TYPE: &str = "application/vnd.schemaregistry.v1+json";
const ACCEPTED: [&str; 5] = [
    CONTENT_TYPE,
    "application/vnd.schemaregistry+json",
    "application/json",
    "application/*",
    "*/*",
];

pub(super) fn error(status: u16, code: u32, message: &str) -> Reply {
    reply(status, &json!({ "error_code": code, "message": message }))
}

fn reply(status: u16, body: &Value) -> Reply {
    Reply::new(status, body.to_string()).header("Content-Type", CONTENT_TYPE)
}

/// The refusal of a request that lacks the credentials or accepts nothing that there is.
pub(super) fn refuse(auth: &Auth, request: &Request) -> Option<Reply> {
    let given = request.header("authorization").unwrap_or_default();
    let (granted, scheme) = match auth {
        Auth::None => (true, ""),
        Auth::Basic { user, password } => (
            given
                .strip_prefix("Basic ")
                .is_some_and(|b| b == base64(format!("{user}:{password}").as_bytes())),
            "Basic",
        ),
        Auth::Bearer { token } => (
            given.strip_prefix("Bearer ").is_some_and(|t| t == token),
            "Bearer",
        ),
    };
    if !granted {
        return Some(error(401, 401, "Unauthorized").header("WWW-Authenticate", scheme));
    }
    let accept = request.header("accept")?;
    let one = |part: &str| ACCEPTED.contains(&part.split(';').next().unwrap_or_default().trim());
    if accept.trim().is_empty() || accept.split(',').any(one) {
        return None;
    }
    Some(error(406, 406, "HTTP 406 Not Acceptable"))
}

pub(super) fn route(store: &mut Store, request: &Request) -> Reply {
    // Split first, decode then: a subject may contain an encoded slash.
    let parts: Vec<String> = request
        .path()
        .split('/')
        .filter(|p| !p.is_empty())
        .map(decode)
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", []) => reply(200, &json!({})),
        ("GET", ["schemas", "types"]) => reply(200, &json!(["JSON", "PROTOBUF", "AVRO"])),
        ("GET", ["schemas", "ids", id, rest @ ..]) => by_id(store, id, rest),
        ("GET", ["subjects"]) => reply(200, &json!(store.subjects().collect::<Vec<_>>())),
        ("GET", ["subjects", subject, "versions"]) => match store.versions(subject) {
            Some(ids) => reply(200, &json!((1..=ids.len()).collect::<Vec<_>>())),
            None => no_subject(subject),
        },
        ("GET", ["subjects", subject, "versions", version, rest @ ..]) => {
            by_version(store, subject, version, rest)
        }
        ("POST", ["subjects", subject, "versions"]) => register(store, subject, &request.body),
        ("POST", ["subjects", subject]) => look_up(store, subject, &request.body),
        _ => error(404, 404, "HTTP 404 Not Found"),
    }
}

fn by_id(store: &Store, id: &str, rest: &[&str]) -> Reply {
    let found = id
        .parse()
        .ok()
        .and_then(|id: u32| Some((id, store.schema(id)?)));
    let Some((id, schema)) = found else {
        return error(404, 40403, &format!("Schema {id} not found"));
    };
    let uses = || {
        store.subjects().flat_map(move |subject| {
            let ids = store.versions(subject).unwrap_or_default();
            ids.iter()
                .zip(1u32..)
                .filter(move |(other, _)| **other == id)
                .map(move |(_, version)| (subject, version))
        })
    };
    match rest {
        [] => {
            let mut body = json!({});
            describe(&mut body, schema);
            reply(200, &body)
        }
        ["schema"] => raw(schema),
        ["subjects"] => reply(
            200,
            &json!(uses().map(|(subject, _)| subject).collect::<Vec<_>>()),
        ),
        ["versions"] => {
            let all: Vec<Value> = uses()
                .map(|(s, v)| json!({ "subject": s, "version": v }))
                .collect();
            reply(200, &json!(all))
        }
        _ => error(404, 404, "HTTP 404 Not Found"),
    }
}

fn by_version(store: &Store, subject: &str, version: &str, rest: &[&str]) -> Reply {
    let Some(ids) = store.versions(subject) else {
        return no_subject(subject);
    };
    let number = match version {
        "latest" | "-1" => u32::try_from(ids.len()).unwrap_or(u32::MAX),
        text => match text.parse::<u32>() {
            Ok(number) if number > 0 => number,
            _ => {
                let message = format!("The specified version '{text}' is not a valid version id.");
                return error(422, 42202, &message);
            }
        },
    };
    let Some((id, schema)) = store.version(subject, number) else {
        return error(404, 40402, &format!("Version {number} not found."));
    };
    match rest {
        [] => reply(200, &version_body(subject, number, id, schema)),
        ["schema"] => raw(schema),
        _ => error(404, 404, "HTTP 404 Not Found"),
    }
}

fn register(store: &mut Store, subject: &str, body: &[u8]) -> Reply {
    let Some((schema_type, text, references)) = parse_body(body) else {
        return error(422, 42201, "Empty schema");
    };
    match store.register(subject, schema_type, &text, &references) {
        Ok(id) => reply(200, &json!({ "id": id })),
        Err(message) => error(422, 42201, &message),
    }
}

fn look_up(store: &Store, subject: &str, body: &[u8]) -> Reply {
    let Some(ids) = store.versions(subject) else {
        return no_subject(subject);
    };
    let Some((schema_type, text, references)) = parse_body(body) else {
        return error(422, 42201, "Empty schema");
    };
    let wanted = match valid(schema_type, &text, &references) {
        Ok(wanted) => wanted,
        Err(message) => return error(422, 42201, &message),
    };
    let version = store
        .id_of(&wanted)
        .and_then(|id| ids.iter().zip(1u32..).find(|(other, _)| **other == id));
    match version.and_then(|(_, number)| Some((number, store.version(subject, number)?))) {
        Some((number, (id, schema))) => reply(200, &version_body(subject, number, id, schema)),
        None => error(404, 40403, "Schema not found"),
    }
}

fn no_subject(subject: &str) -> Reply {
    error(404, 40401, &format!("Subject '{subject}' not found."))
}

fn raw(schema: &Schema) -> Reply {
    Reply::new(200, schema.text.clone()).header("Content-Type", CONTENT_TYPE)
}

fn version_body(subject: &str, version: u32, id: u32, schema: &Schema) -> Value {
    let mut body = json!({ "subject": subject, "version": version, "id": id });
    describe(&mut body, schema);
    body
}

fn describe(body: &mut Value, schema: &Schema) {
    body["schema"] = json!(schema.text);
    if schema.schema_type != SchemaType::Avro {
        body["schemaType"] = json!(schema.schema_type.name());
    }
    if !schema.references.is_empty() {
        let one =
            |r: &Reference| json!({ "name": r.name, "subject": r.subject, "version": r.version });
        body["references"] = schema.references.iter().map(one).collect();
    }
}

fn parse_body(body: &[u8]) -> Option<(SchemaType, String, Vec<Reference>)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = body.get("schema")?.as_str()?.to_owned();
    let schema_type = match body.get("schemaType") {
        Some(name) => SchemaType::from_name(name.as_str()?)?,
        None => SchemaType::Avro,
    };
    let mut references = Vec::new();
    for r in body
        .get("references")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        references.push(Reference {
            name: r.get("name")?.as_str()?.to_owned(),
            subject: r.get("subject")?.as_str()?.to_owned(),
            version: u32::try_from(r.get("version")?.as_u64()?).ok()?,
        });
    }
    Some((schema_type, text, references))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let six = (bits >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() {
                char::from(ALPHABET[six as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_padded() {
        assert_eq!(base64(b"user:pass"), "dXNlcjpwYXNz");
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
    }
}
