//! Avro's binary encoding: the reader, and one marker type per wire type.
//!
//! Hot path. A decoder is straight-line code over [`Reader`]'s methods, which are all inlined; failures leave through
//! cold functions that take their state by value, so that the reader itself stays in registers. Nothing allocates but
//! what the record keeps (`String`, `Vec`), and never more than the bytes at hand justify.

mod markers;
mod reader;
mod text;

pub use markers::{
    Array, Boolean, Bytes, Double, Enum, Fixed, Float, Int, Long, Map, Null, NullFirst, NullLast,
    Record, Single, Skip, Str, TimestampMillis,
};
pub use reader::{Block, Reader};

/// How deep records may contain themselves.
pub const MAX_DEPTH: u32 = 128;

/// How many items without any byte an array may have in all: they cost time though they cost no payload.
pub const MAX_EMPTY_ITEMS: usize = 65_536;
