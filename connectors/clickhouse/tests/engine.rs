//! The sink against the real engine: what it stores, what it refuses, and that nothing is ever misread.

mod support;

use bytes::Bytes;
use spate_runtime::error::{ConnectorError, ErrorClass};
use spate_runtime::sink::{Block, Column};
use spate_test::services::{ClickHouse, ClickHouseOptions, Database, FaultKind};
use support::{COLUMNS, Opened, block, open_columns, row};

/// A database of its own for the test, if there is a server.
fn database(prefix: &str) -> Option<Database<'static>> {
    let server = ClickHouse::required()?;
    Some(server.create_database(prefix).expect("a database"))
}

fn sink(db: &Database<'_>, more: &str, columns: &'static [Column]) -> Opened {
    let server = db.server();
    let more = format!(
        "database: {}\ntable: t\nuser: {}\npassword: '{}'\n{more}",
        db.name(),
        server.user(),
        server.password()
    );
    open_columns(server.url(), &more, columns)
}

fn create(db: &Database<'_>, columns: &str, rest: &str) {
    db.execute(&format!(
        "CREATE TABLE t ({columns}) ENGINE = MergeTree ORDER BY tuple() {rest}"
    ))
    .expect("a table");
}

fn query(db: &Database<'_>, sql: &str) -> String {
    db.query(sql).expect("an answer")
}

fn fatal(outcome: Result<(), ConnectorError>, parts: &[&str]) {
    let error = outcome.expect_err("refused");
    assert_eq!(error.class, ErrorClass::Fatal, "{error}");
    for part in parts {
        assert!(error.message.contains(part), "no {part:?} in: {error}");
    }
}

#[test]
fn blocks_are_stored_as_they_were_encoded() {
    let Some(db) = database("blocks") else { return };
    create(&db, "id UInt64, name String", "");
    let sink = sink(&db, "", COLUMNS);
    sink.check().expect("the table is as compiled");
    let mut writer = sink.sink.writer(0);
    sink.write(&mut writer, &block(&[row(1, "a"), row(2, "é")], "1"))
        .expect("stored");
    sink.write(&mut writer, &block(&[row(3, "")], "2"))
        .expect("stored");
    assert_eq!(
        query(&db, "SELECT id, name FROM t ORDER BY id"),
        "1\ta\n2\té\n3\t"
    );
}

#[test]
fn a_large_block_arrives_whole() {
    let Some(db) = database("large") else { return };
    create(&db, "id UInt64, name String", "");
    let sink = sink(&db, "", COLUMNS);
    let chunks: Vec<Vec<u8>> = (0..40)
        .map(|chunk| {
            (0..5_000)
                .flat_map(|i| row(chunk * 5_000 + i, "some name"))
                .collect()
        })
        .collect();
    sink.write_once(&block(&chunks, "1")).expect("stored");
    assert_eq!(
        query(&db, "SELECT count(), uniqExact(id), max(id) FROM t"),
        "200000\t200000\t199999"
    );
}

#[test]
fn a_block_that_is_sent_twice_under_one_token_is_stored_once() {
    let Some(db) = database("token") else { return };
    create(
        &db,
        "id UInt64, name String",
        "SETTINGS non_replicated_deduplication_window = 100",
    );
    let sink = sink(&db, "", COLUMNS);
    let mut writer = sink.sink.writer(0);
    let first = block(&[row(1, "a"), row(2, "b")], "run/0/1");
    sink.write(&mut writer, &first).expect("stored");
    sink.write(&mut writer, &first).expect("known already");
    assert_eq!(query(&db, "SELECT count() FROM t"), "2");
    // The same rows in another block are other rows.
    sink.write(&mut writer, &block(&[row(1, "a"), row(2, "b")], "run/0/2"))
        .expect("stored");
    assert_eq!(query(&db, "SELECT count() FROM t"), "4");
}

