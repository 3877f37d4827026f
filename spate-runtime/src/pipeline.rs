//! A compiled pipeline: what the macro built, before it meets a configuration.

use std::any::Any;
use std::sync::Arc;

use crate::capture::{Capture, CaptureSink};
use crate::config::{OpenError, Section};
use crate::decode::{Decode, Decoder, DecoderKind, Reader, SharedDecoder};
use crate::error::StageError;
use crate::graph::Graph;
use crate::memory::{Memory, MemorySource};
use crate::sink::{RowEncoder, RowInfo, Sink, SinkKind, SinkWitness};
use crate::source::{Attachment, OpenContext, Source, SourceKind};
use crate::thread::{DriveEnd, Thread};

/// Makes a thread's state and drives its kernel; called once per thread and again whenever the state has to be renewed.
pub type Factory = Arc<dyn Fn(Thread) -> Result<DriveEnd, StageError> + Send + Sync>;

/// Settings that a stage got in the code: defaults for keys that the configuration does not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageOptions(Vec<(&'static str, String)>);

impl StageOptions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        StageOptions::default()
    }

    /// One more.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.push((key, value.into()));
        self
    }

    pub(crate) fn apply(&self, section: &mut Section) {
        for (key, value) in &self.0 {
            section.set_default(key, value);
        }
    }
}

type OpenSource = fn(&Section, &OpenContext) -> Result<Box<dyn Source>, OpenError>;
type OpenDecoder = fn(&Section, Reader, &OpenContext) -> Result<Arc<dyn SharedDecoder>, OpenError>;
type OpenSink = fn(&Section, RowInfo, &OpenContext) -> Result<Box<dyn Sink>, OpenError>;

pub(crate) struct SourceStage {
    pub(crate) kind: &'static str,
    pub(crate) options: StageOptions,
    pub(crate) attachment: Option<Attachment>,
    pub(crate) open: OpenSource,
}

pub(crate) struct DecoderStage {
    pub(crate) kind: &'static str,
    pub(crate) configured: bool,
    pub(crate) reader: Reader,
    pub(crate) options: StageOptions,
    pub(crate) open: OpenDecoder,
}

pub(crate) struct SinkStage {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) configured: bool,
    pub(crate) row: RowInfo,
    pub(crate) options: StageOptions,
    pub(crate) attachment: Option<Attachment>,
    pub(crate) open: OpenSink,
}

/// A pipeline as `pipeline!` made it. Give it a configuration with [`with_config`](Pipeline::with_config).
#[must_use = "a pipeline does nothing until it is run"]
pub struct Pipeline {
    pub(crate) graph: &'static Graph,
    pub(crate) source: SourceStage,
    pub(crate) decoder: DecoderStage,
    pub(crate) sinks: Vec<SinkStage>,
    pub(crate) factory: Factory,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline")
            .field("graph", self.graph)
            .finish_non_exhaustive()
    }
}

impl Pipeline {
    /// The stages as constant data.
    pub fn graph(&self) -> &'static Graph {
        self.graph
    }

    /// What the pipeline reads: the record's name and the schema it was compiled from.
    pub fn reader(&self) -> Reader {
        self.decoder.reader
    }

    /// What each sink writes, by the sink's name.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, RowInfo)> {
        self.sinks.iter().map(|sink| (sink.name, sink.row))
    }

    /// The handle of a `memory` source; `None` if the source is another one.
    pub fn memory_source(&self) -> Option<MemorySource> {
        self.source_handle()
    }

    /// The handle of the `capture` sink of that name; `None` if there is none.
    pub fn capture_sink(&self, name: &str) -> Option<CaptureSink> {
        self.sink_handle(name)
    }

    /// What the source keeps beside the pipeline, such as a source of one's own made by
    /// [`SourceKind::attach`]; `None` if it is no `T`.
    pub fn source_handle<T: Any + Clone>(&self) -> Option<T> {
        let attachment = self.source.attachment.as_ref()?;
        attachment.downcast_ref::<T>().cloned()
    }

    /// What the sink of that name keeps beside the pipeline; `None` if there is no such sink or it is no `T`.
    pub fn sink_handle<T: Any + Clone>(&self, name: &str) -> Option<T> {
        let sink = self.sinks.iter().find(|sink| sink.name == name)?;
        sink.attachment.as_ref()?.downcast_ref::<T>().cloned()
    }
}

/// What a pipeline may take as a parameter: every thread gets a clone.
///
/// One trait for all of it, so that a type that lacks two of them is one error, in our words.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a pipeline",
    label = "not `Clone + Send + Sync`",
    note = "every thread of the pipeline gets a clone of it, so it has to be `Clone + Send + Sync + 'static`",
    note = "share with `Arc` in place of `Rc`, and with `Mutex` or an atomic in place of `RefCell` or `Cell`"
)]
pub trait Parameter {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Parameter for T {}

/// Checks a parameter where it is declared, not where the factory that captures it is built.
#[doc(hidden)]
pub fn parameter<T: Parameter>(_: &T) {}

// The attachments of these stages are what the two methods above look for.
const _: fn() -> Option<Attachment> = <Memory as SourceKind>::attach;
const _: fn() -> Option<Attachment> = <Capture as SinkKind>::attach;

/// Builds a [`Pipeline`]; generated code calls it in the order source, decoder, sinks, build.
pub struct PipelineBuilder {
    graph: &'static Graph,
    source: Option<SourceStage>,
    decoder: Option<DecoderStage>,
    sinks: Vec<SinkStage>,
}

impl PipelineBuilder {
    /// A pipeline of these stages.
    #[must_use]
    pub fn new(graph: &'static Graph) -> Self {
        PipelineBuilder {
            graph,
            source: None,
            decoder: None,
            sinks: Vec::new(),
        }
    }

    /// Its source.
    #[must_use]
    pub fn source<S: SourceKind>(mut self, options: StageOptions) -> Self {
        self.source = Some(SourceStage {
            kind: S::KIND,
            options,
            attachment: S::attach(),
            open: S::open,
        });
        self
    }

    /// Its decoder.
    #[must_use]
    pub fn decoder<'b, D, R>(mut self, witness: Decoder<D, R>, options: StageOptions) -> Self
    where
        D: Decode<'b, R>,
    {
        self.decoder = Some(DecoderStage {
            kind: D::KIND,
            configured: <D as DecoderKind>::CONFIGURED,
            reader: witness.reader(),
            options,
            open: D::open,
        });
        self
    }

    /// One more sink, in slot order.
    #[must_use]
    pub fn sink<S, R>(
        mut self,
        name: &'static str,
        witness: SinkWitness<S, R>,
        options: StageOptions,
    ) -> Self
    where
        S: RowEncoder<R>,
    {
        self.sinks.push(SinkStage {
            name,
            kind: S::KIND,
            configured: S::CONFIGURED,
            row: witness.row(),
            options,
            attachment: S::attach(),
            open: S::open,
        });
        self
    }

    /// The pipeline.
    ///
    /// # Panics
    /// If the source or the decoder was not given: generated code always gives them.
    pub fn build<F>(self, factory: F) -> Pipeline
    where
        F: Fn(Thread) -> Result<DriveEnd, StageError> + Send + Sync + 'static,
    {
        Pipeline {
            graph: self.graph,
            source: self.source.expect("the macro gives a source"),
            decoder: self.decoder.expect("the macro gives a decoder"),
            sinks: self.sinks,
            factory: Arc::new(factory),
        }
    }
}
