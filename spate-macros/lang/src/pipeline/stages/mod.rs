//! The entries of the registry, a file for each part that a stage can play.

mod branches;
mod decoders;
mod planned;
mod sinks;
mod sources;
mod transforms;

use super::registry::StageDef;

/// All entries, in the order of the reference.
pub(super) const ALL: &[&[StageDef]] = &[
    sources::ALL,
    decoders::ALL,
    transforms::ALL,
    branches::ALL,
    sinks::ALL,
    planned::ALL,
];
