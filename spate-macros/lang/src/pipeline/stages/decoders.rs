//! Payload to record.

use crate::pipeline::registry::{Decoder, Kind, ON_ERROR, OptionDef, OptionKind, StageDef};

const PUSHDOWN: OptionDef = OptionDef {
    name: "pushdown",
    kind: OptionKind::Switch,
    doc: "Whether a `filter` right behind the decoder is asked before the fields behind those that it looks at are decoded: `on` (the \
          default) where its closure is seen to look at fields only, or `off`.",
};

pub(super) const ALL: &[StageDef] = &[
    StageDef {
        name: "avro",
        kind: Kind::Decoder(Decoder {
            path: "avro::Avro",
            record: None,
            pushdown: Some("avro::pushdown"),
        }),
        positional: &[],
        options: &[ON_ERROR, PUSHDOWN],
        type_argument: Some("the record type, one with `#[derive(AvroRecord)]`, or `avro::Value`"),
        fallible: true,
        feature: Some("avro"),
        usage: "avro::<Order>",
        doc: "Decodes Avro into a type with `#[derive(AvroRecord)]`, which may borrow from the payload, or where its schema is not known \
              when the crate is built into an `avro::Value` (feature `avro-value`). Framing and schema registry come from the section `deserializer` of the \
              config file.",
        example: "memory -> avro::<Order>(on_error = skip) -> map(to_row) -> clickhouse::<OrderRow>",
    },
    StageDef {
        name: "bytes",
        kind: Kind::Decoder(Decoder {
            path: "Bytes",
            record: Some("&[u8]"),
            pushdown: None,
        }),
        positional: &[],
        options: &[],
        type_argument: None,
        fallible: false,
        feature: None,
        usage: "bytes",
        doc: "Takes the payload as it is: the record is a `&[u8]`.",
        example: "memory -> bytes -> filter(|payload| !payload.is_empty()) -> capture",
    },
];
