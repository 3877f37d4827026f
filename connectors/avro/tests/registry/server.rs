//! A registry that answers what a test says, in order, and counts what it is asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status, a header line or none, a body.
    Http(u16, &'static str, String),
    /// The answer as it goes over the wire; then the connection is closed.
    Raw(String),
    /// Closes the connection without a word.
    Hang,
    /// Says nothing and keeps the connection.
    Silence,
    /// Begins an answer of that many bytes and breaks off.
    Cut(usize),
}

#[derive(Default)]
struct State {
    /// Replies for a path; the last one is repeated.
    replies: HashMap<String, Vec<Reply>>,
    /// Requests: path and authorization.
    asked: Vec<(String, Option<String>)>,
}

/// The server; its thread ends with the test process.
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(None)
    }

    /// Answers over TLS.
    pub(crate) fn start_with(tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(stream, &shared),
                    Some(config) => {
                        // A handshake that fails is the test's business.
                        if let Ok(session) = rustls::ServerConnection::new(config) {
                            serve(rustls::StreamOwned::new(session, stream), &shared);
                        }
                    }
                });
            }
        });
        Server { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    #[cfg(feature = "tls")]
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Replies for an id, one after the other; the last one is repeated.
    pub(crate) fn script(&self, id: u32, replies: &[Reply]) {
        self.script_path(&format!("/schemas/ids/{id}"), replies);
    }

    /// The same for any path.
    pub(crate) fn script_path(&self, path: &str, replies: &[Reply]) {
        let path = path.to_owned();
        self.state
            .lock()
            .expect("a lock")
            .replies
            .insert(path, replies.to_vec());
    }

    pub(crate) fn asked(&self) -> Vec<(String, Option<String>)> {
        self.state.lock().expect("a lock").asked.clone()
    }

    pub(crate) fn count(&self, id: u32) -> usize {
        let path = format!("/schemas/ids/{id}");
        self.asked()
            .iter()
            .filter(|(asked, _)| *asked == path)
            .count()
    }
}

/// A registry's answer with that schema.
pub(crate) fn schema(text: &str) -> Reply {
    Reply::Http(200, "", serde_json::json!({ "schema": text }).to_string())
}

/// A registry's answer for an id that it does not have.
pub(crate) fn unknown() -> Reply {
    Reply::Http(
        404,
        "",
        r#"{"error_code":40403,"message":"Schema not found"}"#.to_owned(),
    )
}

/// A registry's answer with a schema that refers to others: name, subject and version of each.
pub(crate) fn referring(text: &str, references: &[(&str, &str, u32)]) -> Reply {
    let references: Vec<_> = references
        .iter()
        .map(|(name, subject, version)| {
            serde_json::json!({ "name": name, "subject": subject, "version": version })
        })
        .collect();
    let body = serde_json::json!({ "schema": text, "id": 7, "references": references });
    Reply::Http(200, "", body.to_string())
}

fn serve(stream: impl Read + Write, state: &Mutex<State>) {
    let mut stream = BufReader::new(stream);
    let mut lines = std::iter::from_fn(|| {
        let mut line = String::new();
        let read = stream.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    });
    let Some(request) = lines.next() else { return };
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut authorization = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("authorization")
        {
            authorization = Some(value.to_owned());
        }
    }
    let reply = {
        let mut state = state.lock().expect("a lock");
        state.asked.push((path.clone(), authorization));
        match state.replies.get_mut(&path) {
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies[0].clone(),
            None => unknown(),
        }
    };
    let mut say = |text: String| {
        // A client that has gone away is the test's business.
        let _ = stream.get_mut().write_all(text.as_bytes());
        let _ = stream.get_mut().flush();
    };
    match reply {
        Reply::Hang => {}
        Reply::Raw(answer) => say(answer),
        Reply::Silence => {
            // Until the client has gone away.
            let _ = stream.read(&mut [0]);
        }
        Reply::Cut(length) => say(format!(
            "HTTP/1.1 200 X\r\nContent-Length: {length}\r\n\r\n{{"
        )),
        Reply::Http(status, header, body) => {
            let header = if header.is_empty() {
                String::new()
            } else {
                format!("{header}\r\n")
            };
            say(format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{header}Connection: close\r\n\r\n{body}",
                body.len()
            ));
        }
    }
}
