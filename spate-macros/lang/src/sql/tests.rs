//! What the table model understands and what it says about mistakes.

use super::*;
use crate::files::SourceFile;

fn tables(text: &str) -> Vec<Table> {
    let file = SourceFile::in_memory("x.sql", text);
    parse(&file).unwrap_or_else(|finding| panic!("{}", file.report(finding.place, finding.message)))
}

fn mistake(text: &str) -> String {
    let file = SourceFile::in_memory("x.sql", text);
    let finding = parse(&file).expect_err("a mistake");
    file.report(finding.place, finding.message)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn spelled(ty: &str) -> ColumnType {
    tables(&format!("CREATE TABLE t (a {ty}) ENGINE = Memory"))
        .remove(0)
        .columns
        .remove(0)
        .ty
}

#[test]
fn a_real_definition_is_read_with_everything_that_does_not_matter_in_it() {
    let tables = tables(
        "-- orders\nCREATE DATABASE IF NOT EXISTS shop;\n\
         CREATE TABLE IF NOT EXISTS shop.`orders` ON CLUSTER '{cluster}' (\n\
             id UInt64 CODEC(Delta, ZSTD(1)), /* the key */\n\
             region LowCardinality(String) DEFAULT concat('a, b', ')') COMMENT 'where; so',\n\
             at DateTime64(3, 'UTC') TTL at + INTERVAL 1 MONTH,\n\
             twice UInt64 MATERIALIZED id * 2,\n\
             same UInt64 ALIAS id,\n\
             raw String EPHEMERAL,\n\
             lines.sku Array(String),\n\
             note String NULL,\n\
             INDEX ix region TYPE bloom_filter(0.01) GRANULARITY 4,\n\
             PROJECTION p (SELECT id, region ORDER BY region),\n\
             CONSTRAINT c CHECK id > 0,\n\
             PRIMARY KEY (id)\n\
         ) ENGINE = ReplicatedMergeTree('/tables/{shard}', '{replica}') PARTITION BY toYYYYMM(at) ORDER BY (id, at)\n\
         TTL toDateTime(at) + INTERVAL 1 YEAR SETTINGS index_granularity = 8192;\n\
         CREATE MATERIALIZED VIEW v TO w AS SELECT 1;\n\
         CREATE TABLE refunds (id UInt64) ENGINE = Log",
    );
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["orders", "refunds"]);
    assert_eq!(tables[0].database.as_deref(), Some("shop"));
    let columns: Vec<String> = tables[0]
        .columns
        .iter()
        .map(|c| {
            format!(
                "{}:{} {} {} {}",
                c.place.line,
                c.place.column,
                c.name,
                c.ty.spelling(),
                c.computed.keyword()
            )
        })
        .collect();
    assert_eq!(
        columns,
        [
            "4:1 id UInt64 ",
            "5:1 region LowCardinality(String) DEFAULT",
            "6:1 at DateTime64(3, 'UTC') ",
            "7:1 twice UInt64 MATERIALIZED",
            "8:1 same UInt64 ALIAS",
            "9:1 raw String EPHEMERAL",
            "10:1 lines.sku Array(String) ",
            "11:1 note Nullable(String) ",
        ]
    );
}

#[test]
fn types_are_spelled_as_the_server_does() {
    for (written, spelling) in [
        (
            "LowCardinality( Nullable(String) )",
            "LowCardinality(Nullable(String))",
        ),
        ("DateTime64", "DateTime64(3)"),
        ("DateTime ('Europe/Berlin')", "DateTime('Europe/Berlin')"),
        ("FixedString(16)", "FixedString(16)"),
        ("Array(Nullable(Float64))", "Array(Nullable(Float64))"),
        ("Decimal(18,2)", "Decimal(18, 2)"),
        ("Decimal(5)", "Decimal(5, 0)"),
        ("Decimal32(2)", "Decimal(9, 2)"),
        ("Decimal64(18)", "Decimal(18, 18)"),
        ("Decimal128(0)", "Decimal(38, 0)"),
        ("Decimal256(3)", "Decimal(76, 3)"),
        ("DateTime64(9, 'UTC')", "DateTime64(9, 'UTC')"),
        ("Map(String,UInt8)", "Map(String, UInt8)"),
        ("Tuple(a UInt8,b String)", "Tuple(a UInt8, b String)"),
        ("Enum8('a'=1, 'b, c' = 2)", "Enum8('a' = 1, 'b, c' = 2)"),
    ] {
        assert_eq!(spelled(written).spelling(), spelling, "{written}");
    }
}

