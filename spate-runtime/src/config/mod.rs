//! Configuration: YAML to typed settings, with a dotted path in every error and no value in any.
//!
//! 1. `yaml.rs` parses a text to the tree of `node.rs`; `env.rs` replaces variables in its scalar values.
//! 2. [`Config`] hands out [`Section`]s, one for each component.
//! 3. [`Section::parse`] reads one into any type that derives `Deserialize` (`de/`), with the types and helpers of
//!    `units.rs` for what has a unit or must not be shown.
//! 4. `engine.rs` holds the engine's own settings, `sink_pool.rs` those of one sink.
//!
//! Any value may be a secret: no error and no `Debug` of this module shows one.

mod de;
mod engine;
mod env;
mod error;
mod file;
mod node;
mod scalar;
mod section;
mod sink_pool;
mod suggest;
mod syntax;
mod units;
mod yaml;

#[cfg(test)]
mod tests;

use crate::error::ConnectorError;

pub use engine::{BackpressureConfig, CheckpointConfig, EngineConfig, PipelineConfig};
pub use error::ConfigError;
pub use file::Config;
pub use section::Section;
pub use sink_pool::{
    BreakerConfig, ChunkConfig, QueueConfig, RetryConfig, SealConfig, SinkPoolConfig,
};
pub use units::{ByteSize, Secret, byte_size, duration};

/// A connector could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its section is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its client refused.
    #[error(transparent)]
    Connector(#[from] ConnectorError),
}
