//! Avro's binary encoding: the reader, and one marker type per wire type.
//!
//! Hot path. A decoder is straight-line code over [`Reader`]'s methods, which are all inlined; failures leave through
//! cold functions that take their state by value, so that the reader itself stays in registers. Nothing allocates but
//! what the record keeps (`String`, `Vec`), and never more than the bytes at hand justify.

mod markers;
mod reader;
mod scalars;
mod text;

pub use markers::{Array, Entry, Map, NullFirst, NullLast, Record, Single, Skip, Union};
pub use reader::{Block, Reader};
pub use scalars::{
    BigDecimal, Boolean, Bytes, Date, Decimal, DecimalFixed, Double, Duration, Enum, Fixed, Float,
    Int, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos, Long, Null, Scalar, Str,
    SymbolOf, Symbols, TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos,
    Uuid, UuidFixed,
};

/// How deep records may contain themselves.
pub const MAX_DEPTH: u32 = 128;

/// How many values of another writer's schema may be inside each other: as many records as may contain themselves with two values
/// between them, and the stack of a thread holds them.
pub(crate) const MAX_NESTED: u16 = 3 * MAX_DEPTH as u16;

/// How many items without any byte the arrays of a payload may have in all: they cost time though they cost no payload.
pub const MAX_EMPTY_ITEMS: u32 = 65_536;
