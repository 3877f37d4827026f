//! One record to one of several chains, or to all of them. A branch ends its chain; its arms end in sinks or in further
//! branches.

use super::transforms::FUNCTION;
use crate::pipeline::registry::{Branch, Kind, StageDef};

pub(super) const ALL: &[StageDef] = &[
    StageDef {
        name: "route",
        kind: Kind::Branch(Branch::Route),
        positional: FUNCTION,
        options: &[],
        type_argument: None,
        fallible: false,
        feature: None,
        usage: "route(|record| ..) { pattern => chain, _ => drop }",
        doc: "Sends a record down the chain whose pattern matches the closure's value: a real `match`, so it has to be exhaustive, \
              and guards (`pattern if ..`) work as they do there. What a pattern binds serves its guard only; the chain gets the \
              whole record. An arm that is the word `drop` ends the record, counted under its label, or as `route.1` and so on.",
        example: "memory -> bytes -> route(|payload| payload.len()) { 0 => empty: drop, n if n > 9 => long: capture, _ => capture }",
    },
    StageDef {
        name: "tee",
        kind: Kind::Branch(Branch::Tee),
        positional: &[],
        options: &[],
        type_argument: None,
        fallible: false,
        feature: None,
        usage: "tee { one: chain, other: chain }",
        doc: "Sends a record down every one of its chains, in their order: each but the last gets a clone. A record that one arm drops or \
              skips goes on in the others, and it is done when the rows of all of them are stored. A sink behind an arm is \
              called by the arm's name.",
        example: "memory -> bytes -> tee { all: capture, long: filter(|payload| payload.len() > 9) -> capture }",
    },
];
