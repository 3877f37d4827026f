//! A registry that answers what a test says, in order, and counts what it is asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status, a header line or none, a body.
    Http(u16, &'static str, String),
    /// Closes the connection without a word.
    Hang,
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
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Server { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Replies for an id, one after the other; the last one is repeated.
    pub(crate) fn script(&self, id: u32, replies: &[Reply]) {
        let path = format!("/schemas/ids/{id}");
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

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
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
    if let Reply::Http(status, header, body) = reply {
        let header = if header.is_empty() {
            String::new()
        } else {
            format!("{header}\r\n")
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{header}Connection: close\r\n\r\n",
            body.len()
        );
        // A client that has gone away is the test's business.
        let _ = (&stream).write_all(format!("{head}{body}").as_bytes());
    }
}
