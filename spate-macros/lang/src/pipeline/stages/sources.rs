//! Where payloads come from.

use crate::pipeline::registry::{Kind, OptionDef, OptionKind, Rule, StageDef};

pub(super) const ALL: &[StageDef] = &[
    StageDef {
        name: "kafka",
        kind: Kind::Source("kafka::Kafka"),
        positional: &[],
        options: &[OptionDef {
            name: "topic",
            kind: OptionKind::Setting {
                config: "source.topics",
                rule: Rule::Topic,
            },
            doc: "The topic to read, where the config file does not name any in `source.topics`.",
        }],
        type_argument: None,
        fallible: false,
        feature: Some("kafka"),
        usage: "kafka(topic = \"orders\")",
        doc: "Reads topics of a Kafka cluster as one member of a consumer group; brokers, group and topics come from the \
              section `source` of the config file.",
        example: "kafka(topic = \"orders\") -> avro::<Order> -> map(to_row) -> clickhouse::<OrderRow>",
    },
    StageDef {
        name: "memory",
        kind: Kind::Source("Memory"),
        positional: &[],
        options: &[],
        type_argument: None,
        fallible: false,
        feature: None,
        usage: "memory",
        doc: "Reads what a test pushes into the source's handle.",
        example: "memory -> bytes -> capture",
    },
];
