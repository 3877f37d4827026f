//! One request at a time to one server over a kept connection: `POST` with a body of known length, bounded in time and in
//! what is read of the answer.
//!
//! 1. Take the kept connection, if the server can be expected to still have it open, else connect.
//! 2. Send. If it turns out that the kept connection was closed before anything of the request was written, do so on a
//!    new one.
//! 3. Read the answer to its end. Only then, and only if the whole request was taken, is the connection kept.
//!
//! Dropping the future at any point closes its connection. The record of decision 0001 says why this is not the
//! `clickhouse` crate's client.

mod body;

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
    USER_AGENT,
};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::config::{Endpoint, Login, Timeouts};
use crate::error::{Error, Exception};
use body::{Pieces, Progress};

const USER: HeaderName = HeaderName::from_static("x-clickhouse-user");
const PASSWORD: HeaderName = HeaderName::from_static("x-clickhouse-key");
const EXCEPTION_CODE: HeaderName = HeaderName::from_static("x-clickhouse-exception-code");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// How long a connection is kept when the server does not say how long it keeps it.
const IDLE_DEFAULT: Duration = Duration::from_secs(2);
/// How much earlier than the server the connection is given up.
const IDLE_MARGIN: Duration = Duration::from_secs(1);
/// The longest time for which a connection is kept.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// Longer than any attempt: whoever waits for it gives it up before.
const UNBOUNDED: Duration = Duration::from_secs(365 * 24 * 3600);

/// A server, and the connection to it that is kept between requests. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Client {
    server: Arc<Server>,
    idle: Arc<Mutex<Option<Idle>>>,
}

struct Server {
    endpoint: Endpoint,
    host: HeaderValue,
    login: Login,
    timeouts: Timeouts,
}

struct Idle {
    connection: Connection,
    until: Instant,
}

/// A connection; dropping it closes the socket.
struct Connection {
    sender: SendRequest<Pieces>,
    task: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    exception_code: Option<String>,
    body: Vec<u8>,
    /// Whether there was more than was read.
    cut: bool,
}

enum Failed {
    /// The connection was closed; nothing of the request was written.
    NotSent(Box<Request<Pieces>>),
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Error(error)
    }
}

impl Client {
    /// A client without a connection.
    pub(crate) fn new(
        endpoint: Endpoint,
        login: Login,
        timeouts: Timeouts,
    ) -> Result<Self, hyper::http::Error> {
        let host = HeaderValue::from_str(&endpoint.authority)?;
        let server = Server {
            endpoint,
            host,
            login,
            timeouts,
        };
        Ok(Client {
            server: Arc::new(server),
            idle: Arc::default(),
        })
    }

    /// A client of the same server with a connection of its own.
    pub(crate) fn another(&self) -> Self {
        Client {
            server: self.server.clone(),
            idle: Arc::default(),
        }
    }

    /// Sends `pieces` as one body with the parameters `query` and reads at most `limit` bytes of the answer's body.
    pub(crate) async fn post(
        &self,
        query: &str,
        pieces: Vec<Bytes>,
        limit: usize,
    ) -> Result<Answer, Error> {
        let (body, progress) = Pieces::new(pieces);
        let mut request = self.request(query, body)?;
        if let Some(connection) = self.take_idle() {
            match self.exchange(connection, request, &progress, limit).await {
                Ok(answer) => return Ok(answer),
                Err(Failed::Error(error)) => return Err(error),
                Err(Failed::NotSent(back)) => request = *back,
            }
        }
        let connection = self.connect().await?;
        self.exchange(connection, request, &progress, limit)
            .await
            .map_err(|failed| match failed {
                Failed::NotSent(_) => Error::Closed,
                Failed::Error(error) => error,
            })
    }

