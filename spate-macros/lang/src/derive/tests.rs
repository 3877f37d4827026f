//! What the derives emit and what they say about mistakes, without a compiler.

use std::path::PathBuf;
use std::sync::LazyLock;

use proc_macro2::TokenStream;

const ORDER: &str = r#"{"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "order_id", "type": "long"},
    {"name": "note", "type": ["null", "string"], "default": null},
    {"name": "region", "type": "string"},
    {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID"]}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "ratio", "type": "float"},
    {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
        {"name": "sku", "type": "string"},
        {"name": "qty", "type": "int"},
        {"name": "extra", "type": ["int", "string", {"type": "map", "values": "bytes"}]},
        {"name": "parent", "type": ["null", "Line"]}]}}},
    {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    {"name": "digest", "type": {"type": "fixed", "name": "Digest", "size": 16}},
    {"name": "history", "type": {"type": "array", "items": "Line"}},
    {"name": "odd", "type": {"type": "long", "logicalType": "timestamp-mills"}},
    {"name": "gone", "type": "int", "aliases": ["old"]}]}"#;

const ORDERS: &str = "CREATE TABLE orders (
    order_id UInt64,
    region LowCardinality(String),
    note Nullable(String),
    at DateTime64(3, 'UTC') DEFAULT now64(3),
    day Date MATERIALIZED toDate(at),
    lines Array(UInt32) DEFAULT [],
    status Enum8('new' = 1) DEFAULT 'new'
) ENGINE = MergeTree ORDER BY order_id;";

/// A directory with the files, one per process, written before any test reads it.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("spate-lang-derive-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join("order.avsc"), ORDER).expect("a file");
    std::fs::write(dir.join("orders.sql"), ORDERS).expect("a file");
    let two = format!("{ORDERS}\nCREATE TABLE shop.refunds (id UInt64) ENGINE = Log");
    std::fs::write(dir.join("two.sql"), two).expect("a file");
    dir
});

fn avro(input: &str) -> TokenStream {
    super::avro_record(input.parse().expect("tokens"), &DIR)
}

fn row(input: &str) -> TokenStream {
    super::row(input.parse().expect("tokens"), &DIR)
}

/// The expansion as a reader would write it, without the path of this machine.
fn pretty(tokens: TokenStream) -> String {
    let file: syn::File = syn::parse2(tokens).expect("items");
    let dir = DIR.canonicalize().expect("a directory");
    prettyplease::unparse(&file).replace(&*dir.to_string_lossy(), "/crate")
}

/// The texts of all errors; the rest of the expansion must still be an implementation.
fn mistakes(tokens: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(tokens).expect("items");
    let mut texts = Vec::new();
    let mut implementations = 0;
    for item in file.items {
        match item {
            syn::Item::Macro(call)
                if call
                    .mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "compile_error") =>
            {
                let text: syn::LitStr = syn::parse2(call.mac.tokens).expect("a text");
                texts.push(text.value());
            }
            _ => implementations += 1,
        }
    }
    assert_eq!(
        implementations, 1,
        "an implementation is emitted beside the errors"
    );
    texts
}

#[test]
fn a_record_becomes_straight_line_code() {
    let text = pretty(avro(
        r#"#[avro(schema = "order.avsc")]
        struct Order<'a> { order_id: i64, region: &'a str, at: TimestampMillis, lines: Seq<'a, Line<'a>>, #[avro(rename = "gone")] r#type: i64 }"#,
    ));
    assert!(!text.contains("dyn ") && !text.contains("Box"), "{text}");
    insta::assert_snapshot!("avro_record", text);
}

