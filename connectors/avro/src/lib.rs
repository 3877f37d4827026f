//! Compiled Avro decoding for Spate.
//!
//! `#[derive(AvroRecord)]` emits straight-line calls of [`wire`]'s methods; [`Avro`] is the decoder stage around them:
//! framing, and the look-up of writer schemas by id.

mod canonical;
mod config;
#[cfg(feature = "container")]
pub mod container;
mod error;
mod framing;
mod from_avro;
mod gate;
mod kind;
mod limits;
#[doc(hidden)]
pub mod pushdown;
mod record;
mod registry;
mod schemas;
mod seq;
mod steps;
mod timestamp;
#[doc(hidden)]
pub mod wanted;
pub mod wire;

pub use canonical::{SchemaError, canonical_form, fingerprint};
pub use error::{AvroError, AvroErrorKind};
pub use framing::{Framing, FramingError, confluent, single_object};
pub use from_avro::FromAvro;
pub use kind::{Avro, AvroThread};
pub use record::{AvroRecord, decode_body};
pub use seq::{Item, ItemOf, Iter, Seq};
#[doc(hidden)]
pub use steps::field;
pub use timestamp::TimestampMillis;
pub use wire::Reader;