#[test]
fn a_block_whose_confirmation_was_lost_is_stored_once() {
    // Faults are for a server of the test's own.
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let db = server.create_database("lost").expect("a database");
    create(
        &db,
        "id UInt64, name String",
        "SETTINGS non_replicated_deduplication_window = 100",
    );
    let sink = sink(&db, "", COLUMNS);
    let mut writer = sink.sink.writer(0);
    for (token, kind) in [
        FaultKind::DropAfter,
        FaultKind::ErrorAfter,
        FaultKind::Drop,
        FaultKind::Error,
        FaultKind::Hidden,
    ]
    .into_iter()
    .enumerate()
    {
        db.server()
            .fault(kind, 252, 1, db.name())
            .expect("a server of our own");
        let block = block(&[row(token as u64, "a")], &format!("block {token}"));
        let error = sink
            .write(&mut writer, &block)
            .expect_err("no confirmation");
        assert_eq!(error.class, ErrorClass::Retryable, "{kind:?}: {error}");
        sink.write(&mut writer, &block).expect("stored");
    }
    assert_eq!(query(&db, "SELECT count(), uniqExact(id) FROM t"), "5\t5");
}

/// A row of (decimal, number, time).
fn altered_row() -> Block {
    let mut out = 12_345_i32.to_le_bytes().to_vec();
    out.extend(7_u32.to_le_bytes());
    out.extend(1_700_000_000_123_i64.to_le_bytes());
    Block::for_test(vec![Bytes::from(out)], 1, fresh_token())
}

fn fresh_token() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("token {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

const ALTERED: &[Column] = &[
    Column {
        name: "a",
        ty: "Decimal(9, 2)",
    },
    Column {
        name: "b",
        ty: "UInt32",
    },
    Column {
        name: "ts",
        ty: "DateTime64(3)",
    },
];

#[test]
fn a_column_that_is_altered_while_the_writer_runs_is_refused_and_never_misread() {
    let Some(db) = database("altered") else {
        return;
    };
    for (alter, code) in [
        ("MODIFY COLUMN a Decimal(18, 2)", "117"),
        ("MODIFY COLUMN a Decimal(9, 4)", "117"),
        ("MODIFY COLUMN b Nullable(UInt32)", "117"),
        ("MODIFY COLUMN b Int32", "117"),
        ("MODIFY COLUMN ts DateTime64(6, 'UTC')", "117"),
        ("MODIFY COLUMN ts DateTime64(3, 'Asia/Tokyo')", "117"),
        ("DROP COLUMN b", "NO_SUCH_COLUMN_IN_TABLE"),
        ("RENAME COLUMN b TO c", "NO_SUCH_COLUMN_IN_TABLE"),
    ] {
        create(
            &db,
            "a Decimal(9, 2), b UInt32, ts DateTime64(3, 'UTC')",
            "",
        );
        let sink = sink(&db, "", ALTERED);
        sink.check().expect("the table is as compiled");
        let mut writer = sink.sink.writer(0);
        sink.write(&mut writer, &altered_row()).expect("stored");
        db.execute(&format!(
            "ALTER TABLE t {alter} SETTINGS mutations_sync = 2"
        ))
        .expect(alter);
        fatal(
            sink.write(&mut writer, &altered_row()),
            &[code, "build again"],
        );
        assert_eq!(query(&db, "SELECT count() FROM t"), "1", "{alter}");
        db.execute("DROP TABLE t SYNC").expect("dropped");
    }
}

#[test]
fn columns_that_are_added_or_moved_while_the_writer_runs_do_no_harm() {
    let Some(db) = database("added") else { return };
    create(
        &db,
        "a Decimal(9, 2), b UInt32, ts DateTime64(3, 'UTC')",
        "",
    );
    let sink = sink(&db, "", ALTERED);
    sink.check().expect("the table is as compiled");
    let mut writer = sink.sink.writer(0);
    for alter in [
        "ADD COLUMN c UInt32 DEFAULT 5 AFTER a",
        "MODIFY COLUMN ts DateTime64(3, 'UTC') FIRST",
    ] {
        db.execute(&format!("ALTER TABLE t {alter}")).expect(alter);
        sink.write(&mut writer, &altered_row()).expect("stored");
    }
    let expected = "123.45\t5\t7\t2023-11-14 22:13:20.123";
    assert_eq!(
        query(&db, "SELECT a, c, b, ts FROM t"),
        format!("{expected}\n{expected}")
    );
}

#[test]
fn the_check_knows_whether_the_table_recognises_a_block_that_is_sent_twice() {
    let Some(db) = database("windows") else {
        return;
    };
    let columns = "id UInt64, name String";
    create(
        &db,
        columns,
        "SETTINGS non_replicated_deduplication_window = 100",
    );
    assert_eq!(
        sink(&db, "", COLUMNS).warnings().expect("it is there"),
        Vec::<String>::new()
    );
    db.execute("DROP TABLE t SYNC").expect("dropped");
    create(&db, columns, "");
    let warnings = sink(&db, "", COLUMNS).warnings().expect("it is there");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("stored twice")
            && warnings[0].contains("non_replicated_deduplication_window = 0"),
        "{warnings:?}"
    );
}