#[test]
fn the_files_of_compat_are_watched_and_nothing_else_of_them_is_compiled() {
    let old = ORDER.replace(
        "\"order_id\", \"type\": \"long\"",
        "\"order_id\", \"type\": \"shop.Id\"",
    );
    std::fs::write(DIR.join("order_v1.avsc"), old).expect("a file");
    let id = r#"{"type": "fixed", "name": "Id", "namespace": "shop", "size": 8}"#;
    std::fs::write(DIR.join("id.avsc"), id).expect("a file");
    let reader = ORDER.replace(
        "\"order_id\", \"type\": \"long\"",
        "\"order_id\", \"type\": [\"null\", \"long\"], \"default\": null",
    );
    std::fs::write(DIR.join("order_v2.avsc"), &reader).expect("a file");
    let record = |compat: &str| {
        let input = format!(
            "#[avro(schema = \"order_v2.avsc\", record = \"Line\" {compat})] struct Line {{ sku: String }}"
        );
        pretty(avro(&input))
    };
    let watched = record(r#", compat = ("order_v1.avsc", with = ["id.avsc"])"#);
    let items = ["order_v1.avsc", "id.avsc"]
        .map(|file| format!("const _: &[u8] = ::core::include_bytes!(\"/crate/{file}\");\n"));
    assert_eq!(watched, format!("{}{}", record(""), items.concat()));
}

#[test]
fn a_record_inside_is_compared_with_the_one_of_its_name_alias_or_short_name() {
    let line = |name: &str, ty: &str| {
        format!(
            r#"{{"type": "record", "name": "{name}", "fields": [{{"name": "n", "type": "{ty}"}}]}}"#
        )
    };
    let reader =
        line("shop.Line", "int").replace("\"fields\"", "\"aliases\": [\"old.Item\"], \"fields\"");
    std::fs::write(DIR.join("lines.avsc"), format!("[\"null\", {reader}]")).expect("a file");
    let said = |file: &str, records: &[String]| {
        std::fs::write(DIR.join(file), format!("[{}]", records.join(","))).expect("a file");
        let input = format!(
            "#[avro(schema = \"lines.avsc\", record = \"Line\", compat = \"{file}\")] struct Line {{ n: i32 }}"
        );
        let answer: syn::File = syn::parse2(avro(&input)).expect("items");
        answer
            .items
            .iter()
            .any(|item| matches!(item, syn::Item::Macro(_)))
    };
    // The one that fits is found, whatever the others are.
    let (good, bad) = (|name| line(name, "int"), |name| line(name, "string"));
    assert!(!said(
        "full.avsc",
        &[bad("old.Item"), bad("a.Line"), good("shop.Line")]
    ));
    assert!(!said("alias.avsc", &[bad("a.Line"), good("old.Item")]));
    assert!(!said("short.avsc", &[bad("a.Other"), good("a.Line")]));
    assert!(said("wrong.avsc", &[bad("a.Line")]));
    // Two of that name: none is taken for it.
    assert!(said("two.avsc", &[good("a.Line"), good("b.Line")]));
    assert!(said("none.avsc", &[good("a.Other")]));
}

#[test]
fn a_recursive_record_counts_its_depth() {
    let text = pretty(avro(
        r#"#[avro(schema = "order.avsc", record = "Line", crate = crate::facade)] struct Line { sku: String }"#,
    ));
    assert!(!text.contains("dyn ") && !text.contains("Box"), "{text}");
    insta::assert_snapshot!("avro_record_inside", text);
}

#[test]
fn a_schema_becomes_the_types_that_a_user_would_write() {
    std::fs::write(
        DIR.join("names.avsc"),
        r#"{"type": "record", "name": "order_line", "namespace": "shop", "doc": "A line.", "fields": [
            {"name": "type", "type": "string", "doc": "What it is."},
            {"name": "self", "type": ["null", "order_line"]},
            {"name": "unit", "type": {"type": "enum", "name": "Unit", "symbols": ["KILO_GRAM", "KiloGram", "m"]}},
            {"name": "other", "type": {"type": "record", "name": "Unit", "namespace": "other", "fields": []}},
            {"name": "value", "type": ["int", "string", {"type": "map", "values": "order_line"}]},
            {"name": "values", "type": {"type": "array", "items": ["int", "string", {"type": "map", "values": "order_line"}]}},
            {"name": "ids", "type": {"type": "array", "items": {"type": "string", "logicalType": "uuid"}}}]}"#,
    )
    .expect("a file");
    let expand = |input: &str| super::avro_schema(input.parse().expect("tokens"), &DIR);
    insta::assert_snapshot!("avro_schema", pretty(expand(r#"[::spate] "names.avsc""#)));
    let owned = pretty(expand(r#"[::spate] "names.avsc", owned"#));
    assert!(!owned.contains("'a") && !owned.contains("Seq"), "{owned}");
    for (input, said) in [
        (
            "[::spate]",
            "[SP084] unexpected end of input, expected string literal\nhelp: write `avro_schema!(\"path/from/Cargo.toml\")`",
        ),
        (
            "[::spate] \"names.avsc\", owned, owned",
            "[SP084] this option is given twice\nhelp: write `avro_schema!(\"path/from/Cargo.toml\")`",
        ),
        (
            "[::spate] \"names.avsc\", ownd",
            "[SP084] unknown option `ownd`; did you mean `owned`?\nhelp: write `avro_schema!(\"path/from/Cargo.toml\")`",
        ),
    ] {
        let text = expand(input).to_string();
        let quoted = format!("{said:?}");
        assert!(text.contains(&quoted), "{input}: {text}");
    }
}

#[test]
fn a_row_becomes_straight_line_code_in_the_order_of_the_table() {
    let text = pretty(row(r#"#[row(table = "orders.sql")]
        struct OrderRow<'a> { note: Option<&'a str>, region: &'a str, #[row(rename = "order_id")] id: u64 }"#));
    assert!(!text.contains("dyn ") && !text.contains("Box"), "{text}");
    insta::assert_snapshot!("row", text);
}

#[test]
fn every_field_that_does_not_fit_the_schema_is_reported() {
    let found = mistakes(avro(
        r#"#[avro(schema = "order.avsc")]
        struct Order<'a> {
            order_id: i32, note: &'a str, region: Option<&'a str>, status: i32, at: u64, ratio: f64, lines: Vec<i64>,
            price: f64, digest: [u8; 15], odd: TimestampMillis, old: i32, regoin: &'a str, history: Seq<'a, Line>,
        }"#,
    ));
    let expected = [
        "[SP077] field `order_id` is long in the schema (order.avsc:2:34), which this type cannot hold\nhelp: use `i64`",
        "[SP077] field `note` is union of null, string in the schema (order.avsc:3:30), so it may be null\nhelp: use `Option<&str>`",
        "[SP077] field `region` is string in the schema (order.avsc:4:32), so it is never null\nhelp: use `&str`",
        "[SP077] field `status` is enum shop.Status in the schema (order.avsc:5:41), which this type cannot hold\nhelp: use `&str`, or an enum with `#[derive(AvroEnum)]`",
        "[SP077] field `at` is long (timestamp-millis) in the schema (order.avsc:6:37), which this type cannot hold\nhelp: use `i64`",
        "[SP077] field `lines` is array of record shop.Line in the schema (order.avsc:8:40), which this type cannot hold\nhelp: use `Seq<'a, Line>`",
        "[SP077] field `price` is bytes (decimal 9, 2) in the schema (order.avsc:13:40), which this type cannot hold\nhelp: use `Decimal<2>`",
        "[SP077] field `digest` is fixed shop.Digest in the schema (order.avsc:14:41), which this type cannot hold\nhelp: use `[u8; 16]`",
        "[SP077] field `odd` is long in the schema (order.avsc:16:38), a plain number: `logicalType` \"timestamp-mills\" is not one that a long has\nhelp: write \"timestamp-millis\" in the schema, or use `i64`",
        "[SP076] record `shop.Order` of `order.avsc` has no field `old`\nhelp: it is an alias of `gone`: name the field so, or write `#[avro(rename = \"gone\")]`",
        "[SP076] record `shop.Order` of `order.avsc` has no field `regoin`\nhelp: the record has `gone`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_record_is_looked_for_by_name() {
    let found = mistakes(avro(
        r#"#[avro(schema = "order.avsc", record = "Lin")] struct Line {}"#,
    ));
    assert_eq!(
        found,
        ["[SP072] `order.avsc` defines no record `Lin`\nhelp: did you mean `Line`?"]
    );
    let found = mistakes(avro(r#"#[avro(schema = "orders.avsc")] struct Line {}"#));
    assert!(
        found[0].starts_with("[SP070] cannot read `orders.avsc`"),
        "{found:?}"
    );
    assert!(
        found[0].ends_with("help: did you mean `order.avsc`?"),
        "{found:?}"
    );
}

#[test]
fn what_a_derive_cannot_stand_on_is_said_and_an_implementation_is_emitted_all_the_same() {
    for (input, expected) in [
        (
            "#[avro(schema = \"order.avsc\")] enum Order { A }",
            "`AvroRecord` is derived for a struct\nhelp: an enum is read from an Avro enum with `AvroEnum`, from a union with `AvroUnion`",
        ),
        (
            "#[avro(schema = \"order.avsc\")] struct Order(i64);",
            "`AvroRecord` needs a struct with named fields",
        ),
        (
            "#[avro(schema = \"order.avsc\")] struct Order<'a, 'b> { region: &'a str }",
            "a record borrows from one payload: it has one lifetime",
        ),
        (
            "#[avro(schema = \"order.avsc\")] struct Order<T> { region: T }",
            "`AvroRecord` needs types that are known: a struct without type parameters",
        ),
        (
            "#[avro(shema = \"order.avsc\")] struct Order {}",
            "unknown option `shema`; did you mean `schema`?",
        ),
        (
            "#[avro(schema = \"a\", schema = \"b\")] struct Order {}",
            "this option is given twice",
        ),
        (
            "struct Order {}",
            "which schema is `Order` of?\nhelp: write `#[avro(schema = \"path/from/Cargo.toml\")]` below the derive",
        ),
    ] {
        let found = mistakes(avro(input));
        assert_eq!(found, [format!("[SP079] {expected}")], "{input}");
    }
    assert_eq!(
        mistakes(row(
            "#[row(table = \"orders.sql\")] struct Row<T> { order_id: T }"
        ))[0],
        "[SP098] `Row` needs types that are known: a struct without type parameters"
    );
}

#[test]
fn every_column_that_does_not_fit_the_row_is_reported() {
    let found = mistakes(row(r#"#[row(table = "orders.sql")]
        struct OrderRow<'a> {
            region: Option<&'a str>, nota: &'a str, day: u16, lines: Option<Vec<u32>>, status: u8,
            at: DateTime64Millis, #[row(rename = "at")] again: DateTime64Millis,
        }"#));
    let mut expected = vec![
        "[SP097] column `region LowCardinality(String)` (orders.sql:3:5) takes no NULL, and this field may be `None`\nhelp: unwrap the value before, or make the column `LowCardinality(Nullable(String))`",
        "[SP094] table `orders` of `orders.sql` has no column `nota`\nhelp: did you mean `note`?",
        "[SP096] column `day Date` (orders.sql:6:5) is MATERIALIZED: the server computes it, an insert may not name it\nhelp: leave the field out of the struct",
        "[SP097] column `lines Array(UInt32)` (orders.sql:7:5) takes no NULL, and this field may be `None`\nhelp: unwrap the value before: the server has no `Nullable(Array(..))`",
        "[SP093] column `status Enum8('new' = 1)` (orders.sql:8:5) has a type that cannot be written yet\nhelp: leave the field out of the struct",
        "[SP099] `at` and `again` are written into one column `at`\nhelp: keep one of the two",
        "[SP095] column `order_id UInt64` (orders.sql:2:5) has no default and `OrderRow` no field for it\nhelp: add a field `order_id`, or give the column a DEFAULT",
    ];
    expected.sort_unstable();
    let mut found = found;
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_table_is_looked_for_by_name() {
    let found = mistakes(row(r#"#[row(table = "two.sql")] struct R { id: u64 }"#));
    assert_eq!(
        found,
        [
            "[SP092] `two.sql` creates several tables\nhelp: name one with `name = \"..\"`: `orders` or `shop.refunds`"
        ]
    );
    let found = mistakes(row(
        r#"#[row(table = "two.sql", name = "order")] struct R { id: u64 }"#,
    ));
    assert_eq!(
        found,
        ["[SP092] `two.sql` creates no table `order`\nhelp: did you mean `orders`?"]
    );
    assert!(
        pretty(row(
            r#"#[row(table = "two.sql", name = "refunds")] struct R { id: u64 }"#
        ))
        .contains("\"shop.refunds\"")
    );
}

/// The registry and every other reader of JSON stop there, when the pipeline starts.
#[test]
fn a_record_that_is_nested_deeper_than_its_text_can_be_read_is_refused() {
    let record = |n: usize, inner: &str| {
        format!(
            r#"{{"type": "record", "name": "R{n}", "fields": [{{"name": "f", "type": {inner}}}]}}"#
        )
    };
    for (depth, refused) in [(40, false), (41, true)] {
        let text = (0..depth).fold("\"int\"".to_owned(), |inner, n| record(n, &inner));
        std::fs::write(DIR.join(format!("deep{depth}.avsc")), text).expect("a file");
        let found = mistakes(avro(&format!(
            "#[avro(schema = \"deep{depth}.avsc\")] struct Deep {{}}"
        )));
        let expected = format!(
            "[SP075] the types of `R{}` are nested deeper than the registry reads them\nhelp: records inside records go some forty levels deep",
            depth - 1
        );
        assert_eq!(found, if refused { vec![expected] } else { Vec::new() });
    }
}
