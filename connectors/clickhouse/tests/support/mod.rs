//! What the tests of the sink share: a server that answers by a script, and a sink opened from a configuration text.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use spate_clickhouse::ClickHouse;
use spate_runtime::config::{Config, OpenError};
use spate_runtime::error::ConnectorError;
use spate_runtime::sink::{Block, Column, RowInfo, ShardWriter, Sink, SinkKind};
use spate_runtime::source::OpenContext;

/// A bound for every wait of a test, far above what any of them needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server does with one request.
pub(crate) struct Step {
    reads: Reads,
    answers: Vec<u8>,
    then: Then,
}

#[derive(Clone, Copy, PartialEq)]
enum Reads {
    All,
    Head,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    Keep,
    Close,
    Hang,
}

/// Reads the request, answers with these bytes and keeps the connection.
pub(crate) fn answer(bytes: impl Into<Vec<u8>>) -> Step {
    Step {
        reads: Reads::All,
        answers: bytes.into(),
        then: Then::Keep,
    }
}

impl Step {
    /// Closes the connection after the answer.
    pub(crate) fn closing(mut self) -> Step {
        self.then = Then::Close;
        self
    }

    /// Says nothing more after the answer and keeps the connection until the client closes it or the test ends.
    pub(crate) fn hanging(mut self) -> Step {
        self.then = Then::Hang;
        self
    }

    /// Answers when it has read the request's head, and never reads the body.
    pub(crate) fn unread(mut self) -> Step {
        self.reads = Reads::Head;
        self
    }
}

/// An answer with a length.
pub(crate) fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// An answer in chunks; `last` is whether the last, empty one follows.
pub(crate) fn chunked(headers: &str, chunks: &[&str], last: bool) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 200 OK\r\n{headers}Transfer-Encoding: chunked\r\n\r\n");
    for chunk in chunks {
        out.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    }
    if last {
        out.push_str("0\r\n\r\n");
    }
    out.into_bytes()
}

/// The clean answer to an insert.
pub(crate) fn ok() -> Step {
    answer(http(
        200,
        "X-ClickHouse-Query-Id: 1\r\nKeep-Alive: timeout=30\r\n",
        "",
    ))
}

/// An answer with an exception of the server, in header and body.
pub(crate) fn exception(status: u16, code: u32, text: &str) -> Step {
    let body = format!("Code: {code}. DB::Exception: {text} (version 26.9.2.1 (official build))\n");
    answer(http(
        status,
        &format!("X-ClickHouse-Exception-Code: {code}\r\n"),
        &body,
    ))
}

/// A request as the server got it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The number of its connection, from 0.
    pub(crate) connection: usize,
}

