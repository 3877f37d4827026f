//! Where rows go.

use crate::pipeline::registry::{Kind, ON_ERROR, OptionDef, OptionKind, Rule, StageDef};

const ROW: Option<&str> = Some("the row type");

pub(super) const ALL: &[StageDef] = &[
    StageDef {
        name: "clickhouse",
        kind: Kind::Sink("clickhouse::ClickHouse"),
        positional: &[],
        options: &[
            OptionDef {
                name: "table",
                kind: OptionKind::Setting {
                    config: "sink.table",
                    rule: Rule::Table,
                },
                doc: "The table to write, where the config file does not name one in `sink.table`.",
            },
            ON_ERROR,
        ],
        type_argument: Some("the row type, one with `#[derive(Row)]`"),
        fallible: true,
        feature: Some("clickhouse"),
        usage: "clickhouse::<OrderRow>",
        doc: "Inserts rows into a ClickHouse table in blocks; address, table and limits come from the section `sink` of the \
              config file.",
        example: "memory -> avro::<Order> -> map(to_row) -> clickhouse::<OrderRow>(table = \"orders\")",
    },
    StageDef {
        name: "capture",
        kind: Kind::Sink("Capture"),
        positional: &[],
        options: &[ON_ERROR],
        type_argument: ROW,
        fallible: true,
        feature: None,
        usage: "capture",
        doc: "Keeps what is written, for a test to read from the sink's handle.",
        example: "memory -> bytes -> capture",
    },
    StageDef {
        name: "discard",
        kind: Kind::Sink("Discard"),
        positional: &[],
        options: &[ON_ERROR],
        type_argument: ROW,
        fallible: true,
        feature: None,
        usage: "discard",
        doc: "Takes rows and forgets them.",
        example: "memory -> bytes -> discard",
    },
];
