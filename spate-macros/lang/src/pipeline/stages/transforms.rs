//! Record to records. Each takes one function of the record; a closure with two parameters gets the metadata as well.

use crate::pipeline::registry::{ArgDef, ArgKind, Kind, ON_ERROR, OptionDef, StageDef, Transform};

pub(super) const FUNCTION: &[ArgDef] = &[ArgDef {
    name: "closure",
    kind: ArgKind::Function,
}];

const fn transform(
    name: &'static str,
    which: Transform,
    usage: &'static str,
    doc: &'static str,
    example: &'static str,
) -> StageDef {
    let fallible = matches!(
        which,
        Transform::TryMap | Transform::TryFilter | Transform::TryFlatMap
    );
    const FALLIBLE: &[OptionDef] = &[ON_ERROR];
    StageDef {
        name,
        kind: Kind::Transform(which),
        positional: FUNCTION,
        options: if fallible { FALLIBLE } else { &[] },
        type_argument: None,
        fallible,
        feature: None,
        usage,
        doc,
        example,
    }
}

pub(super) const ALL: &[StageDef] = &[
    transform(
        "map",
        Transform::Map,
        "map(|record| ..)",
        "Turns a record into another value. It cannot fail.",
        "memory -> bytes -> map(|payload| payload.len().to_string()) -> capture",
    ),
    transform(
        "filter",
        Transform::Filter,
        "filter(|record| ..)",
        "Keeps the records for which the closure is true; the others are counted as dropped here.",
        "memory -> bytes -> filter(|payload| payload.len() > 4) -> capture",
    ),
    transform(
        "inspect",
        Transform::Inspect,
        "inspect(|record| ..)",
        "Looks at a record and passes it on.",
        "memory -> bytes -> inspect(|payload| println!(\"{}\", payload.len())) -> capture",
    ),
    transform(
        "filter_map",
        Transform::FilterMap,
        "filter_map(|record| ..)",
        "Turns a record into another value, or drops it with `None`; what is dropped is counted here.",
        "memory -> bytes -> filter_map(|payload| payload.strip_prefix(b\"orders \")) -> capture",
    ),
    transform(
        "flat_map",
        Transform::FlatMap,
        "flat_map(|record| ..)",
        "Turns a record into any number of values. The record is done when all of them are.",
        "memory -> bytes -> flat_map(|payload| payload.split(|byte| *byte == b',')) -> capture",
    ),
    transform(
        "try_map",
        Transform::TryMap,
        "try_map(|record| ..)",
        "Turns a record into another value or fails with a `StageError`, which every error turns into by `?`. `on_error` \
         decides what becomes of the record.",
        "memory -> bytes -> try_map(|payload| Ok(std::str::from_utf8(payload)?), on_error = skip) -> capture",
    ),
    transform(
        "try_filter",
        Transform::TryFilter,
        "try_filter(|record| ..)",
        "Keeps the records for which the closure is `Ok(true)`, drops those for which it is `Ok(false)`, and fails with a \
         `StageError` otherwise; `on_error` decides what becomes of the record then.",
        "memory -> bytes -> try_filter(|payload| Ok(!std::str::from_utf8(payload)?.is_empty()), on_error = skip) -> capture",
    ),
    transform(
        "try_flat_map",
        Transform::TryFlatMap,
        "try_flat_map(|record| ..)",
        "Turns a record into any number of values, or fails with a `StageError` before the first of them; `on_error` decides \
         what becomes of the record then. The record is done when all of its values are.",
        "memory -> bytes -> try_flat_map(|payload| Ok(std::str::from_utf8(payload)?.split(',')), on_error = skip) -> capture",
    ),
];
