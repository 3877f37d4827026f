//! What the language knows and this version does not build: recognised, so that it is never called unknown.

use crate::pipeline::registry::{Kind, Part, StageDef};

const fn planned(
    name: &'static str,
    part: Part,
    usage: &'static str,
    doc: &'static str,
) -> StageDef {
    StageDef {
        name,
        kind: Kind::Planned(part),
        positional: &[],
        options: &[],
        type_argument: None,
        fallible: false,
        feature: None,
        usage,
        doc,
        example: "",
    }
}

pub(super) const ALL: &[StageDef] = &[
    planned("s3", Part::Source, "s3", "Reads the objects of a bucket."),
    planned("json", Part::Decoder, "json::<Order>", "Decodes JSON."),
    planned(
        "kafka",
        Part::Sink,
        "kafka(topic = \"out\")",
        "Writes to a Kafka topic.",
    ),
];
