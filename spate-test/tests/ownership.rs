//! A server never outlives the process that started it.

use spate_test::services::ClickHouse;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn stack_up(service: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stack"))
        .args(["up", service])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let line = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    let address = line.split_once("http://").unwrap().1.to_owned();
    (child, address)
}

fn gone(address: &str) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if TcpStream::connect(address).is_err() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn the_server_ends_when_its_owner_is_killed() {
    let Some(_) = ClickHouse::required() else {
        return;
    };
    let (mut owner, address) = stack_up("clickhouse");
    assert!(TcpStream::connect(&address).is_ok());
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(gone(&address), "the server at {address} outlived its owner");
}

#[test]
fn the_server_ends_when_the_pipe_to_stack_up_closes() {
    let Some(_) = ClickHouse::required() else {
        return;
    };
    let (mut owner, address) = stack_up("clickhouse");
    drop(owner.stdin.take());
    assert!(owner.wait().unwrap().success());
    assert!(gone(&address), "the server at {address} outlived its owner");
}

#[test]
fn a_server_that_is_dropped_leaves_no_process() {
    let Some(_) = ClickHouse::required() else {
        return;
    };
    let server = ClickHouse::start(Default::default()).unwrap();
    let (pid, address) = (
        server.pid().unwrap(),
        server.url().strip_prefix("http://").unwrap().to_owned(),
    );
    drop(server);
    assert!(TcpStream::connect(&address).is_err());
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}
