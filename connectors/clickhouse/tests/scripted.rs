//! The insert over HTTP against a server that answers by a script: what is sent, what counts as a confirmation, and
//! which errors may be tried again.

mod support;

use spate_runtime::error::{ConnectorError, ErrorClass};
use support::{Scripted, Step, TABLE, answer, block, chunked, exception, http, ok, open, row};

/// The error of one write that is answered like this.
fn refused(step: Step) -> ConnectorError {
    let server = Scripted::new([step]);
    let sink = open(&server.url(), TABLE);
    sink.write_once(&block(&[row(1, "a")], "t"))
        .expect_err("no confirmation")
}

#[test]
fn an_insert_carries_token_checks_login_length_and_the_block_behind_its_header() {
    let server = Scripted::new([ok()]);
    let more = format!(
        "{TABLE}\nuser: etl\npassword: s3cret & more\nsettings: {{ insert_quorum: 2, max_memory_usage: 1_000 }}"
    );
    let sink = open(&server.url(), &more);
    sink.write_once(&block(&[row(1, "a"), row(2, "bc")], "run/1 & 2"))
        .expect("a confirmation");

    let request = &server.received()[0];
    assert!(
        request.head.starts_with("POST /?query="),
        "{}",
        request.head
    );
    let parameter = |name| {
        request
            .parameter(name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(
        parameter("query"),
        "INSERT INTO `shop`.`orders` (`id`, `name`) FORMAT RowBinaryWithNamesAndTypes"
    );
    for (name, value) in [
        ("database", "shop"),
        ("insert_deduplication_token", "run/1 & 2"),
        ("wait_end_of_query", "1"),
        ("async_insert", "0"),
        ("input_format_with_names_use_header", "1"),
        ("input_format_with_types_use_header", "1"),
        ("input_format_skip_unknown_fields", "0"),
        ("insert_quorum", "2"),
        ("max_memory_usage", "1_000"),
    ] {
        assert_eq!(parameter(name), value, "{name}");
    }
    assert_eq!(request.header("x-clickhouse-user"), Some("etl"));
    assert_eq!(request.header("x-clickhouse-key"), Some("s3cret & more"));
    assert!(
        !request
            .head
            .lines()
            .next()
            .unwrap_or_default()
            .contains("s3cret")
    );

    let mut body = b"\x02\x02id\x04name\x06UInt64\x06String".to_vec();
    body.extend(row(1, "a"));
    body.extend(row(2, "bc"));
    assert_eq!(request.body, body);
    assert_eq!(
        request.header("content-length"),
        Some(body.len().to_string().as_str())
    );
    assert_eq!(request.header("transfer-encoding"), None);
}

#[test]
fn clean_answers_of_every_framing_confirm_a_block() {
    for clean in [
        http(200, "", ""),
        http(200, "", "\n"),
        chunked(
            "X-ClickHouse-Summary: {\"written_rows\":\"1\"}\r\n",
            &[],
            true,
        ),
        chunked("", &["\n"], true),
    ] {
        let server = Scripted::new([answer(clean.clone())]);
        let sink = open(&server.url(), TABLE);
        sink.write_once(&block(&[row(1, "a")], "t"))
            .unwrap_or_else(|e| panic!("{}: {e}", String::from_utf8_lossy(&clean)));
    }
}

#[test]
fn a_200_that_hides_an_error_is_an_error() {
    let marked = "\r\n__exception__\r\nABCDEFGHIJKLMNOP\r\nCode: 159. DB::Exception: Timeout exceeded. \
                  (TIMEOUT_EXCEEDED) (version 26.1)\n90 ABCDEFGHIJKLMNOP\r\n__exception__\r\n";
    for (case, bytes, code, class) in [
        (
            "header",
            http(200, "X-ClickHouse-Exception-Code: 209\r\n", ""),
            "code 209 (SOCKET_TIMEOUT)",
            ErrorClass::Retryable,
        ),
        (
            "fatal header",
            http(200, "X-ClickHouse-Exception-Code: 60\r\n", ""),
            "code 60 (UNKNOWN_TABLE)",
            ErrorClass::Fatal,
        ),
        (
            "text",
            http(200, "", "Code: 252. DB::Exception: Too many parts"),
            "code 252 (TOO_MANY_PARTS)",
            ErrorClass::Retryable,
        ),
        (
            "fatal text",
            http(200, "", "Code: 469. DB::Exception: c (VIOLATED_CONSTRAINT)"),
            "code 469 (VIOLATED_CONSTRAINT)",
            ErrorClass::Fatal,
        ),
        (
            "unknown",
            http(200, "X-ClickHouse-Exception-Code: 98765\r\n", ""),
            "code 98765",
            ErrorClass::Retryable,
        ),
        (
            "text in two pieces",
            chunked(
                "",
                &[
                    "Code: 241. DB::Exc",
                    "eption: Memory limit (MEMORY_LIMIT_EXCEEDED)\n",
                ],
                true,
            ),
            "code 241 (MEMORY_LIMIT_EXCEEDED)",
            ErrorClass::Retryable,
        ),
        (
            "marked",
            chunked(
                "X-ClickHouse-Exception-Tag: ABCDEFGHIJKLMNOP\r\n",
                &[marked],
                true,
            ),
            "code 159 (TIMEOUT_EXCEEDED)",
            ErrorClass::Retryable,
        ),
    ] {
        let error = refused(answer(bytes));
        assert_eq!(error.class, class, "{case}: {error}");
        assert!(error.message.contains(code), "{case}: {error}");
    }
}

#[test]
fn an_answer_that_is_not_complete_confirms_nothing() {
    for (case, bytes) in [
        ("nothing", Vec::new()),
        ("half a head", b"HTTP/1.1 200 OK\r\nContent-".to_vec()),
        (
            "less than its length",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".to_vec(),
        ),
        ("no last chunk", chunked("", &[], false)),
        (
            "half a chunk",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nCode".to_vec(),
        ),
        (
            "no length",
            b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(),
        ),
        ("not HTTP", b"\x15\x03\x01\x00\x02\x02\x50".to_vec()),
    ] {
        let error = refused(answer(bytes).closing());
        assert_eq!(error.class, ErrorClass::Retryable, "{case}: {error}");
    }
}

#[test]
fn a_200_with_a_text_of_somebody_else_confirms_nothing() {
    let error = refused(answer(http(200, "", "<html>down for maintenance</html>")));
    assert_eq!(error.class, ErrorClass::Retryable);
    assert!(
        error.message.contains("down for maintenance") && error.message.contains("proxy"),
        "{error}"
    );
}

#[test]
fn after_an_overload_the_same_bytes_are_sent_under_the_same_token() {
    let server = Scripted::new([
        exception(500, 252, "Too many parts (3000). (TOO_MANY_PARTS)"),
        ok(),
    ]);
    let sink = open(&server.url(), TABLE);
    let mut writer = sink.sink.writer(0);
    let block = block(&[row(1, "a"), row(2, "b")], "block-7");
    let error = sink.write(&mut writer, &block).expect_err("too many parts");
    assert_eq!(error.class, ErrorClass::Retryable);
    sink.write(&mut writer, &block).expect("a confirmation");

    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
    assert_eq!(received[0].parameters(), received[1].parameters());
    assert_eq!(
        received[1]
            .parameter("insert_deduplication_token")
            .as_deref(),
        Some("block-7")
    );
}

#[test]
fn an_error_says_where_what_and_what_to_do_without_a_password() {
    let server = Scripted::new([exception(
        404,
        60,
        "Table shop.orders does not exist. (UNKNOWN_TABLE)",
    )]);
    let sink = open(
        &server.url(),
        &format!("{TABLE}\nuser: etl\npassword: s3cret"),
    );
    let error = sink
        .write_once(&block(&[row(1, "a")], "t"))
        .expect_err("no table");
    assert_eq!(error.class, ErrorClass::Fatal);
    assert_eq!(
        error.message,
        format!(
            "{}, table shop.orders: the server answered code 60 (UNKNOWN_TABLE), status 404: \
             Table shop.orders does not exist; create the table, or correct `database` and `table`",
            server.url()
        )
    );
}

#[test]
fn the_code_decides_and_without_one_the_status() {
    use ErrorClass::{Fatal, Retryable};
    for (step, class) in [
        (exception(404, 81, "no database (UNKNOWN_DATABASE)"), Fatal),
        (exception(403, 516, "login (AUTHENTICATION_FAILED)"), Fatal),
        (exception(500, 497, "grant (ACCESS_DENIED)"), Fatal),
        (exception(500, 164, "readonly (READONLY)"), Fatal),
        (
            exception(500, 469, "constraint (VIOLATED_CONSTRAINT)"),
            Fatal,
        ),
        (exception(400, 117, "header (INCORRECT_DATA)"), Fatal),
        (exception(404, 115, "setting (UNKNOWN_SETTING)"), Fatal),
        (exception(400, 15, "twice (DUPLICATE_COLUMN)"), Fatal),
        (exception(408, 159, "slow (TIMEOUT_EXCEEDED)"), Retryable),
        (
            exception(500, 241, "memory (MEMORY_LIMIT_EXCEEDED)"),
            Retryable,
        ),
        (exception(500, 999, "keeper (KEEPER_EXCEPTION)"), Retryable),
        (exception(500, 98_765, "new (BRAND_NEW)"), Retryable),
        (exception(400, 98_765, "new (BRAND_NEW)"), Retryable),
        (answer(http(502, "", "bad gateway")), Retryable),
        (answer(http(503, "", "")), Retryable),
        (answer(http(429, "", "slow down")), Retryable),
        (answer(http(404, "", "no such page")), Fatal),
        (answer(http(413, "", "too large")), Fatal),
        (
            answer(http(308, "Location: http://127.0.0.1:1/\r\n", "")),
            Fatal,
        ),
        (answer("HTTP/1.1 204 No Content\r\n\r\n"), Retryable),
    ] {
        let error = refused(step);
        assert_eq!(error.class, class, "{error}");
    }
}

#[test]
fn one_block_with_too_many_partitions_is_not_tried_again() {
    let text = "Too many partitions for single INSERT block (more than 100). (TOO_MANY_PARTS)";
    let error = refused(exception(500, 252, text));
    assert_eq!(error.class, ErrorClass::Fatal);
    assert!(
        error.message.contains("max_partitions_per_insert_block"),
        "{error}"
    );
}

#[test]
fn an_answer_is_read_to_a_bound() {
    let endless = format!(
        "HTTP/1.1 500 X\r\nContent-Length: 99999999999\r\n\r\nCode: 241. DB::Exception: Memory. {}",
        "x".repeat(1 << 20)
    );
    let error = refused(answer(endless).hanging());
    assert_eq!(error.class, ErrorClass::Retryable);
    assert!(
        error.message.contains("code 241") && error.message.len() < 2_000,
        "{}",
        error.message.len()
    );

    let endless = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
        "x".repeat(1 << 20)
    );
    let error = refused(answer(endless).hanging());
    assert_eq!(error.class, ErrorClass::Retryable);
}

#[test]
fn shards_are_written_to_their_own_servers_and_the_paths_of_proxies_kept() {
    let servers = [Scripted::new([ok()]), Scripted::new([ok()])];
    let yaml = format!(
        "sink: {{ table: orders, shards: [{{ url: '{}' }}, {{ url: '{}/clickhouse/' }}] }}",
        servers[0].url(),
        servers[1].url()
    );
    let sink = support::try_open(&yaml, support::COLUMNS).expect("a right section");
    assert_eq!(sink.sink.shards(), 2);
    for shard in [0, 1] {
        let mut writer = sink.sink.writer(shard);
        sink.write(&mut writer, &block(&[row(shard as u64, "a")], "t"))
            .expect("a confirmation");
    }
    assert!(servers[0].received()[0].head.starts_with("POST /?query="));
    assert!(
        servers[1].received()[0]
            .head
            .starts_with("POST /clickhouse/?query=")
    );
    assert_eq!(servers[0].received()[0].header("x-clickhouse-user"), None);
}

#[test]
fn a_check_of_something_that_is_not_clickhouse_may_pass_later() {
    let server = Scripted::for_all([answer(http(200, "", "<html>It works!</html>"))]);
    let error = open(&server.url(), TABLE)
        .check()
        .expect_err("no list of columns");
    assert_eq!(error.class, ErrorClass::Retryable);
    assert!(error.message.contains("proxy"), "{error}");
}
