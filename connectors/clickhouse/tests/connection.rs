//! The connection to a server: when it is kept, when it is given up, and how long anything may take.

mod support;

use spate_runtime::error::ErrorClass;
use support::{Scripted, Step, TABLE, answer, block, exception, http, ok, open, row};

#[test]
fn a_server_that_is_not_there_may_come_back() {
    // Nobody listens on port 1.
    let url = "http://127.0.0.1:1";
    let sink = open(url, TABLE);
    let error = sink
        .write_once(&block(&[row(1, "a")], "t"))
        .expect_err("nobody listens");
    assert_eq!(error.class, ErrorClass::Retryable);
    assert!(
        error.message.contains(url) && error.message.contains("8123"),
        "{error}"
    );
}

#[test]
fn a_server_that_never_answers_ends_the_attempt() {
    for silent in [
        answer("").hanging(),
        answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nCo").hanging(),
    ] {
        let server = Scripted::new([silent]);
        let sink = open(
            &server.url(),
            &format!("{TABLE}\ntimeouts: {{ send: 1h, end: 50ms }}"),
        );
        let error = sink
            .write_once(&block(&[row(1, "a")], "t"))
            .expect_err("no answer");
        assert_eq!(error.class, ErrorClass::Retryable);
        assert!(error.message.contains("`timeouts.end`"), "{error}");
        sink.settle();
        // The connection is given up, or a late answer would be taken for the next block's.
        server.wait_closed();
    }
}

#[test]
fn a_server_that_takes_nothing_ends_the_attempt() {
    let server = Scripted::new([answer("").unread()]);
    let sink = open(
        &server.url(),
        &format!("{TABLE}\ntimeouts: {{ send: 50ms, end: 1h }}"),
    );
    // More than the socket buffers of both sides hold.
    let large = vec![vec![0; 8 << 20]; 8];
    let error = sink
        .write_once(&block(&large, "t"))
        .expect_err("nothing is read");
    assert_eq!(error.class, ErrorClass::Retryable);
    assert!(error.message.contains("`timeouts.send`"), "{error}");
    // The rest of the block is not sent behind the attempt's back.
    sink.settle();
    assert!(server.read_rest() < large.iter().map(Vec::len).sum());
}

#[test]
fn an_error_that_comes_before_the_body_was_read_is_the_answer() {
    let early = |step: Step| step.unread();
    let server = Scripted::new([
        early(exception(403, 516, "login (AUTHENTICATION_FAILED)")),
        ok(),
    ]);
    // A connection that is not ready again would be waited for.
    let sink = open(
        &server.url(),
        &format!("{TABLE}\ntimeouts: {{ connect: 1h }}"),
    );
    let mut writer = sink.sink.writer(0);
    let large = vec![vec![0; 8 << 20]; 8];
    let error = sink
        .write(&mut writer, &block(&large, "t"))
        .expect_err("a wrong password");
    assert_eq!(error.class, ErrorClass::Fatal);
    assert!(error.message.contains("516"), "{error}");
    // Half a request is on that connection: the next block must not follow it.
    sink.write(&mut writer, &block(&[row(1, "a")], "u"))
        .expect("a confirmation");
    assert_eq!(
        server
            .received()
            .iter()
            .map(|r| r.connection)
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

#[test]
fn blocks_share_a_connection_and_writers_do_not() {
    let server = Scripted::new([
        ok(),
        exception(500, 252, "parts (TOO_MANY_PARTS)"),
        ok(),
        ok(),
    ]);
    let sink = open(&server.url(), TABLE);
    let mut writer = sink.sink.writer(0);
    sink.write(&mut writer, &block(&[row(1, "a")], "1"))
        .expect("a confirmation");
    sink.write(&mut writer, &block(&[row(2, "b")], "2"))
        .expect_err("an overload");
    sink.write(&mut writer, &block(&[row(2, "b")], "2"))
        .expect("a confirmation");
    sink.write_once(&block(&[row(3, "c")], "3"))
        .expect("a confirmation");
    assert_eq!(
        server
            .received()
            .iter()
            .map(|r| r.connection)
            .collect::<Vec<_>>(),
        [0, 0, 0, 1]
    );
}

#[test]
fn a_connection_that_the_server_closed_between_blocks_is_replaced_without_an_error() {
    let server = Scripted::new([
        // Closed although it said that it would keep the connection.
        answer(http(200, "Keep-Alive: timeout=30\r\n", "")).closing(),
        // Closed as it said.
        answer(http(200, "Connection: close\r\n", "")).closing(),
        // Said that it will close at once: not used again although it is open.
        answer(http(200, "Keep-Alive: timeout=1, max=10\r\n", "")),
        ok(),
    ]);
    let sink = open(&server.url(), TABLE);
    let mut writer = sink.sink.writer(0);
    for token in ["1", "2"] {
        sink.write(&mut writer, &block(&[row(1, "a")], token))
            .expect("a confirmation");
        server.wait_closed();
        sink.settle();
    }
    for token in ["3", "4"] {
        sink.write(&mut writer, &block(&[row(1, "a")], token))
            .expect("a confirmation");
    }
    let received = server.received();
    assert_eq!(
        received.iter().map(|r| r.connection).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    let tokens: Vec<_> = received
        .iter()
        .filter_map(|r| r.parameter("insert_deduplication_token"))
        .collect();
    assert_eq!(tokens, ["1", "2", "3", "4"]);
}

#[test]
fn an_attempt_that_is_given_up_closes_its_connection() {
    let server = Scripted::new([answer("").hanging(), ok()]);
    let sink = open(&server.url(), TABLE);
    let mut writer = sink.sink.writer(0);
    let given_up = block(&[row(1, "a")], "1");
    sink.runtime.block_on(async {
        let attempt = writer.write(0, &given_up);
        tokio::select! {
            outcome = attempt => panic!("ended: {outcome:?}"),
            () = async { while server.received().is_empty() { tokio::task::yield_now().await } } => {}
        }
    });
    sink.settle();
    server.wait_closed();
    sink.write(&mut writer, &block(&[row(1, "a")], "1"))
        .expect("a confirmation");
    assert_eq!(server.received()[1].connection, 1);
}
