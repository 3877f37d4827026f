//! A pipeline with its configuration: everything that can be checked without a server is checked here.

use std::sync::{Arc, OnceLock};

use super::{IoThread, OpenSink, Runtime, RuntimeOptions, ShutdownHandle};
use crate::config::{Config, ConfigError, EngineConfig, OpenError, Section, SinkPoolConfig};
use crate::engine::Sizing;
use crate::pipeline::Pipeline;
use crate::source::{Attachment, OpenContext};
use crate::time::MonotonicClock;

/// A pipeline could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A connector could not be opened.
    #[error("{stage}: {error}")]
    Open {
        /// The stage's name.
        stage: String,
        /// Why.
        error: OpenError,
    },
    /// A thread could not be started.
    #[error("the engine's threads could not be started: {0}")]
    Io(#[from] std::io::Error),
}

/// A pipeline whose configuration has been read and checked as far as the engine's own settings go.
#[must_use = "a configured pipeline does nothing until it is run"]
pub struct ConfiguredPipeline {
    pipeline: Pipeline,
    engine: EngineConfig,
    backpressure: Section,
    source: Section,
    decoder: Section,
    sinks: Vec<(Section, SinkPoolConfig)>,
}

impl std::fmt::Debug for ConfiguredPipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredPipeline")
            .field("pipeline", &self.pipeline)
            .finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Gives the pipeline its configuration: unknown, superfluous and mistyped settings are refused.
    ///
    /// # Errors
    /// What is wrong, with its dotted path and its place in the file.
    pub fn with_config(self, config: Config) -> Result<ConfiguredPipeline, ConfigError> {
        let mut known = vec!["source", "sink", "sinks"];
        if self.decoder.configured {
            known.push("deserializer");
        }
        config.check_sections(&known)?;
        let names: Vec<&str> = self.sinks.iter().map(|sink| sink.name).collect();
        config.check_sinks(&names)?;
        let engine = EngineConfig::from(&config)?;
        let mut source = config.section("source");
        self.source.options.apply(&mut source);
        let mut decoder = config.section("deserializer");
        self.decoder.options.apply(&mut decoder);
        let mut sinks = Vec::new();
        for stage in &self.sinks {
            let mut section = config.sink_section(stage.name, names.len() == 1)?;
            stage.options.apply(&mut section);
            let pool = SinkPoolConfig::take_from(&mut section)?;
            engine
                .checkpoint
                .check_sink(&config, section.path(), &pool)?;
            if !stage.configured && !section.is_empty() {
                let text = format!(
                    "the `{}` sink has no settings but batch, chunk, queue, retry and breaker; remove the others",
                    stage.kind
                );
                return Err(section.error("", text));
            }
            sinks.push((section, pool));
        }
        Ok(ConfiguredPipeline {
            pipeline: self,
            engine,
            backpressure: config.section("backpressure"),
            source,
            decoder,
            sinks,
        })
    }
}

impl ConfiguredPipeline {
    /// Checks everything that needs no server, as `--check` does: the sections of source, decoder and sinks.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(self) -> Result<(), StartError> {
        self.open(None, RuntimeOptions::embedded()).map(drop)
    }

    /// Opens source, decoder and sinks, without a connection yet.
    ///
    /// # Errors
    /// What is wrong with a section, or what a client refused.
    pub fn into_runtime(self, options: RuntimeOptions) -> Result<Runtime, StartError> {
        let io = IoThread::start()?;
        let handle = io.handle.clone();
        let opened = self.open(Some(handle), options)?;
        Ok(opened.into_runtime(io))
    }

    fn open(
        self,
        tokio: Option<tokio::runtime::Handle>,
        options: RuntimeOptions,
    ) -> Result<Opened, StartError> {
        let ConfiguredPipeline {
            pipeline,
            engine,
            backpressure,
            source,
            decoder,
            sinks,
        } = self;
        let name = engine
            .pipeline
            .name
            .clone()
            .unwrap_or_else(|| pipeline.graph.name.to_owned());
        let threads = engine.pipeline.driver_threads();
        let context = |attachment: Option<Attachment>| OpenContext {
            pipeline: name.clone(),
            threads,
            tokio: tokio.clone(),
            attachment,
        };
        let at = |stage: &str| {
            let stage = stage.to_owned();
            move |error: OpenError| match error {
                OpenError::Config(error) => StartError::Config(error),
                error => StartError::Open { stage, error },
            }
        };
        let stage = &pipeline.source;
        let source =
            (stage.open)(&source, &context(stage.attachment.clone())).map_err(at(stage.kind))?;
        let stage = &pipeline.decoder;
        let decoder =
            (stage.open)(&decoder, stage.reader, &context(None)).map_err(at(stage.kind))?;
        let mut open_sinks = Vec::new();
        for (stage, (section, pool)) in pipeline.sinks.iter().zip(sinks) {
            let context = context(stage.attachment.clone());
            let sink = (stage.open)(&section, stage.row, &context).map_err(at(stage.name))?;
            assert!(sink.shards() > 0, "a sink has at least one shard");
            let timeout = pool.retry.attempt_timeout();
            if let Some(slowest) = sink.slowest_attempt().filter(|&slowest| slowest > timeout) {
                let text = format!(
                    "an attempt ends after {timeout:?}, but the sink's own timeouts allow it {slowest:?}: raise this one, or \
                     lower those"
                );
                return Err(StartError::Config(
                    section.error("retry.attempt_timeout", text),
                ));
            }
            open_sinks.push(OpenSink {
                name: stage.name,
                sink: Arc::from(sink),
                pool,
            });
        }
        let max_in_flight = budget(&engine, &backpressure, threads, &open_sinks)?;
        Ok(Opened {
            pipeline,
            engine,
            options,
            source,
            decoder,
            sinks: open_sinks,
            name,
            threads,
            max_in_flight,
        })
    }
}

/// The budget as set, if a pipeline of these sinks can work with it, else the one that follows from them.
fn budget(
    engine: &EngineConfig,
    section: &Section,
    threads: usize,
    sinks: &[OpenSink],
) -> Result<usize, ConfigError> {
    let sizing = Sizing::new(threads, &engine.backpressure);
    let sizing = sinks.iter().fold(sizing, |sizing, open| {
        sizing.with_sink(open.name, open.sink.shards(), &open.pool)
    });
    match engine.backpressure.max_in_flight_bytes {
        None => Ok(sizing.default_limit()),
        Some(limit) if sizing.works(limit.as_usize()) => Ok(limit.as_usize()),
        Some(limit) => Err(section.error("max_in_flight_bytes", sizing.refusal(limit.as_usize()))),
    }
}

struct Opened {
    pipeline: Pipeline,
    engine: EngineConfig,
    options: RuntimeOptions,
    source: Box<dyn crate::source::Source>,
    decoder: Arc<dyn crate::decode::SharedDecoder>,
    sinks: Vec<OpenSink>,
    name: String,
    threads: usize,
    max_in_flight: usize,
}

impl Opened {
    fn into_runtime(self, io: IoThread) -> Runtime {
        Runtime {
            name: self.name,
            graph: self.pipeline.graph,
            config: self.engine,
            options: self.options,
            factory: self.pipeline.factory,
            source: Some(self.source),
            decoder: self.decoder,
            sinks: self.sinks,
            io,
            shutdown: ShutdownHandle {
                requested: Arc::default(),
                thread: Arc::new(OnceLock::new()),
            },
            threads: self.threads,
            clock: Arc::new(MonotonicClock::default()),
            max_in_flight: self.max_in_flight,
        }
    }
}
