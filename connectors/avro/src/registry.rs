//! One question to a schema registry: the schema of an id. Plain HTTP/1.1, a connection per question.
//!
//! Every answer is sorted by what it means for the pipeline, because a record must never be dropped for an error that
//! passes: only a registry that says itself that it does not know the id makes the id unknown.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;

use crate::config::Endpoint;
use crate::limits;

/// What a registry's answer means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The schema's text.
    Schema(String),
    /// The id is there, and we cannot use what it stands for.
    Unusable(String),
    /// The registry does not know the id.
    Unknown,
    /// The registry refuses us; asking again helps nobody.
    Denied(StatusCode),
    /// Something that may pass, and how long the registry wants us to wait.
    Trouble(String, Option<Duration>),
}

/// The codes by which registries say that an id is unknown: no such schema, no such subject, no such version.
const UNKNOWN_CODES: [u64; 3] = [40401, 40402, 40403];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    schema: String,
    schema_type: Option<String>,
    #[serde(default)]
    references: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Failed {
    error_code: u64,
}

/// Asks for the schema of `id`, within the endpoint's timeout.
pub(crate) async fn ask(endpoint: &Endpoint, id: u32) -> Answer {
    match tokio::time::timeout(endpoint.timeout, exchange(endpoint, id)).await {
        Ok(Ok((status, wait, body))) => sort(status, wait, &body),
        Ok(Err(error)) => Answer::Trouble(error, None),
        Err(_) => Answer::Trouble(format!("no answer within {:?}", endpoint.timeout), None),
    }
}

async fn exchange(
    endpoint: &Endpoint,
    id: u32,
) -> Result<(StatusCode, Option<Duration>, Bytes), String> {
    let Endpoint {
        host, port, base, ..
    } = endpoint;
    let stream = TcpStream::connect((host.as_str(), *port))
        .await
        .map_err(|error| format!("cannot connect: {error}"))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(said)?;
    // It ends with the connection, which the registry closes after its answer.
    let connection = tokio::spawn(connection);
    let authority = if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let mut request = Request::get(format!("{base}/schemas/ids/{id}"))
        .header(header::HOST, authority)
        .header(header::CONNECTION, "close")
        .header(
            header::ACCEPT,
            "application/vnd.schemaregistry.v1+json, application/json",
        );
    if let Some((username, password)) = &endpoint.credentials {
        let pair = STANDARD.encode(format!("{}:{}", username.expose(), password.expose()));
        request = request.header(header::AUTHORIZATION, format!("Basic {pair}"));
    }
    let request = request.body(Empty::<Bytes>::new()).map_err(said)?;
    let response = sender.send_request(request).await.map_err(said)?;
    let status = response.status();
    let wait = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let body = Limited::new(response.into_body(), limits::ANSWER_BYTES)
        .collect()
        .await
        .map_err(said)?
        .to_bytes();
    connection.abort();
    Ok((status, wait.map(Duration::from_secs), body))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn sort(status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Answer {
    match status {
        StatusCode::OK => match serde_json::from_slice::<Found>(body) {
            Ok(found) => use_found(found),
            // A proxy's page or a cut answer: the next one may be whole.
            Err(error) => Answer::Trouble(
                format!("HTTP 200 with an answer that is not a registry's: {error}"),
                wait,
            ),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Answer::Denied(status),
        StatusCode::NOT_FOUND => match serde_json::from_slice::<Failed>(body) {
            Ok(failed) if UNKNOWN_CODES.contains(&failed.error_code) => Answer::Unknown,
            _ => Answer::Trouble(
                "HTTP 404 from something that is no registry: is the path of `registry.url` right?"
                    .into(),
                wait,
            ),
        },
        status => Answer::Trouble(format!("HTTP {}", status.as_u16()), wait),
    }
}

fn use_found(found: Found) -> Answer {
    match found.schema_type.as_deref() {
        Some(other) if other != "AVRO" => {
            let kind: String = other.chars().take(40).collect();
            Answer::Unusable(format!("is a schema of type {kind}, not Avro"))
        }
        _ if !found.references.is_empty() => Answer::Unusable(
            "refers to schemas of other subjects, which is not available yet".to_owned(),
        ),
        _ => Answer::Schema(found.schema),
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
        for status in [301, 400, 408, 429, 500, 502, 503, 504] {
            assert!(trouble(status, "{}"), "{status}");
        }
        assert!(
            trouble(200, r#"{"schema":"{\"type\":\"rec"#),
            "a cut answer"
        );
        assert_eq!(answer(401, ""), Answer::Denied(StatusCode::UNAUTHORIZED));
        assert_eq!(answer(403, ""), Answer::Denied(StatusCode::FORBIDDEN));
    }

    #[test]
    fn what_is_no_avro_or_not_whole_is_not_taken_for_a_schema() {
        let answer = |body: &str| sort(StatusCode::OK, None, body.as_bytes());
        assert_eq!(
            answer(r#"{"schema":"\"int\""}"#),
            Answer::Schema("\"int\"".to_owned())
        );
        assert_eq!(
            answer(r#"{"schema":"\"int\"","schemaType":"AVRO","id":7}"#),
            Answer::Schema("\"int\"".to_owned())
        );
        assert_eq!(
            answer(r#"{"schema":"{}","schemaType":"JSON"}"#),
            Answer::Unusable("is a schema of type JSON, not Avro".to_owned())
        );
        let references = r#"{"schema":"{}","references":[{"name":"a","subject":"b","version":1}]}"#;
        assert!(matches!(answer(references), Answer::Unusable(_)));
    }
}
