//! Compiled Avro decoding for Spate.
//!
//! `#[derive(AvroRecord)]` emits straight-line calls of [`wire`]'s methods; [`Avro`] is the decoder stage around them:
//! framing, and the look-up of writer schemas by id.

mod config;
#[cfg(feature = "container")]
pub mod container;
mod enums;
mod error;
mod framing;
mod from_avro;
mod from_wire;
mod gate;
mod kind;
mod limits;
mod logical;
#[doc(hidden)]
pub mod pushdown;
mod record;
mod registry;
mod resolve;
mod schemas;
mod seams;
mod seq;
mod steps;
mod unions;
#[cfg(feature = "value")]
pub mod value;
#[doc(hidden)]
pub mod wanted;
pub mod wire;

pub use enums::AvroEnum;
pub use error::{AvroError, AvroErrorKind};
pub use framing::{Framing, FramingError, confluent, single_object};
pub use from_avro::FromAvro;
pub use from_wire::FromWire;
pub use kind::{Avro, AvroThread};
pub use logical::{
    BigDecimal, Date, Decimal, Duration, LocalTimestampMicros, LocalTimestampMillis,
    LocalTimestampNanos, TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos,
    Uuid,
};
pub use record::{AvroRecord, decode_body};
pub use resolve::Resolution;
#[doc(hidden)]
pub use seams::{Seamless, Seams};
#[doc(hidden)]
pub use seq::Form;
pub use seq::{Item, ItemOf, Iter, PlainItem, Seq};
pub use spate_avro_schema::{SchemaError, canonical_form, fingerprint};
#[doc(hidden)]
pub use steps::field;
pub use unions::{AvroNullableUnion, AvroUnion};
pub use wire::Reader;
