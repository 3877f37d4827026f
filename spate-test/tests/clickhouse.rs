//! The ClickHouse service: what tests of the sink rely on must hold before they mean anything.

use spate_test::services::{ClickHouse, ClickHouseOptions, Database, FaultKind, ServiceError};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn database(prefix: &str) -> Option<Database<'static>> {
    ClickHouse::required().map(|server| server.create_database(prefix).unwrap())
}

fn own_server() -> Option<ClickHouse> {
    // Faults and kills must not meet the other tests' statements, hence a server of one's own.
    ClickHouse::required_own(ClickHouseOptions::default())
}

fn code<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> Option<u32> {
    result.expect_err("the statement must fail").code()
}

/// `a UInt64` as RowBinaryWithNamesAndTypes: the number of columns, names, types, rows.
fn named_rows(rows: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut body = b"\x01\x01a\x06UInt64".to_vec();
    rows.into_iter()
        .for_each(|row| body.extend_from_slice(&row.to_le_bytes()));
    body
}

fn plain_rows(rows: impl IntoIterator<Item = u64>) -> Vec<u8> {
    rows.into_iter().flat_map(u64::to_le_bytes).collect()
}

#[test]
fn an_insert_sent_twice_with_one_token_is_stored_once() {
    let Some(db) = database("dedup") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100")
        .unwrap();
    let insert = |token: &str, body: &[u8]| {
        let params = [
            ("insert_deduplication_token", token),
            ("wait_end_of_query", "1"),
        ];
        db.insert(
            "INSERT INTO t (a) FORMAT RowBinaryWithNamesAndTypes",
            &params,
            body,
        )
        .unwrap();
    };
    insert("one", &named_rows(0..1000));
    insert("one", &named_rows(0..1000));
    assert_eq!(
        db.query("SELECT count(), uniqExact(a) FROM t").unwrap(),
        "1000\t1000"
    );
    // The token decides, not the content.
    insert("two", &named_rows(0..1000));
    assert_eq!(
        db.query("SELECT count(), uniqExact(a) FROM t").unwrap(),
        "2000\t1000"
    );
}

#[test]
fn errors_carry_the_code_and_the_text_of_the_engine() {
    let Some(db) = database("errors") else { return };
    let error = db.query("SELECT * FROM nope").unwrap_err();
    assert_eq!(error.code(), Some(60));
    assert!(
        error.to_string().contains("UNKNOWN_TABLE") && error.to_string().contains("nope"),
        "{error}"
    );
    assert_eq!(code(db.query("SELEC 1")), Some(62));
    assert_eq!(
        code(
            db.server()
                .query_with("SELECT 1", &[("no_such_setting", "1")])
        ),
        Some(115)
    );
    assert_eq!(
        code(db.insert("INSERT INTO nope FORMAT RowBinary", &[], &[1, 2])),
        Some(60)
    );
}

#[test]
fn an_insert_that_the_table_rejects_for_too_many_parts_is_an_error() {
    let Some(db) = database("parts") else { return };
    db.execute(
        "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a \
         SETTINGS parts_to_throw_insert = 3, parts_to_delay_insert = 2, max_delay_to_insert = 1",
    )
    .unwrap();
    db.execute(&format!("SYSTEM STOP MERGES {}.t", db.name()))
        .unwrap();
    let results: Vec<_> = (0..6)
        .map(|i| db.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows([i])))
        .collect();
    let stored = results.iter().filter(|r| r.is_ok()).count();
    assert!((1..6).contains(&stored), "{results:?}");
    assert!(
        results
            .iter()
            .filter_map(|r| r.as_ref().err())
            .all(|e| e.code() == Some(252)),
        "{results:?}"
    );
    assert_eq!(
        db.query("SELECT count() FROM t").unwrap(),
        stored.to_string()
    );
}