impl Received {
    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The decoded parameters of the URL.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let target = self.head.split(' ').nth(1).unwrap_or_default();
        let query = target.split_once('?').map_or("", |(_, query)| query);
        form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect()
    }

    /// The answer to a question about the table, if it is one.
    fn asked_about_the_table(&self) -> Option<Vec<u8>> {
        let query = self.parameter("query")?;
        if query.contains("FROM system.columns") {
            return Some(columns_of(COLUMNS));
        }
        query
            .contains("FROM system.tables")
            .then(|| texts(&["ReplicatedMergeTree", "", "0", "100", "enable", "1"]))
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.parameters()
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

/// Texts in RowBinary.
pub(crate) fn texts(texts: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for text in texts {
        out.push(u8::try_from(text.len()).expect("a short text"));
        out.extend_from_slice(text.as_bytes());
    }
    out
}

/// What a server tells of a table with these columns.
pub(crate) fn columns_of(columns: &[Column]) -> Vec<u8> {
    let columns = columns.iter();
    columns
        .flat_map(|column| texts(&[column.name, column.ty, ""]))
        .collect()
}

struct Shared {
    steps: Mutex<VecDeque<Step>>,
    /// Whether the questions about the table have a step in the script as well.
    asks: bool,
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    ended: AtomicBool,
    resumed: AtomicBool,
    /// The number of bytes that came after the last answer of a connection.
    late: AtomicUsize,
    closed: Mutex<Sender<usize>>,
}

/// A server that follows a script: one step for each request, in the order in which they arrive.
pub(crate) struct Scripted {
    address: SocketAddr,
    shared: Arc<Shared>,
    closed: Receiver<usize>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Steps for the inserts only: questions about the table are answered by themselves and kept out of what was received.
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Scripted {
        Scripted::start(steps, false)
    }

    /// Steps for every request.
    pub(crate) fn for_all(steps: impl IntoIterator<Item = Step>) -> Scripted {
        Scripted::start(steps, true)
    }

    fn start(steps: impl IntoIterator<Item = Step>, asks: bool) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (sender, closed) = channel();
        let shared = Arc::new(Shared {
            steps: Mutex::new(steps.into_iter().collect()),
            asks,
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            resumed: AtomicBool::new(false),
            late: AtomicUsize::new(0),
            closed: Mutex::new(sender),
        });
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || accept(&listener, &shared)
        });
        Scripted {
            address,
            shared,
            closed,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests until now.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("no panic").clone()
    }

    /// Reads what was left unread, to the connection's end, and tells how much it was.
    pub(crate) fn read_rest(&self) -> usize {
        self.shared.resumed.store(true, Ordering::SeqCst);
        self.wait_closed();
        self.shared.late.load(Ordering::SeqCst)
    }

    /// Waits until the server's side of a connection is closed; tells its number.
    pub(crate) fn wait_closed(&self) -> usize {
        self.closed
            .recv_timeout(PATIENCE)
            .expect("a connection ends")
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        if shared.ended.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let shared = shared.clone();
        let number = shared.connections.fetch_add(1, Ordering::SeqCst);
        threads.push(std::thread::spawn(move || {
            serve(stream, number, &shared);
            // Nobody listens any more when the test has ended.
            let _ = shared.closed.lock().expect("no panic").send(number);
        }));
    }
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

fn serve(mut stream: TcpStream, connection: usize, shared: &Shared) {
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .expect("a timeout");
    let mut buffer = Vec::new();
    loop {
        let Some(head) = read_head(&mut stream, &mut buffer, shared) else {
            return;
        };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")
                    .map(|v| v.trim().to_owned())
            })
            .map_or(0, |value| value.parse().expect("a length"));
        let mut received = Received {
            head,
            body: Vec::new(),
            connection,
        };
        if let Some(list) = received.asked_about_the_table().filter(|_| !shared.asks) {
            let mut answer =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", list.len()).into_bytes();
            answer.extend(list);
            if stream.write_all(&answer).is_err() {
                return;
            }
            continue;
        }
        let step = shared
            .steps
            .lock()
            .expect("no panic")
            .pop_front()
            .expect("a step for this request");
        if step.reads == Reads::All {
            while buffer.len() < length {
                if !read_more(&mut stream, &mut buffer, shared) {
                    return;
                }
            }
            received.body = buffer.drain(..length).collect();
        }
        shared.received.lock().expect("no panic").push(received);
        if stream.write_all(&step.answers).is_err() {
            return;
        }
        match step.then {
            Then::Keep if step.reads == Reads::All => {}
            Then::Keep | Then::Hang => {
                let reads = || step.reads == Reads::All || shared.resumed.load(Ordering::SeqCst);
                while !reads() && !shared.ended.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                while read_more(&mut stream, &mut buffer, shared) {}
                shared.late.fetch_add(buffer.len(), Ordering::SeqCst);
                return;
            }
            Then::Close => return,
        }
    }
}

fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>, shared: &Shared) -> Option<String> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head =
                String::from_utf8(buffer.drain(..end + 4).collect()).expect("a head in UTF-8");
            return Some(head);
        }
        if !read_more(stream, buffer, shared) {
            return None;
        }
    }
}

