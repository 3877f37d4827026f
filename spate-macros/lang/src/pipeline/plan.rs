//! A pipeline that passed all checks: its parts by position, nothing optional that must be there, nothing left to refuse.
//!
//! Code generation takes a [`Plan`] and cannot fail.

use proc_macro2::{Ident, Span, TokenStream};

use super::ast::{Head, Inline, State};
use super::registry::{Decoder, Transform};

/// One checked pipeline.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) head: Head,
    /// The name for metrics, errors and graphs.
    pub(crate) title: String,
    pub(crate) states: Vec<State>,
    pub(crate) source: SourceStep,
    pub(crate) decoder: DecoderStep,
    /// Set when the first transform is asked before the rest of the record is decoded.
    pub(crate) pushdown: Option<Pushdown>,
    pub(crate) tail: Tail,
}

/// What the first filter looks at.
#[derive(Debug)]
pub(crate) struct Pushdown {
    /// The record's type.
    pub(crate) ty: TokenStream,
    /// The fields, by their Rust names.
    pub(crate) fields: Vec<String>,
    /// The functions that decode in two steps.
    pub(crate) path: &'static str,
}

impl Plan {
    /// All sinks, by slot.
    pub(crate) fn sinks(&self) -> Vec<&SinkStep> {
        let mut sinks = Vec::new();
        self.tail.sinks(&mut sinks);
        sinks
    }
}

impl Tail {
    fn sinks<'a>(&'a self, sinks: &mut Vec<&'a SinkStep>) {
        match &self.end {
            End::Sink(sink) => sinks.push(sink),
            End::Route(route) => {
                for arm in &route.arms {
                    if let Target::Chain(tail) = &arm.target {
                        tail.sinks(sinks);
                    }
                }
            }
            End::Tee(tee) => tee.arms.iter().for_each(|(_, tail)| tail.sinks(sinks)),
        }
    }
}

/// What follows the decoder, or leads through an arm of a branch.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) transforms: Vec<TransformStep>,
    pub(crate) end: End,
}

/// How a chain ends.
#[derive(Debug)]
pub(crate) enum End {
    Sink(SinkStep),
    Route(RouteStep),
    Tee(TeeStep),
}

/// What every stage has.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its number: stages, branches and drops are counted in the order of the text.
    pub(crate) index: usize,
    /// Unique within the pipeline.
    pub(crate) name: String,
    /// The stage as written.
    pub(crate) stage: String,
    /// The token that stands for the stage: where rustc's errors about it go.
    pub(crate) span: Span,
    /// `None` for a stage that cannot fail.
    pub(crate) on_error: Option<Policy>,
}

/// What becomes of a record that fails in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Fail,
    Skip,
}

/// The type behind a source, decoder or sink: ours, or a path of the user's.
#[derive(Clone, Debug)]
pub(crate) enum Carrier<K> {
    Known(K),
    Own(TokenStream),
}

/// Literal settings, name and value.
pub(crate) type Settings = Vec<(String, String)>;

#[derive(Debug)]
pub(crate) struct SourceStep {
    pub(crate) node: Node,
    pub(crate) carrier: Carrier<&'static str>,
    pub(crate) settings: Settings,
}

#[derive(Debug)]
pub(crate) struct DecoderStep {
    pub(crate) node: Node,
    pub(crate) carrier: Carrier<Decoder>,
    /// The type of the turbofish.
    pub(crate) record: Option<TokenStream>,
    /// `pushdown = off`.
    pub(crate) whole: bool,
    pub(crate) settings: Settings,
}

#[derive(Debug)]
pub(crate) struct TransformStep {
    pub(crate) node: Node,
    pub(crate) call: Call,
}

/// What a transform calls.
#[derive(Debug)]
pub(crate) enum Call {
    /// A stage of ours with the user's function.
    Stage(Transform, Function),
    /// A function of the user's with the record in front of its arguments.
    Own {
        path: TokenStream,
        args: Vec<TokenStream>,
    },
}

/// The user's function, its tokens as written.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) tokens: TokenStream,
    /// Whether it has a second parameter for the metadata.
    pub(crate) with_meta: bool,
    /// Whether it is one identifier, which may be a variable of the surrounding function.
    pub(crate) is_name: bool,
    /// The parts of a closure that was understood by sight.
    pub(crate) inline: Option<Inline>,
}

#[derive(Debug)]
pub(crate) struct SinkStep {
    pub(crate) node: Node,
    /// Its number among the sinks.
    pub(crate) slot: usize,
    pub(crate) carrier: Carrier<&'static str>,
    /// The type of the turbofish.
    pub(crate) row: Option<TokenStream>,
    pub(crate) settings: Settings,
}

/// `route(function) { pattern => target }`
#[derive(Debug)]
pub(crate) struct RouteStep {
    pub(crate) node: Node,
    pub(crate) function: Function,
    pub(crate) arms: Vec<RouteArm>,
}

#[derive(Debug)]
pub(crate) struct RouteArm {
    /// `PAT [if EXPR]` as written.
    pub(crate) pattern: TokenStream,
    pub(crate) target: Target,
    /// The last token of the arm.
    pub(crate) end: Span,
}

/// Where an arm of `route` leads.
#[derive(Debug)]
pub(crate) enum Target {
    Chain(Box<Tail>),
    Drop(Node),
}

/// `tee { name: tail }`
#[derive(Debug)]
pub(crate) struct TeeStep {
    pub(crate) node: Node,
    pub(crate) arms: Vec<(Ident, Tail)>,
}

impl TransformStep {
    /// Whether the record that comes out is the one that went in.
    pub(crate) fn passes_on(&self) -> bool {
        use Transform::{Filter, Inspect, TryFilter};
        matches!(self.call, Call::Stage(Filter | TryFilter | Inspect, _))
    }
}
