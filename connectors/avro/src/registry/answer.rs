//! What a registry's answer means.

use std::time::Duration;

use http::StatusCode;
use serde::Deserialize;

/// What a registry's answer means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A schema.
    Schema(Found),
    /// It is there, and we cannot use it.
    Unusable(String),
    /// The registry does not know it.
    Unknown,
    /// It is there, and the registry does not know what it refers to: one that lags behind its leader may know it later.
    Incomplete(String),
    /// The registry refuses us, or we do not trust it; asking again helps nobody.
    Denied(String),
    /// Something that may pass, and how long the registry wants us to wait.
    Trouble(String, Option<Duration>),
}

/// A schema and what it refers to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its id, where the registry tells.
    pub(crate) id: Option<u32>,
    pub(crate) text: String,
    /// What it refers to and was not asked for yet.
    pub(super) references: Vec<Reference>,
    /// The texts of all that it refers to, directly or not.
    pub(crate) others: Vec<String>,
}

/// A schema of another subject, whose types a schema uses.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) subject: String,
    /// Of -1 the registry makes the latest one.
    pub(super) version: i32,
}

/// The codes by which registries say that something is unknown: no such subject, no such version, no such schema.
const UNKNOWN_CODES: [u64; 3] = [40401, 40402, 40403];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    id: Option<u32>,
    schema: String,
    schema_type: Option<String>,
    #[serde(default)]
    references: Option<Vec<Reference>>,
}

#[derive(Deserialize)]
struct Failed {
    error_code: u64,
}

/// Sorts an answer.
pub(super) fn sort(status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Answer {
    match status {
        StatusCode::OK => match serde_json::from_slice::<Body>(body) {
            Ok(body) => found(body),
            // A proxy's page or a cut answer: the next one may be whole.
            Err(error) => Answer::Trouble(
                format!("HTTP 200 with an answer that is not a registry's: {error}"),
                wait,
            ),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Answer::Denied(format!(
            "refuses access (HTTP {}): check `deserializer.registry.username` and `password`, or `token`",
            status.as_u16()
        )),
        StatusCode::NOT_FOUND => match serde_json::from_slice::<Failed>(body) {
            Ok(failed) if UNKNOWN_CODES.contains(&failed.error_code) => Answer::Unknown,
            _ => Answer::Trouble(
                "HTTP 404 from something that is no registry: is the path of `registry.url` right?"
                    .into(),
                wait,
            ),
        },
        status if status.is_redirection() => Answer::Trouble(
            format!(
                "HTTP {}, a redirect, which is not followed: set `registry.url` to where it leads",
                status.as_u16()
            ),
            wait,
        ),
        status => Answer::Trouble(format!("HTTP {}", status.as_u16()), wait),
    }
}

fn found(body: Body) -> Answer {
    match body.schema_type.as_deref() {
        Some(other) if other != "AVRO" => {
            let kind: String = other.chars().take(40).collect();
            Answer::Unusable(format!("is a schema of type {kind}, not Avro"))
        }
        _ => Answer::Schema(Found {
            id: body.id,
            text: body.schema,
            references: body.references.unwrap_or_default(),
            others: Vec::new(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_registry_that_says_so_makes_an_id_unknown() {
        let answer = |status: u16, body: &str| {
            sort(
                StatusCode::from_u16(status).expect("a status"),
                None,
                body.as_bytes(),
            )
        };
        let trouble = |status, body| matches!(answer(status, body), Answer::Trouble(..));
        assert_eq!(
            answer(
                404,
                r#"{"error_code":40403,"message":"Schema 7 not found"}"#
            ),
            Answer::Unknown
        );
        assert!(
            trouble(404, "<html>no such page</html>"),
            "a proxy knows nothing of schemas"
        );
        assert!(
            trouble(404, r#"{"error_code":404,"message":"HTTP 404 Not Found"}"#),
            "a wrong path is no unknown schema"
        );
        assert!(
            matches!(answer(301, ""), Answer::Trouble(said, _) if said.contains("a redirect")),
            "where it leads is for the configuration to say"
        );
        for status in [301, 400, 408, 429, 500, 502, 503, 504] {
            assert!(trouble(status, "{}"), "{status}");
        }
        assert!(
            trouble(200, r#"{"schema":"{\"type\":\"rec"#),
            "a cut answer"
        );
        for status in [401, 403] {
            assert!(matches!(answer(status, ""), Answer::Denied(_)), "{status}");
        }
    }

    #[test]
    fn what_is_no_avro_is_not_taken_for_a_schema() {
        let answer = |body: &str| sort(StatusCode::OK, None, body.as_bytes());
        let schema = |id| {
            Answer::Schema(Found {
                id,
                text: "\"int\"".to_owned(),
                references: Vec::new(),
                others: Vec::new(),
            })
        };
        assert_eq!(answer(r#"{"schema":"\"int\""}"#), schema(None));
        assert_eq!(
            answer(r#"{"schema":"\"int\"","schemaType":"AVRO","id":7,"references":null}"#),
            schema(Some(7))
        );
        assert_eq!(
            answer(r#"{"schema":"{}","schemaType":"JSON"}"#),
            Answer::Unusable("is a schema of type JSON, not Avro".to_owned())
        );
        for version in [1, -1] {
            let text = format!(
                r#"{{"schema":"{{}}","references":[{{"name":"a","subject":"b","version":{version}}}]}}"#
            );
            let Answer::Schema(found) = answer(&text) else {
                panic!("a schema")
            };
            assert_eq!(found.references[0].version, version);
        }
    }
}