/// Whether more came; not when the client closed or the test ended.
fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>, shared: &Shared) -> bool {
    let mut part = [0; 64 * 1024];
    while !shared.ended.load(Ordering::SeqCst) {
        match stream.read(&mut part) {
            Ok(0) => return false,
            Ok(read) => {
                buffer.extend_from_slice(&part[..read]);
                return true;
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(_) => return false,
        }
    }
    false
}

/// The lines of a section that name the table.
pub(crate) const TABLE: &str = "database: shop\ntable: orders";

/// The columns of most tests.
pub(crate) const COLUMNS: &[Column] = &[
    Column {
        name: "id",
        ty: "UInt64",
    },
    Column {
        name: "name",
        ty: "String",
    },
];

/// A row of [`COLUMNS`].
pub(crate) fn row(id: u64, name: &str) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.push(u8::try_from(name.len()).expect("a short name"));
    out.extend_from_slice(name.as_bytes());
    out
}

/// A block of one chunk for each item.
pub(crate) fn block(chunks: &[Vec<u8>], token: &str) -> Block {
    Block::for_test(
        chunks.iter().cloned().map(Bytes::from).collect(),
        chunks.len(),
        token,
    )
}

/// An opened sink and the runtime that it is driven on.
pub(crate) struct Opened {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Opened {
    /// Looks at every replica of every shard.
    pub(crate) fn check(&self) -> Result<(), ConnectorError> {
        self.warnings().map(drop)
    }

    /// [`Opened::check`], and what it warns of.
    pub(crate) fn warnings(&self) -> Result<Vec<String>, ConnectorError> {
        let mut warnings = Vec::new();
        for shard in 0..self.sink.shards() {
            let mut writer = self.sink.writer(shard);
            for replica in 0..writer.replicas() {
                let look = writer.check(replica);
                let looked = self.bounded(look);
                warnings.extend(looked.map_err(|e| placed(&*writer, replica, e))?.warnings);
            }
        }
        Ok(warnings)
    }

    pub(crate) fn write(
        &self,
        writer: &mut Box<dyn ShardWriter>,
        block: &Block,
    ) -> Result<(), ConnectorError> {
        self.write_to(writer, 0, block)
    }

    pub(crate) fn write_to(
        &self,
        writer: &mut Box<dyn ShardWriter>,
        replica: usize,
        block: &Block,
    ) -> Result<(), ConnectorError> {
        let attempt = writer.write(replica, block);
        self.bounded(attempt)
            .map_err(|error| placed(&**writer, replica, error))
    }

    fn bounded<T>(&self, attempt: impl Future<Output = T>) -> T {
        let bounded = async {
            tokio::time::timeout(PATIENCE, attempt)
                .await
                .expect("the attempt ends")
        };
        self.runtime.block_on(bounded)
    }

    /// Writes one block over a connection of its own.
    pub(crate) fn write_once(&self, block: &Block) -> Result<(), ConnectorError> {
        self.write(&mut self.sink.writer(0), block)
    }

    /// Gives the connections' tasks time to see what happened to their sockets.
    pub(crate) fn settle(&self) {
        self.runtime.block_on(async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
    }
}

/// An error as the engine reports it: with its place.
fn placed(writer: &dyn ShardWriter, replica: usize, mut error: ConnectorError) -> ConnectorError {
    error.message = format!("{}: {}", writer.place(replica), error.message);
    error
}

/// Opens the sink with the section `sink` of a configuration text.
pub(crate) fn try_open(yaml: &str, columns: &'static [Column]) -> Result<Opened, OpenError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let section = Config::from_yaml(yaml)
        .expect("a configuration")
        .section("sink");
    let context = OpenContext {
        pipeline: "test".into(),
        threads: 1,
        tokio: Some(runtime.handle().clone()),
        attachment: None,
    };
    let sink = ClickHouse::open(
        &section,
        RowInfo {
            row: "Row",
            columns,
        },
        &context,
    )?;
    Ok(Opened { sink, runtime })
}

/// Opens the sink on `url` with more lines of the section.
pub(crate) fn open(url: &str, more: &str) -> Opened {
    open_columns(url, more, COLUMNS)
}

/// [`open`] with other columns.
pub(crate) fn open_columns(url: &str, more: &str, columns: &'static [Column]) -> Opened {
    let yaml = format!("sink:\n  url: {url}\n  {}\n", more.replace('\n', "\n  "));
    try_open(&yaml, columns).expect("a right section")
}
