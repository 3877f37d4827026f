//! A pipeline that passed all checks: its parts by position, nothing optional that must be there, nothing left to refuse.
//!
//! Code generation takes a [`Plan`] and cannot fail.

use proc_macro2::{Span, TokenStream};

use super::ast::{FirstUse, Head, State};
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
    pub(crate) transforms: Vec<TransformStep>,
    pub(crate) sink: SinkStep,
}

/// What every stage has.
#[derive(Clone, Debug)]
pub(crate) struct Node {
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
    /// What stands for it in messages: the bars of a closure, or all of it.
    pub(crate) head: TokenStream,
    /// Whether it has a second parameter for the metadata.
    pub(crate) with_meta: bool,
    /// Whether it is one identifier, which may be a variable of the surrounding function.
    pub(crate) is_name: bool,
    /// How it meets the record first.
    pub(crate) first_use: FirstUse,
}

#[derive(Debug)]
pub(crate) struct SinkStep {
    pub(crate) node: Node,
    pub(crate) carrier: Carrier<&'static str>,
    /// The type of the turbofish.
    pub(crate) row: Option<TokenStream>,
    pub(crate) settings: Settings,
}
