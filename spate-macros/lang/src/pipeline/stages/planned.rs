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
        "try_filter",
        Part::Transform,
        "try_filter(|record| ..)",
        "Keeps, drops or fails.",
    ),
    planned(
        "try_flat_map",
        Part::Transform,
        "try_flat_map(|record| ..)",
        "Turns a record into any number of values, or fails.",
    ),
    planned(
        "kafka",
        Part::Sink,
        "kafka(topic = \"out\")",
        "Writes to a Kafka topic.",
    ),
    planned(
        "route",
        Part::Branch,
        "route(|record| ..) { pattern => chain, }",
        "Sends a record down one of several chains.",
    ),
    planned(
        "tee",
        Part::Branch,
        "tee { name: chain, }",
        "Sends a record down every one of several chains.",
    ),
];