#[test]
fn types_for_later_are_named_and_those_of_this_version_are_not() {
    for known in [
        "Bool",
        "Int8",
        "UInt64",
        "Float32",
        "String",
        "Date",
        "DateTime",
        "Array(Array(LowCardinality(FixedString(2))))",
        "Nullable(UUID)",
        "Date32",
        "Array(DateTime64(6))",
        "Nullable(Decimal(76, 38))",
    ] {
        assert_eq!(spelled(known).later(), None, "{known}");
    }
    for (later, reason) in [
        ("Enum8('a' = 1)", "`Enum8('a' = 1)`"),
        ("Nullable(Time64(3))", "`Time64(3)`"),
        ("LowCardinality(UInt32)", "`LowCardinality` of `UInt32`"),
        (
            "AggregateFunction(sum, UInt64)",
            "`AggregateFunction(sum, UInt64)`",
        ),
    ] {
        assert_eq!(spelled(later).later(), Some(reason), "{later}");
    }
}

#[test]
fn a_slip_in_the_name_of_a_type_is_a_mistake_and_a_type_that_nobody_knows_is_for_later() {
    for (ty, place, said, help) in [
        (
            "Strng",
            "1:19",
            "the server has no type `Strng`",
            "did you mean `String`?",
        ),
        (
            "string",
            "1:19",
            "the server has no type `string`",
            "did you mean `String`?",
        ),
        (
            "Unit64",
            "1:19",
            "the server has no type `Unit64`",
            "did you mean `UInt64`?",
        ),
        (
            "Nulable(UInt8)",
            "1:19",
            "the server has no type `Nulable`",
            "did you mean `Nullable`?",
        ),
        (
            "Array(Datetim)",
            "1:25",
            "the server has no type `Datetim`",
            "did you mean `DateTime`?",
        ),
        (
            "Decimall(9, 2)",
            "1:19",
            "the server has no type `Decimall`",
            "did you mean `Decimal`?",
        ),
        (
            "datetime64(3)",
            "1:19",
            "`datetime64` is another spelling: write `DateTime64`, as the server does",
            "",
        ),
        (
            "DECIMAL(9, 2)",
            "1:19",
            "`DECIMAL` is another spelling: write `Decimal`, as the server does",
            "",
        ),
    ] {
        let file = SourceFile::in_memory("x.sql", &format!("CREATE TABLE t (a {ty})"));
        let found = parse(&file).expect_err("a slip");
        let at = format!("{}:{}", found.place.line, found.place.column);
        assert_eq!(
            (at.as_str(), found.message.as_str(), found.help.as_str()),
            (place, said, help)
        );
    }
    for ty in [
        "Json",
        "Vector(Float32, 3)",
        "INET6",
        "LineString",
        "Time64(3)",
    ] {
        assert!(spelled(ty).later().is_some(), "{ty}");
    }
}

#[test]
fn a_decimal_has_digits_and_no_more_of_them_behind_the_point() {
    for ty in [
        "Decimal",
        "Decimal()",
        "Decimal(0, 0)",
        "Decimal(77, 2)",
        "Decimal(9, 10)",
        "Decimal(9, 2, 1)",
        "Decimal(9, -1)",
        "Decimal32(10)",
        "Decimal64",
        "Decimal64(9, 2)",
        "Decimal128(39)",
        "Decimal256(77)",
    ] {
        let file = SourceFile::in_memory("x.sql", &format!("CREATE TABLE t (a {ty})"));
        let found = parse(&file).expect_err(ty);
        assert!(
            found.message.starts_with("a decimal has up to 76 digits"),
            "{ty}: {}",
            found.message
        );
    }
}

