//! The stage registry: what stages there are, and all that is to be known of each.
//!
//! One static table feeds the parser, the checks, the suggestions, the code generation, the reference and the tests, so
//! they cannot disagree. A stage is added by one entry in a file of `stages`.

use super::stages;
use crate::diagnostic::suggest;

/// One stage of the language.
#[derive(Debug)]
pub struct StageDef {
    /// The name in a chain.
    pub name: &'static str,
    /// The part that it plays and how it is built.
    pub kind: Kind,
    /// The positional arguments; each is required.
    pub positional: &'static [ArgDef],
    /// The named arguments; each is optional.
    pub options: &'static [OptionDef],
    /// What `::<Type>` names, for a stage that takes one; it is never required.
    pub type_argument: Option<&'static str>,
    /// Whether a record can fail in it, so that `on_error` decides.
    pub fallible: bool,
    /// The feature of the facade that brings it; `None` for what is always there.
    pub feature: Option<&'static str>,
    /// How it is written, shortest form with its arguments.
    pub usage: &'static str,
    /// What it does, for the reference.
    pub doc: &'static str,
    /// A chain in which it stands.
    pub example: &'static str,
}

/// The part that a stage plays in a chain. Item types follow from it: a source yields payloads, a decoder turns a payload
/// into a record, a transform a record into records, and a sink takes records as its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where payloads come from; the type that implements it, below the facade's `__private`.
    Source(&'static str),
    /// Payload to record.
    Decoder(Decoder),
    /// Record to records.
    Transform(Transform),
    /// Where rows go; the type that implements it, below the facade's `__private`.
    Sink(&'static str),
    /// One record to one or several chains.
    Branch(Branch),
    /// A part of the language that this version does not build; what it will be.
    Planned(Part),
}

/// A decoder's type below the facade's `__private`, and its record type where the stage fixes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoder {
    /// The type that implements it.
    pub path: &'static str,
    /// The record, in Rust's syntax; `None` when a turbofish or the closures behind it say.
    pub record: Option<&'static str>,
    /// The functions that decode in two steps, below the facade's `__private`; `None` for a decoder that cannot.
    pub pushdown: Option<&'static str>,
}

/// The transforms, each a helper of the runtime with its own way to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// One record to one.
    Map,
    /// Keeps or drops.
    Filter,
    /// Looks.
    Inspect,
    /// One record to one or none.
    FilterMap,
    /// One record to any number.
    FlatMap,
    /// One record to one, or an error.
    TryMap,
    /// Keeps, drops, or an error.
    TryFilter,
    /// One record to any number, or an error.
    TryFlatMap,
}

/// The branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// Down the one chain whose pattern matches.
    Route,
    /// Down every chain.
    Tee,
}

/// A part in a chain, without the details of a [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// First.
    Source,
    /// Second.
    Decoder,
    /// Anywhere between decoder and sink.
    Transform,
    /// Last.
    Sink,
    /// Last, with chains of its own.
    Branch,
}

/// A positional argument.
#[derive(Debug)]
pub struct ArgDef {
    /// What the messages call it.
    pub name: &'static str,
    /// What it has to be.
    pub kind: ArgKind,
}

/// What a positional argument has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A closure of the record, with the record's metadata as second parameter if it wants, or the path of a function of
    /// the record.
    Function,
}

/// A named argument.
#[derive(Debug)]
pub struct OptionDef {
    /// The name before the equals sign.
    pub name: &'static str,
    /// What the value has to be.
    pub kind: OptionKind,
    /// What it does, for the reference.
    pub doc: &'static str,
}

/// What a named argument's value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A word of the error policy.
    Policy,
    /// `on` or `off`.
    Switch,
    /// A string literal, the default of a setting of the config file.
    Setting {
        /// Where the config file sets it.
        config: &'static str,
        /// What the literal has to look like.
        rule: Rule,
    },
}

/// What a literal setting has to look like; the rules of the systems themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A Kafka topic.
    Topic,
    /// A ClickHouse table, with or without its database.
    Table,
}

/// Words that later versions will need, as stages or clauses.
pub const RESERVED: &[&str] = &["merge", "join", "window", "batch"];

/// `on_error`, as stages that can fail take it.
pub(crate) const ON_ERROR: OptionDef = OptionDef {
    name: "on_error",
    kind: OptionKind::Policy,
    doc: "What becomes of a record that fails here: `fail` (the default) stops the pipeline, `skip` counts it and goes on.",
};

impl StageDef {
    /// The part that it plays, or will play.
    pub fn part(&self) -> Part {
        match self.kind {
            Kind::Source(_) => Part::Source,
            Kind::Decoder(_) => Part::Decoder,
            Kind::Transform(_) => Part::Transform,
            Kind::Sink(_) => Part::Sink,
            Kind::Branch(_) => Part::Branch,
            Kind::Planned(part) => part,
        }
    }

    /// Whether this version only knows its name.
    pub fn is_planned(&self) -> bool {
        matches!(self.kind, Kind::Planned(_))
    }
}

/// All stages, those of this version and those that are planned, in the order of the reference.
pub fn stages() -> impl Iterator<Item = &'static StageDef> {
    stages::ALL.iter().copied().flatten()
}

/// The stage of this name; where a name is both a source and a sink, `last` tells which is meant.
pub(crate) fn find(name: &str, last: bool) -> Option<&'static StageDef> {
    let mut named = stages().filter(|stage| stage.name == name);
    let first = named.next()?;
    let sink = [first]
        .into_iter()
        .chain(named)
        .find(|stage| stage.part() == Part::Sink);
    Some(sink.filter(|_| last).unwrap_or(first))
}

/// The names of the stages of this version that play a part.
pub(crate) fn names(part: Part) -> Vec<&'static str> {
    stages()
        .filter(|stage| stage.part() == part && !stage.is_planned())
        .map(|stage| stage.name)
        .collect()
}

pub(crate) fn is_known(name: &str) -> bool {
    stages().any(|stage| stage.name == name) || RESERVED.contains(&name)
}

pub(crate) fn is_source(name: &str) -> bool {
    find(name, false).is_some_and(|stage| stage.part() == Part::Source)
}

pub(crate) fn is_sink(name: &str) -> bool {
    stages().any(|stage| stage.name == name && stage.part() == Part::Sink)
}

/// A word before braces that is no pipeline's name.
pub(crate) fn is_branch(name: &str) -> bool {
    RESERVED.contains(&name)
        || stages().any(|stage| stage.name == name && stage.part() == Part::Branch)
}

/// A word that is taken for a branch where braces follow: one, or nearly one.
pub(crate) fn may_be_branch(name: &str) -> bool {
    let branches = stages().filter(|stage| stage.part() == Part::Branch);
    is_branch(name) || !is_known(name) && suggest(name, branches.map(|stage| stage.name)).is_some()
}
