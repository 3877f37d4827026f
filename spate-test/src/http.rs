//! A scripted HTTP/1.1 server: every request goes to a closure, and the answer may also be late, cut off or missing.
//!
//! For the answers that real servers give too rarely to test against: a 200 that hides an error, a connection that dies
//! in the middle of a body, a server that never answers.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// One request, its body read to the end.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// Path and query as sent, still percent-encoded.
    pub target: String,
    /// Headers by lower-case name; of several with one name, the last.
    pub headers: HashMap<String, String>,
    /// The body, chunks joined, content encodings untouched.
    pub body: Vec<u8>,
}

impl Request {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(&self.target, |(path, _)| path)
    }

    /// The first value of a query parameter, decoded.
    pub fn query(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?')?.1;
        let value = query
            .split('&')
            .filter_map(|p| p.split_once('='))
            .find(|(n, _)| decode(n) == name)?
            .1;
        Some(decode(&value.replace('+', " ")))
    }

    /// A header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// How an answer goes wrong on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wire {
    /// The whole answer is sent.
    #[default]
    Whole,
    /// The connection is closed without an answer.
    Drop,
    /// The connection is closed after this many bytes of the body, which was announced in full.
    CutAfter(usize),
    /// No answer; the connection stays open until the server ends or the client gives up.
    Hang,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers beside `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Waited before anything is sent.
    pub delay: Duration,
    /// What goes wrong, if anything.
    pub wire: Wire,
}

impl Reply {
    /// A reply without headers of its own.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: body.into(),
            delay: Duration::ZERO,
            wire: Wire::Whole,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the reply this much later.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Reply {
        self.delay = delay;
        self
    }

    /// Makes the reply go wrong.
    #[must_use]
    pub fn wire(mut self, wire: Wire) -> Reply {
        self.wire = wire;
        self
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// The server: a thread per connection on a free port of 127.0.0.1. Dropping it closes all connections.
pub struct HttpStub {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<thread::JoinHandle<()>>,
}

struct Shared {
    handler: Box<Handler>,
    stopping: AtomicBool,
    /// The open connections, so that they can be closed with the server.
    open: Mutex<HashMap<u64, TcpStream>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpStub {
    /// Starts a server that answers each request with `handler`.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<HttpStub> {
        HttpStub::start_on(0, handler)
    }

    /// [`HttpStub::start`] on a port of choice; 0 is a free one.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub fn start_on(
        port: u16,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<HttpStub> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            stopping: AtomicBool::new(false),
            open: Mutex::new(HashMap::new()),
        });
        let for_thread = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("http-stub".into())
            .spawn(move || accept(&listener, &for_thread))?;
        Ok(HttpStub {
            address,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for HttpStub {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which then sees the flag.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(acceptor) = self.acceptor.take()
            && woken
        {
            let _ = acceptor.join();
        }
        for (_, stream) in self.shared.lock().drain() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (id, stream) in (0..).zip(listener.incoming()) {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let _ = stream.set_nodelay(true);
        if let Ok(copy) = stream.try_clone() {
            shared.lock().insert(id, copy);
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A client that goes away ends its connection, nothing else.
            let _ = serve(&stream, &shared);
            let _ = stream.shutdown(Shutdown::Both);
            shared.lock().remove(&id);
        });
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut input = BufReader::new(stream);
    while let Some(request) = read_request(&mut input, stream)? {
        let reply = (shared.handler)(&request);
        thread::sleep(reply.delay);
        match reply.wire {
            Wire::Drop => return Ok(()),
            Wire::Hang => {
                // Returns when the client closes or the server shuts the connection down.
                let _ = input.read(&mut [0; 1]);
                return Ok(());
            }
            Wire::CutAfter(n) => {
                write_reply(stream, &reply, n.min(reply.body.len()))?;
                return Ok(());
            }
            Wire::Whole => write_reply(stream, &reply, reply.body.len())?,
        }
        if request
            .header("connection")
            .is_some_and(|c| c.eq_ignore_ascii_case("close"))
        {
            return Ok(());
        }
    }
    Ok(())
}

fn write_reply(mut stream: &TcpStream, reply: &Reply, body_bytes: usize) -> io::Result<()> {
    let mut out = format!(
        "HTTP/1.1 {} -\r\nContent-Length: {}\r\n",
        reply.status,
        reply.body.len()
    )
    .into_bytes();
    for (name, value) in &reply.headers {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&reply.body[..body_bytes]);
    stream.write_all(&out)
}

fn read_request(input: &mut impl BufRead, mut output: &TcpStream) -> io::Result<Option<Request>> {
    let first = read_line(input)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no request line",
        ));
    };
    let mut headers = HashMap::new();
    loop {
        let line = read_line(input)?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    if headers
        .get("expect")
        .is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
    {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if headers
        .get("transfer-encoding")
        .is_some_and(|v| v.eq_ignore_ascii_case("chunked"))
    {
        read_chunks(input, &mut body)?;
    } else if let Some(length) = headers.get("content-length") {
        let length: u64 = length
            .parse()
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "Content-Length"))?;
        if input.take(length).read_to_end(&mut body)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Some(Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers,
        body,
    }))
}

fn read_chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let line = read_line(input)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "chunk size"))?;
        if size == 0 {
            while !read_line(input)?.is_empty() {}
            return Ok(());
        }
        if input.take(size).read_to_end(body)? as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        read_line(input)?;
    }
}

/// One line without its end; empty at the end of the input. Bounded, so that garbage is not read for ever.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.take(64 * 1024).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line)
        .trim_end_matches(['\r', '\n'])
        .to_owned())
}

/// Percent-decodes; what is no valid escape stays as it is.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let escape = bytes
            .get(i + 1..i + 3)
            .and_then(|h| std::str::from_utf8(h).ok());
        match escape.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) if bytes[i] == b'%' => {
                out.push(byte);
                i += 3;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