#[test]
fn an_insert_that_breaks_a_constraint_is_an_error() {
    let Some(db) = database("constraint") else {
        return;
    };
    db.execute(
        "CREATE TABLE t (a UInt64, CONSTRAINT small CHECK a < 10) ENGINE = MergeTree ORDER BY a",
    )
    .unwrap();
    assert_eq!(
        code(db.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows([5, 50]))),
        Some(469)
    );
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "0");
}

#[test]
fn an_insert_into_too_many_partitions_is_an_error() {
    let Some(db) = database("partitions") else {
        return;
    };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree PARTITION BY a ORDER BY a")
        .unwrap();
    assert_eq!(
        code(db.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows(0..200))),
        Some(252)
    );
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "0");
}

#[test]
fn an_insert_that_makes_a_materialized_view_fail_is_an_error() {
    let Some(db) = database("view") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    db.execute("CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY x AS SELECT throwIf(a = 7) AS x FROM t").unwrap();
    assert_eq!(
        code(db.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows([7]))),
        Some(395)
    );
    db.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows([8]))
        .unwrap();
}

#[test]
fn an_insert_over_the_memory_limit_is_an_error() {
    let Some(db) = database("memory") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    let body = plain_rows((0..1_000_000).map(|i| i % 9));
    assert_eq!(
        code(db.insert(
            "INSERT INTO t FORMAT RowBinary",
            &[("max_memory_usage", "1000000")],
            &body
        )),
        Some(241)
    );
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "0");
}

#[test]
fn an_insert_whose_last_row_is_cut_is_an_error_and_stores_nothing() {
    let Some(db) = database("cut") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    let mut body = plain_rows(0..10);
    body.truncate(75);
    assert!(
        db.insert("INSERT INTO t FORMAT RowBinary", &[], &body)
            .unwrap_err()
            .code()
            .is_some()
    );
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "0");
}

