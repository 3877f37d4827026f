//! Values without a compiled schema, for pipelines that cannot know their records when they are built. The slow path.
//!
//! A [`Value`] is a tree that owns what is in it. [`ValueReader`] makes it by a writer's schema, whatever that is; `avro::<avro::Value>` is the stage.
//!
//! ```
//! use spate_avro::value::ValueReader;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = r#"{"type": "record", "name": "Order", "fields": [
//!     {"name": "order_id", "type": "long"},
//!     {"name": "note", "type": ["null", "string"]},
//!     {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
//!         {"name": "sku", "type": "string"}, {"name": "qty", "type": "int"}]}}}]}"#;
//! let reader = ValueReader::new(schema)?;
//! let order = reader.read(&[14, 2, 4, b'h', b'i', 2, 2, b'a', 6, 0])?;
//!
//! assert_eq!(order.field("order_id")?.as_i64(), Some(7));
//! assert_eq!(order.get("note").and_then(|note| note.as_str()), Some("hi"));
//! assert_eq!(order.get("coupon"), None);
//! let quantity = order.field("lines")?.items().filter_map(|line| line.get("qty")?.as_i64()).sum::<i64>();
//! assert_eq!(quantity, 3);
//! assert_eq!(order.to_string(), r#"{"order_id": 7, "note": "hi", "lines": [{"sku": "a", "qty": 3}]}"#);
//! # Ok(())
//! # }
//! ```

mod access;
mod check;
mod decode;
mod layout;
mod library;
mod parts;
mod reader;
mod show;

use std::collections::BTreeMap;

pub(crate) use decode::{Values, open};
pub use parts::{NoField, Record, Symbol, Union};
pub use reader::{ReadError, ValueReader};

use crate::logical::{
    BigDecimal, Date, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, Uuid,
};

/// An Avro value with what its writer's schema says about it.
///
/// One variant for each type of the specification, logical types apart. Accessors look through unions, so that an optional field is
/// read like one that is always there: [`get`](Value::get), [`field`](Value::field), [`at`](Value::at), the `as_..` functions and the iterators.
/// A `match` sees the union; [`inner`](Value::inner) is what is in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `null`.
    Null,
    /// `boolean`.
    Boolean(bool),
    /// `int`.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `bytes`.
    Bytes(Vec<u8>),
    /// `string`.
    String(String),
    /// `fixed`.
    Fixed(Vec<u8>),
    /// `enum`.
    Enum(Symbol),
    /// `array`.
    Array(Vec<Value>),
    /// `map`, by its keys; of a key that comes twice the last value.
    Map(BTreeMap<String, Value>),
    /// A union: its branch and what is in it.
    Union(Union),
    /// `record`.
    Record(Record),
    /// `decimal`: the number and the scale of the schema.
    Decimal(BigDecimal),
    /// `big-decimal`: the number and its own scale.
    BigDecimal(BigDecimal),
    /// `uuid`, of a string or of a fixed.
    Uuid(Uuid),
    /// `date`.
    Date(Date),
    /// `time-millis`.
    TimeMillis(TimeMillis),
    /// `time-micros`.
    TimeMicros(TimeMicros),
    /// `timestamp-millis`.
    TimestampMillis(TimestampMillis),
    /// `timestamp-micros`.
    TimestampMicros(TimestampMicros),
    /// `timestamp-nanos`.
    TimestampNanos(TimestampNanos),
    /// `local-timestamp-millis`.
    LocalTimestampMillis(LocalTimestampMillis),
    /// `local-timestamp-micros`.
    LocalTimestampMicros(LocalTimestampMicros),
    /// `local-timestamp-nanos`.
    LocalTimestampNanos(LocalTimestampNanos),
    /// `duration`.
    Duration(Duration),
}
