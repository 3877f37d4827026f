//! Compiled Avro decoding for Spate.

mod error;
mod from_avro;
mod record;
mod seq;
mod steps;
mod timestamp;
pub mod wire;

pub use error::{AvroError, AvroErrorKind};
pub use from_avro::FromAvro;
pub use record::{AvroRecord, decode_body};
pub use seq::{Item, ItemOf, Iter, Seq};
#[doc(hidden)]
pub use steps::{check, read, record_of, skip};
pub use timestamp::TimestampMillis;
pub use wire::Reader;