#[test]
fn a_missing_table_is_named_by_the_check_and_by_a_write() {
    let Some(db) = database("missing") else {
        return;
    };
    let name = format!("{}.t", db.name());
    let opened = sink(&db, "", COLUMNS);
    fatal(
        opened.check(),
        &[&name, "does not exist", "create the table"],
    );
    fatal(
        opened.write_once(&block(&[row(1, "a")], "1")),
        &[&name, "does not exist", "create the table"],
    );

    create(&db, "id UInt64, name String", "");
    let mut writer = opened.sink.writer(0);
    opened
        .write(&mut writer, &block(&[row(1, "a")], "1"))
        .expect("stored");
    db.execute("DROP TABLE t SYNC").expect("dropped");
    fatal(
        opened.write(&mut writer, &block(&[row(2, "b")], "2")),
        &[&name, "60 (UNKNOWN_TABLE)"],
    );
}

#[test]
fn a_missing_database_is_named_by_the_check() {
    let Some(server) = ClickHouse::required() else {
        return;
    };
    let more = format!(
        "database: spate_no_such\ntable: t\nuser: {}\npassword: '{}'",
        server.user(),
        server.password()
    );
    fatal(
        open_columns(server.url(), &more, COLUMNS).check(),
        &["spate_no_such.t", "81 (UNKNOWN_DATABASE)"],
    );
}

#[test]
fn the_check_tells_all_differences_with_both_types() {
    let Some(db) = database("differences") else {
        return;
    };
    create(
        &db,
        "a Decimal(9, 4), b Nullable(UInt32), ts String MATERIALIZED 'x', extra UInt8, free UInt8 DEFAULT 1",
        "",
    );
    fatal(
        sink(&db, "", ALTERED).check(),
        &[
            "column `a`: the row has Decimal(9, 2), the table Decimal(9, 4)",
            "column `b`: the row has UInt32, the table Nullable(UInt32)",
            "column `ts`: the table computes it (MATERIALIZED)",
            "column `extra` UInt8: the row lacks it",
        ],
    );
    let error = sink(&db, "", ALTERED).check().expect_err("refused");
    assert!(!error.message.contains("free"), "{error}");
    fatal(
        sink(&db, "", COLUMNS).check(),
        &["column `id` UInt64: the table has no such column"],
    );
}

#[test]
fn the_server_s_own_spelling_of_a_type_is_accepted_and_written() {
    const SPELLED: &[Column] = &[
        Column {
            name: "at",
            ty: "DateTime",
        },
        Column {
            name: "price",
            ty: "Decimal32(2)",
        },
        Column {
            name: "kind",
            ty: "Enum8('a b'=1,'c'=2)",
        },
        Column {
            name: "n.k",
            ty: "Array( UInt8 )",
        },
    ];
    let Some(db) = database("spelled") else {
        return;
    };
    create(
        &db,
        "kind Enum8('a b' = 1, 'c' = 2), at DateTime('Europe/Berlin'), price Decimal32(2), n Nested(k UInt8)",
        "",
    );
    let sink = sink(&db, "", SPELLED);
    sink.check().expect("the table is as compiled");
    let mut row = 1_700_000_000_u32.to_le_bytes().to_vec();
    row.extend(1_999_i32.to_le_bytes());
    row.extend([1, 2, 8, 9]);
    sink.write_once(&block(&[row], "1")).expect("stored");
    assert_eq!(
        query(&db, "SELECT kind, toUnixTimestamp(at), price, n.k FROM t"),
        "a b\t1700000000\t19.99\t[8,9]"
    );
}

#[test]
fn a_setting_that_the_server_does_not_know_is_found_by_the_check() {
    let Some(db) = database("setting") else {
        return;
    };
    create(&db, "id UInt64, name String", "");
    fatal(
        sink(&db, "settings: { no_such_setting: 1 }", COLUMNS).check(),
        &["115 (UNKNOWN_SETTING)", "`settings`"],
    );
}