#[test]
fn mistakes_have_their_place() {
    for (text, expected) in [
        (
            "CREATE TABLE t (a UInt64",
            "x.sql:1:16: this parenthesis is never closed",
        ),
        (
            "CREATE TABLE t AS u",
            "x.sql:1:16: table `t` has no list of columns",
        ),
        (
            "CREATE TABLE t (\n  a UInt64,\n  a String)",
            "x.sql:3:3: there are two columns `a`",
        ),
        (
            "CREATE TABLE t (a DEFAULT 1)",
            "x.sql:1:17: column `a` needs its type, also where the server could infer it",
        ),
        (
            "CREATE TABLE t (a bigint)",
            "x.sql:1:19: `bigint` is another spelling: write `Int64`, as the server does",
        ),
        (
            "CREATE TABLE t (a VARCHAR(20))",
            "x.sql:1:19: `VARCHAR` is another spelling: write `String`, as the server does",
        ),
        (
            "CREATE TABLE t (a Nullable(Array(UInt8)))",
            "x.sql:1:19: the server has no `Nullable(Array(UInt8))`; write `Array(UInt8)`",
        ),
        (
            "CREATE TABLE t (a Nullable(LowCardinality(String)))",
            "x.sql:1:19: the server has no `Nullable(LowCardinality(String))`; write `LowCardinality(Nullable(String))`",
        ),
        (
            "CREATE TABLE t (a FixedString)",
            "x.sql:1:19: `FixedString` takes its length in bytes: `FixedString(3)`",
        ),
        (
            "CREATE TABLE t (a UInt64 UInt32)",
            "x.sql:1:26: `UInt32` is not expected after the type of column `a`",
        ),
        (
            "CREATE TABLE t (a Array(String, UInt8))",
            "x.sql:1:31: a single type is expected in these parentheses",
        ),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
    assert!(
        mistake("CREATE TABLE t (a String DEFAULT 'x)").contains("Unterminated"),
        "quotes"
    );
}

proptest::proptest! {
    #[test]
    fn a_definition_cut_anywhere_is_answered_without_a_panic(cut in 0usize..200, more in "[(),'`;a-zA-Z0-9 ]{0,20}") {
        let text = "CREATE TABLE d.t (a Nullable(String) DEFAULT 'x', b Array(DateTime64(3, 'UTC')) CODEC(ZSTD)) ENGINE = Memory;";
        let text = format!("{}{more}", text.get(..cut).unwrap_or(text));
        let _ = parse(&SourceFile::in_memory("x.sql", &text));
    }
}

#[test]
fn a_time_zone_that_would_need_quotes_in_its_name_is_refused() {
    for ty in ["DateTime('a''b')", "DateTime64(3, 'a''b')"] {
        let found = mistake(&format!("CREATE TABLE t (a {ty}) ENGINE = Memory"));
        assert!(found.starts_with("x.sql:1:19: `DateTime"), "{found}");
    }
    let zone = "DateTime('America/Argentina/Buenos_Aires')";
    assert_eq!(spelled(zone).spelling(), zone);
}

#[test]
fn types_in_types_are_read_to_a_depth() {
    let nested = |depth| format!("{}String{}", "Array(".repeat(depth), ")".repeat(depth));
    assert_eq!(spelled(&nested(64)).spelling(), nested(64));
    let found = mistake(&format!(
        "CREATE TABLE t (a {}) ENGINE = Memory",
        nested(65)
    ));
    assert!(
        found.ends_with("types are nested more than 64 levels deep"),
        "{found}"
    );
}
