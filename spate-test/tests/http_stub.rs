//! The scripted HTTP server.

use spate_test::http::{HttpStub, Reply, Wire};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .new_agent()
}

#[test]
fn a_request_is_given_to_the_handler_as_it_was_sent() {
    let stub = HttpStub::start(|request| {
        assert_eq!(request.header("x-kind"), Some("test"));
        let name = request.query("name").unwrap();
        Reply::new(
            200,
            format!(
                "{} {} {name} {}",
                request.method,
                request.path(),
                request.body.len()
            ),
        )
        .header("X-Answer", "yes")
    })
    .unwrap();
    let url = format!("{}/a/b?name=x%20y", stub.url());
    let mut answer = agent()
        .post(&url)
        .header("X-Kind", "test")
        .send(&[7u8; 70_000][..])
        .unwrap();
    assert_eq!(answer.headers()["X-Answer"], "yes");
    assert_eq!(
        answer.body_mut().read_to_string().unwrap(),
        "POST /a/b x y 70000"
    );
}

#[test]
fn a_chunked_body_is_joined() {
    let stub = HttpStub::start(|request| Reply::new(200, request.body.clone())).unwrap();
    let mut stream = TcpStream::connect(stub.url().strip_prefix("http://").unwrap()).unwrap();
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    write!(stream, "{head}3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\nabcde"), "{answer}");
}

#[test]
fn one_connection_serves_several_requests() {
    let stub = HttpStub::start(|request| Reply::new(200, request.path())).unwrap();
    let mut stream = TcpStream::connect(stub.url().strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.contains("\r\n\r\n/1HTTP/1.1 200") && answer.ends_with("\r\n\r\n/2"),
        "{answer}"
    );
}

#[test]
fn answers_go_wrong_as_told() {
    let stub = HttpStub::start(|request| {
        let reply = Reply::new(200, "0123456789");
        match request.path() {
            "/drop" => reply.wire(Wire::Drop),
            "/cut" => reply.wire(Wire::CutAfter(4)),
            "/late" => reply.delay(Duration::from_millis(100)),
            _ => reply.wire(Wire::Hang),
        }
    })
    .unwrap();
    let get = |path: &str| agent().get(format!("{}{path}", stub.url())).call();
    assert!(get("/drop").is_err());
    assert!(get("/cut").unwrap().body_mut().read_to_string().is_err());
    let start = Instant::now();
    get("/late").unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));
    // A server that goes ends the requests that hang.
    let address = stub.url();
    let hanging =
        std::thread::spawn(move || agent().get(format!("{address}/hang")).call().is_err());
    drop(stub);
    assert!(hanging.join().unwrap());
}
