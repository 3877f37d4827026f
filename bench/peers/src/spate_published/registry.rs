//! A schema registry with one schema: the only way in which the published spate learns what an id stands for.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::SCHEMA;
use crate::shared::SCHEMA_ID;

/// How long a request may take to come.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A running registry.
pub(super) struct Registry {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Registry {
    pub(super) fn start() -> std::io::Result<Registry> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stopped);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if asked.load(Ordering::Acquire) {
                    break;
                }
                answer(stream?)?;
            }
            Ok(())
        });
        Ok(Registry {
            address,
            stopped,
            thread,
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends its thread, so that nothing of it is measured.
    pub(super) fn stop(self) -> Result<(), Box<dyn Error>> {
        self.stopped.store(true, Ordering::Release);
        // Wakes it up.
        TcpStream::connect(self.address)?;
        match self.thread.join() {
            Ok(result) => Ok(result?),
            Err(_) => Err("the registry panicked".into()),
        }
    }
}

/// One request, one answer, whatever the path is: only one id is ever asked for.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    let schema = SCHEMA.replace('\n', " ").replace('"', "\\\"");
    let body = format!("{{\"schema\":\"{schema}\",\"id\":{SCHEMA_ID}}}");
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}