    fn request(&self, query: &str, body: Pieces) -> Result<Request<Pieces>, Error> {
        let server = &*self.server;
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = format!("{}?{query}", server.endpoint.path)
            .parse()
            .map_err(|_| Error::TooLong)?;
        let headers = request.headers_mut();
        headers.insert(HOST, server.host.clone());
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("spate/", env!("CARGO_PKG_VERSION"))),
        );
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/octet-stream"),
        );
        for (name, value) in [
            (USER, &server.login.user),
            (PASSWORD, &server.login.password),
        ] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        Ok(request)
    }

    fn take_idle(&self) -> Option<Connection> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        (Instant::now() < idle.until).then_some(idle.connection)
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let endpoint = &self.server.endpoint;
        let limit = self.server.timeouts.connect();
        let stream = timeout(
            limit,
            TcpStream::connect((endpoint.host.as_str(), endpoint.port)),
        )
        .await
        .map_err(|_| Error::ConnectTimeout(limit))?
        .map_err(Error::Connect)?;
        stream.set_nodelay(true).map_err(Error::Connect)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(Error::from)?;
        // Its errors reach the request's future as well.
        let task = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        Ok(Connection { sender, task })
    }

    async fn exchange(
        &self,
        mut connection: Connection,
        request: Request<Pieces>,
        progress: &Progress,
        limit: usize,
    ) -> Result<Answer, Failed> {
        let timeouts = &self.server.timeouts;
        if !matches!(
            timeout(timeouts.connect(), connection.sender.ready()).await,
            Ok(Ok(()))
        ) {
            return Err(Failed::NotSent(Box::new(request)));
        }
        let mut answer = pin!(connection.sender.try_send_request(request));
        let end = timeouts.end().unwrap_or(UNBOUNDED);
        let (answer, deadline) = loop {
            let left = progress.left();
            tokio::select! {
                biased;
                answer = &mut answer => break (answer, Instant::now() + end),
                () = progress.ended() => {
                    let deadline = Instant::now() + end;
                    match timeout_at(deadline, &mut answer).await {
                        Ok(answer) => break (answer, deadline),
                        Err(_) => return Err(Error::EndTimeout(end).into()),
                    }
                }
                () = sleep(timeouts.send()) => if progress.left() == left {
                    return Err(Error::SendTimeout(timeouts.send()).into());
                }
            }
        };
        let answer = answer.map_err(|mut failed| match failed.take_message() {
            Some(request) => Failed::NotSent(Box::new(request)),
            None => Failed::Error(failed.into_error().into()),
        })?;
        let idle = idle_time(answer.headers());
        let answer = timeout_at(deadline, read(answer, limit))
            .await
            .map_err(|_| Error::EndTimeout(end))??;
        if progress.left() == 0 && !answer.cut {
            let kept = Idle {
                connection,
                until: Instant::now() + idle,
            };
            *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
        Ok(answer)
    }
}

/// How long the connection can be kept: a little less than the server's `Keep-Alive: timeout=<seconds>`.
fn idle_time(headers: &HeaderMap) -> Duration {
    let seconds = headers
        .get(KEEP_ALIVE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| {
            value.split(',').find_map(|part| {
                part.trim()
                    .strip_prefix("timeout=")?
                    .trim()
                    .parse::<u64>()
                    .ok()
            })
        });
    seconds.map_or(IDLE_DEFAULT, |seconds| {
        Duration::from_secs(seconds)
            .saturating_sub(IDLE_MARGIN)
            .min(IDLE_MAX)
    })
}

async fn read(answer: Response<Incoming>, limit: usize) -> Result<Answer, Error> {
    let (head, mut incoming) = answer.into_parts();
    // Without a length the end of the connection is the end of the body, and a broken one looks like a complete one.
    let framed =
        head.headers.contains_key(CONTENT_LENGTH) || head.headers.contains_key(TRANSFER_ENCODING);
    let exception_code = head
        .headers
        .get(EXCEPTION_CODE)
        .map(|code| String::from_utf8_lossy(code.as_bytes()).into_owned());
    let mut answer = Answer {
        status: head.status.as_u16(),
        exception_code,
        body: Vec::new(),
        cut: false,
    };
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx)).await
    {
        let frame = frame.map_err(Error::from)?;
        if let Some(data) = frame.data_ref() {
            let room = limit - answer.body.len();
            answer.body.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                answer.cut = true;
                break;
            }
        }
    }
    if answer.status == 200 && !framed {
        return Err(Error::Unframed);
    }
    Ok(answer)
}

impl Answer {
    /// The body of a query's answer, unless the answer tells an error anywhere.
    pub(crate) fn into_body(self) -> Result<Vec<u8>, Error> {
        if let Some(exception) = Exception::find(self.exception_code.as_deref(), &self.body) {
            return Err(Error::Refused {
                status: self.status,
                exception,
            });
        }
        if self.status != 200 {
            return Err(Error::Refused {
                status: self.status,
                exception: Exception::foreign(&self.body),
            });
        }
        if self.cut {
            return Err(Error::Garbled("it is longer than any that was asked for"));
        }
        Ok(self.body)
    }

    /// Whether the answer confirms an insert: a success without any text.
    pub(crate) fn confirm(self) -> Result<(), Error> {
        let status = self.status;
        let body = match self.into_body() {
            Err(Error::Garbled(_)) => {
                return Err(Error::Unconfirmed {
                    status,
                    text: "too long to be read".to_owned(),
                });
            }
            other => other?,
        };
        if body.trim_ascii().is_empty() {
            return Ok(());
        }
        Err(Error::Unconfirmed {
            status,
            text: Exception::foreign(&body).text,
        })
    }
}