#[test]
fn a_row_that_the_table_refuses_stops_the_block_as_a_whole() {
    let Some(db) = database("constraint") else {
        return;
    };
    create(
        &db,
        "id UInt64, name String, CONSTRAINT small CHECK id < 100",
        "",
    );
    let rows: Vec<Vec<u8>> = (0..1_000)
        .map(|i| row(if i == 500 { 100 } else { 1 }, "a"))
        .collect();
    fatal(
        sink(&db, "", COLUMNS).write_once(&block(&rows, "1")),
        &["469 (VIOLATED_CONSTRAINT)", "row 501"],
    );
    assert_eq!(query(&db, "SELECT count() FROM t"), "0");
}

#[test]
fn a_view_that_fails_fails_the_block() {
    let Some(db) = database("view") else { return };
    create(&db, "id UInt64, name String", "");
    db.execute(
        "CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY n AS \
         SELECT toUInt64(name) AS n FROM t",
    )
    .expect("a view");
    fatal(
        sink(&db, "", COLUMNS).write_once(&block(&[row(1, "12"), row(2, "1A")], "1")),
        &["6 (CANNOT_PARSE_TEXT)", "view"],
    );
}

/// With the setting at 0 the engine of the tests doubles the view's rows when a stored block comes again.
#[test]
fn a_block_that_is_sent_again_after_its_view_failed_reaches_table_and_view_once() {
    let setting = "settings: { deduplicate_blocks_in_dependent_materialized_views: 1 }";
    let Some(db) = database("again") else { return };
    let window = "SETTINGS non_replicated_deduplication_window = 100";
    create(&db, "id UInt64, name String", window);
    for statement in [
        "CREATE TABLE open (n UInt8) ENGINE = MergeTree ORDER BY n".to_owned(),
        format!("CREATE TABLE seen (id UInt64) ENGINE = MergeTree ORDER BY id {window}"),
        "CREATE MATERIALIZED VIEW v TO seen AS \
         SELECT id FROM t WHERE throwIf((SELECT count() FROM open) = 0) = 0"
            .to_owned(),
    ] {
        db.execute(&statement).expect("it is made");
    }
    let sink = sink(&db, setting, COLUMNS);
    let block = block(&[row(1, "a"), row(2, "b")], "run/0/1");
    sink.write_once(&block).expect_err("the view fails");
    db.execute("INSERT INTO open VALUES (1)").expect("stored");
    for _ in 0..2 {
        sink.write_once(&block).expect("stored");
        assert_eq!(query(&db, "SELECT count() FROM t"), "2");
        assert_eq!(query(&db, "SELECT count() FROM seen"), "2");
    }
}

#[test]
fn a_block_over_too_many_partitions_is_fatal_and_too_many_parts_is_not() {
    let Some(db) = database("parts") else { return };
    create(
        &db,
        "id UInt64, name String",
        "PARTITION BY id SETTINGS parts_to_throw_insert = 2, max_delay_to_insert = 0",
    );
    let opened = sink(&db, "", COLUMNS);
    let rows: Vec<Vec<u8>> = (0..150).map(|i| row(i, "a")).collect();
    fatal(
        opened.write_once(&block(&rows, "1")),
        &["252 (TOO_MANY_PARTS)", "max_partitions_per_insert_block"],
    );

    db.execute("SYSTEM STOP MERGES t").expect("no merges");
    let full = (0..10).find_map(|i| {
        opened
            .write_once(&block(&[row(1, "a")], &format!("part {i}")))
            .err()
    });
    let error = full.expect("too many parts at last");
    assert_eq!(error.class, ErrorClass::Retryable, "{error}");
    assert!(
        error.message.contains("252 (TOO_MANY_PARTS)") && error.message.contains("larger blocks"),
        "{error}"
    );
}

#[test]
fn bytes_that_are_no_rows_are_fatal() {
    let Some(db) = database("garbage") else {
        return;
    };
    create(&db, "id UInt64, name String", "");
    fatal(
        sink(&db, "", COLUMNS).write_once(&block(&[vec![1, 2, 3]], "1")),
        &["33 (CANNOT_READ_ALL_DATA)"],
    );
    assert_eq!(query(&db, "SELECT count() FROM t"), "0");
}