#[test]
fn a_body_that_breaks_off_stores_nothing() {
    let Some(db) = database("broken") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    let address = db
        .server()
        .url()
        .strip_prefix("http://")
        .unwrap()
        .to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let query = format!("INSERT+INTO+{}.t+FORMAT+RowBinary", db.name());
    let head = format!(
        "POST /?query={query} HTTP/1.1\r\nHost: {address}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"50\r\n").unwrap();
    stream.write_all(&plain_rows(0..10)).unwrap();
    stream.write_all(b"\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(
        !answer.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "0");
}

#[test]
fn a_large_insert_that_ends_in_several_blocks_is_deduplicated_as_one() {
    let Some(db) = database("large") else { return };
    db.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100")
        .unwrap();
    let body = plain_rows(0..1_500_000);
    for _ in 0..2 {
        db.insert(
            "INSERT INTO t FORMAT RowBinary",
            &[("insert_deduplication_token", "A")],
            &body,
        )
        .unwrap();
    }
    assert_eq!(db.query("SELECT count() FROM t").unwrap(), "1500000");
}

#[test]
fn what_was_acknowledged_is_there_after_kill_9_and_the_port_stays() {
    let Some(server) = own_server() else { return };
    server.execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100").unwrap();
    let insert = || {
        let params = [("insert_deduplication_token", "A")];
        server.insert(
            "INSERT INTO t (a) FORMAT RowBinaryWithNamesAndTypes",
            &params,
            &named_rows(0..500),
        )
    };
    insert().unwrap();
    server.kill().unwrap();
    assert!(matches!(
        server.query("SELECT 1"),
        Err(ServiceError::Unreachable { .. })
    ));
    server.restart().unwrap();
    assert_eq!(server.query("SELECT count() FROM t").unwrap(), "500");
    // The tokens are kept as well: the retry of an unknown outcome is safe over a crash.
    insert().unwrap();
    assert_eq!(server.query("SELECT count() FROM t").unwrap(), "500");
}

#[test]
fn a_frozen_server_answers_nothing_until_it_goes_on() {
    let Some(server) = own_server() else { return };
    let address = server.url().strip_prefix("http://").unwrap().to_owned();
    server.pause().unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    connection
        .write_all(b"GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    connection
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let mut answer = [0; 12];
    assert!(connection.read_exact(&mut answer).is_err());
    server.resume().unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    connection.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    server.kill().unwrap();
    assert!(server.pause().is_err() && server.resume().is_err());
}

#[test]
fn data_in_a_folder_of_ones_own_survives_the_handle() {
    let Some(_) = ClickHouse::required() else {
        return;
    };
    let dir = std::env::temp_dir().join(format!("spate-own-data-{}", std::process::id()));
    let options = ClickHouseOptions {
        data_dir: Some(dir.clone()),
        ..Default::default()
    };
    let first = ClickHouse::start(options.clone()).unwrap();
    first
        .execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    first.execute("INSERT INTO t VALUES (1)").unwrap();
    first.stop().unwrap();
    drop(first);
    let second = ClickHouse::start(options).unwrap();
    assert_eq!(second.query("SELECT count() FROM t").unwrap(), "1");
    drop(second);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn injected_faults_hit_the_statements_they_name_and_no_others() {
    let Some(server) = own_server() else { return };
    server
        .execute("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .unwrap();
    let insert = || server.insert("INSERT INTO t FORMAT RowBinary", &[], &plain_rows([1]));
    let count = || server.query("SELECT count() FROM t").unwrap();

    server
        .fault(FaultKind::Error, 252, 2, "INSERT INTO t")
        .unwrap();
    assert_eq!(code(insert()), Some(252));
    assert_eq!(code(insert()), Some(252));
    insert().unwrap();
    assert_eq!(count(), "1");

    server.fault(FaultKind::DropAfter, 0, 1, "INSERT").unwrap();
    assert!(matches!(insert(), Err(ServiceError::Unreachable { .. })));
    assert_eq!(count(), "2", "applied, but the answer was lost");

    server.fault(FaultKind::Drop, 0, 1, "INSERT").unwrap();
    assert!(matches!(insert(), Err(ServiceError::Unreachable { .. })));
    assert_eq!(count(), "2");

    server.fault(FaultKind::Hidden, 241, 1, "INSERT").unwrap();
    assert!(matches!(
        insert(),
        Err(ServiceError::Query {
            status: 200,
            code: Some(241),
            ..
        })
    ));

    server
        .fault(FaultKind::ErrorAfter, 209, 1, "INSERT")
        .unwrap();
    assert_eq!(code(insert()), Some(209));
    assert_eq!(count(), "3");

    server.fault(FaultKind::Error, 252, 1000, "INSERT").unwrap();
    server.clear_faults().unwrap();
    insert().unwrap();
}

#[test]
fn only_users_with_their_password_get_in() {
    let Some(_) = ClickHouse::required() else {
        return;
    };
    let users = vec![("etl".to_owned(), "s3cret".to_owned())];
    let server = ClickHouse::start(ClickHouseOptions {
        users,
        ..Default::default()
    })
    .unwrap();
    assert_eq!(server.query("SELECT 1").unwrap(), "1");
    let as_user = |user: &str| {
        ClickHouse::external(&server.url().replace("//", &format!("//{user}@"))).unwrap()
    };
    assert_eq!(as_user("etl:s3cret").query("SELECT 1").unwrap(), "1");
    for wrong in ["etl:wrong", "default:"] {
        assert!(matches!(
            as_user(wrong).query("SELECT 1"),
            Err(ServiceError::Query {
                status: 403,
                code: Some(516),
                ..
            })
        ));
    }
}

#[test]
fn a_taken_port_is_an_error_that_says_so() {
    let Some(server) = ClickHouse::required() else {
        return;
    };
    let Some(port) = server.url().rsplit(':').next().and_then(|p| p.parse().ok()) else {
        return;
    };
    let error = ClickHouse::start(ClickHouseOptions {
        port,
        ..Default::default()
    })
    .err()
    .unwrap();
    assert!(
        error.to_string().contains("Address already in use"),
        "{error}"
    );
}
