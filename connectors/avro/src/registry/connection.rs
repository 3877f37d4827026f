//! One question over one connection: HTTP/1.1, with TLS where the URL says so.

use std::time::Duration;

use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::config::{RegistryAccess, Server};
use crate::limits;

/// Why there is no answer.
pub(super) enum Failure {
    /// It may pass.
    Passing(String),
    /// One side does not trust the other.
    #[cfg_attr(not(feature = "tls"), allow(dead_code))]
    Rejected(String),
}

/// Status, `Retry-After` and body.
type Response = (StatusCode, Option<Duration>, Bytes);

pub(super) async fn exchange(
    server: &Server,
    access: &RegistryAccess,
    path: &str,
) -> Result<Response, Failure> {
    let stream = TcpStream::connect((server.host.as_str(), server.port))
        .await
        .map_err(|error| Failure::Passing(format!("cannot connect: {error}")))?;
    let request = request(server, access, path)?;
    #[cfg(feature = "tls")]
    if let Some(tls) = access.tls.as_ref().filter(|_| server.tls) {
        let stream = tls.connect(&server.host, stream).await?;
        return ask(stream, request).await;
    }
    ask(stream, request).await
}

fn request(
    server: &Server,
    access: &RegistryAccess,
    path: &str,
) -> Result<Request<Empty<Bytes>>, Failure> {
    let mut request = Request::get(format!("{}{path}", server.base))
        .header(header::HOST, server.authority())
        .header(header::CONNECTION, "close")
        .header(header::ACCEPT_ENCODING, "identity")
        .header(
            header::ACCEPT,
            "application/vnd.schemaregistry.v1+json, application/json",
        );
    if let Some(auth) = &access.auth {
        request = request.header(header::AUTHORIZATION, auth.header());
    }
    request.body(Empty::new()).map_err(|error| failed(&error))
}

async fn ask(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    request: Request<Empty<Bytes>>,
) -> Result<Response, Failure> {
    over(TokioIo::new(stream), request).await
}

async fn over(
    stream: impl Read + Write + Unpin + Send + 'static,
    request: Request<Empty<Bytes>>,
) -> Result<Response, Failure> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream)
        .await
        .map_err(|error| failed(&error))?;
    // It ends with the connection, which the registry closes after its answer.
    let connection = tokio::spawn(connection);
    let response = sender
        .send_request(request)
        .await
        .map_err(|error| failed(&error))?;
    let status = response.status();
    let wait = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let body = Limited::new(response.into_body(), limits::ANSWER_BYTES)
        .collect()
        .await
        .map_err(|error| match error.is::<LengthLimitError>() {
            true => Failure::Passing(format!(
                "its answer is longer than {} MiB",
                limits::ANSWER_BYTES >> 20
            )),
            false => failed(&*error),
        })?
        .to_bytes();
    connection.abort();
    Ok((status, wait.map(Duration::from_secs), body))
}

/// An error with all that caused it: what hyper says alone is "connection error".
fn failed(error: &(dyn std::error::Error + 'static)) -> Failure {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        #[cfg(feature = "tls")]
        if let Some(rejected) = super::tls::rejected(error) {
            return rejected;
        }
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    Failure::Passing(text)
}
