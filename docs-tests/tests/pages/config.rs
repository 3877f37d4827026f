//! Every block of YAML is read by the real loader and given to a pipeline, as `--check` does it.
//!
//! A block may show a part of a file: sections that it leaves out are those of [`REST`]. The comment `<!-- config: two -->` before it
//! chooses another pipeline, `<!-- refused: text -->` says that it is refused, with this in the error.

use spate::prelude::*;
use spate::{Config, Pipeline};

use crate::blocks;

#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "schemas/order.avsc")]
struct Order<'a> {
    order_id: i64,
    region: &'a str,
}

#[derive(Row)]
#[row(table = "sql/paid.sql")]
struct OrderRow<'a> {
    order_id: u64,
    region: &'a str,
    read_at: i64,
}

fn to_row(order: Order<'_>) -> OrderRow<'_> {
    OrderRow {
        order_id: order.order_id.unsigned_abs(),
        region: order.region,
        read_at: 0,
    }
}

spate::pipeline! {
    one { kafka -> avro::<Order> -> map(to_row) -> clickhouse }

    two {
        kafka
        -> avro::<Order>
        -> map(to_row)
        -> route(|row| row.region.is_empty()) {
            true => lines: clickhouse::<OrderRow>,
            false => orders: clickhouse::<OrderRow>,
        }
    }

    memory { memory -> bytes -> capture }
}

/// What a block may leave out.
const REST: [(&str, &str); 3] = [
    (
        "source",
        "{ brokers: ['broker:9092'], topics: [orders], group_id: docs }",
    ),
    (
        "deserializer",
        "{ registry: { url: 'http://registry:8081' } }",
    ),
    ("sink", "{ url: 'http://clickhouse:8123', table: orders }"),
];

fn pipeline(name: &str) -> Pipeline {
    match name {
        "one" => one(),
        "two" => two(),
        "memory" => memory(),
        other => panic!("no pipeline `{other}` for a configuration"),
    }
}

/// The block with the sections that it leaves out.
fn whole(block: &str, name: &str) -> String {
    let mut whole = block.to_owned();
    for (section, text) in REST {
        let has = |key: &str| {
            block
                .lines()
                .any(|line| line.starts_with(&format!("{key}:")))
        };
        if name != "memory" && !has(section) && !(section == "sink" && has("sinks")) {
            whole += &format!("{section}: {text}\n");
        }
    }
    whole
}

/// Variables are set, each to its name.
fn environment(name: &str) -> Option<String> {
    (!name.starts_with("SPATE_")).then(|| name.to_owned())
}

fn check(text: &str, name: &str) -> Result<(), String> {
    let config = Config::from_yaml_with(&whole(text, name), "page.yaml", &environment);
    let configured = config.and_then(|config| pipeline(name).with_config(config));
    let checked = configured.map_err(|error| error.to_string())?.check();
    checked.map_err(|error| error.to_string())
}

#[test]
fn every_configuration_is_accepted_by_the_real_loader() {
    let mut wrong = Vec::new();
    blocks("yaml", |page, fence| {
        let name = fence.words("config").first().copied().unwrap_or("one");
        let refused = fence.words("refused").join(" ");
        match (check(&fence.text(), name), &*refused) {
            (Ok(()), "") => {}
            (Ok(()), _) => wrong.push(format!("{}: it is not refused", page.at(fence))),
            (Err(error), text) if text.is_empty() || !error.contains(text) => {
                wrong.push(format!("{}: {error}", page.at(fence)));
            }
            (Err(_), _) => {}
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_setting_that_does_not_exist_is_seen_in_a_block() {
    let error = check("sink: { url: 'http://a:1', tabel: orders }\n", "one").expect_err("refused");
    assert!(error.contains("sink.tabel"), "{error}");
}
