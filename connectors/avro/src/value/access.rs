//! How values are taken apart.

use super::{NoField, Record, Symbol, Union, Value};
use crate::logical::{
    BigDecimal, Date, Duration, LocalTimestampMicros, LocalTimestampMillis, LocalTimestampNanos,
    TimeMicros, TimeMillis, TimestampMicros, TimestampMillis, TimestampNanos, Uuid,
};

macro_rules! logical {
    ($($name:ident => $variant:ident($ty:ident), $text:literal;)*) => {$(
        #[doc = concat!("The value of a `", $text, "`; `None` for everything else, numbers of other units among it.")]
        #[must_use]
        pub fn $name(&self) -> Option<$ty> {
            match self.inner() {
                Value::$variant(value) => Some(*value),
                _ => None,
            }
        }
    )*};
}

impl Value {
    /// The value itself, or what is in the union.
    #[must_use]
    pub fn inner(&self) -> &Value {
        match self {
            Value::Union(union) => union.value().inner(),
            value => value,
        }
    }

    /// The union, if it is one: its branch's number and name.
    #[must_use]
    pub fn as_union(&self) -> Option<&Union> {
        match self {
            Value::Union(union) => Some(union),
            _ => None,
        }
    }

    /// The field of that name, or the map's value under that key; `None` also for null and for what is neither record nor map.
    ///
    /// [`field`](Value::field) is for fields that have to be there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self.inner() {
            Value::Record(record) => record.get(name),
            Value::Map(entries) => entries.get(name),
            _ => None,
        }
    }

    /// The record's field of that name, which may be null.
    ///
    /// # Errors
    /// The record has no such field, or the value is no record.
    pub fn field(&self, name: &str) -> Result<&Value, NoField> {
        match self.inner() {
            Value::Record(record) => record.get(name).ok_or_else(|| record.missing(name)),
            other => Err(NoField::NoRecord {
                field: name.to_owned(),
                found: other.kind(),
            }),
        }
    }

    /// The array's item of that number, from 0.
    #[must_use]
    pub fn at(&self, n: usize) -> Option<&Value> {
        self.as_array()?.get(n)
    }

    /// The items of an array; none for everything else, null among it.
    pub fn items(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.as_array().unwrap_or_default().iter()
    }

    /// The keys and values of a map, by the keys; none for everything else, null among it.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        let entries = match self.inner() {
            Value::Map(entries) => Some(entries),
            _ => None,
        };
        let entries = entries.into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value))
    }

    /// The names and values of a record's fields, in the order of the writer's schema; none for everything else, null among it.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.as_record().into_iter().flat_map(Record::fields)
    }

    /// Whether it is null, or a union with null in it.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.inner(), Value::Null)
    }

    /// A `boolean`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.inner() {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// An `int` or a `long`. Dates, times and timestamps are numbers of a unit, so each has an accessor of its own.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.inner() {
            Value::Int(value) => Some(i64::from(*value)),
            Value::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// A `float` or a `double`, or as near as there is an `int` or a `long`, which Avro's schema resolution takes for them.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.inner() {
            Value::Float(value) => Some(f64::from(*value)),
            Value::Double(value) => Some(*value),
            Value::Int(value) => Some(f64::from(*value)),
            Value::Long(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// A `string`, or the symbol of an `enum`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self.inner() {
            Value::String(text) => Some(text),
            Value::Enum(symbol) => Some(symbol.symbol()),
            _ => None,
        }
    }

    /// `bytes` or a `fixed`.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.inner() {
            Value::Bytes(bytes) | Value::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// An `array`.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self.inner() {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// A `record`.
    #[must_use]
    pub fn as_record(&self) -> Option<&Record> {
        match self.inner() {
            Value::Record(record) => Some(record),
            _ => None,
        }
    }

    /// An `enum`.
    #[must_use]
    pub fn as_enum(&self) -> Option<&Symbol> {
        match self.inner() {
            Value::Enum(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// A `decimal` or a `big-decimal`: all digits as one number, and how many of them stand behind the point.
    #[must_use]
    pub fn as_decimal(&self) -> Option<BigDecimal> {
        match self.inner() {
            Value::Decimal(value) | Value::BigDecimal(value) => Some(*value),
            _ => None,
        }
    }

    logical! {
        as_uuid => Uuid(Uuid), "uuid";
        as_date => Date(Date), "date";
        as_time_millis => TimeMillis(TimeMillis), "time-millis";
        as_time_micros => TimeMicros(TimeMicros), "time-micros";
        as_timestamp_millis => TimestampMillis(TimestampMillis), "timestamp-millis";
        as_timestamp_micros => TimestampMicros(TimestampMicros), "timestamp-micros";
        as_timestamp_nanos => TimestampNanos(TimestampNanos), "timestamp-nanos";
        as_local_timestamp_millis => LocalTimestampMillis(LocalTimestampMillis), "local-timestamp-millis";
        as_local_timestamp_micros => LocalTimestampMicros(LocalTimestampMicros), "local-timestamp-micros";
        as_local_timestamp_nanos => LocalTimestampNanos(LocalTimestampNanos), "local-timestamp-nanos";
        as_duration => Duration(Duration), "duration";
    }

    /// The type as the specification calls it: `long`, `timestamp-millis`, `record`; of a union the type of what is in it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.inner() {
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Int(_) => "int",
            Value::Long(_) => "long",
            Value::Float(_) => "float",
            Value::Double(_) => "double",
            Value::Bytes(_) => "bytes",
            Value::String(_) => "string",
            Value::Fixed(_) => "fixed",
            Value::Enum(_) => "enum",
            Value::Array(_) => "array",
            Value::Map(_) => "map",
            Value::Union(_) => "union",
            Value::Record(_) => "record",
            Value::Decimal(_) => "decimal",
            Value::BigDecimal(_) => "big-decimal",
            Value::Uuid(_) => "uuid",
            Value::Date(_) => "date",
            Value::TimeMillis(_) => "time-millis",
            Value::TimeMicros(_) => "time-micros",
            Value::TimestampMillis(_) => "timestamp-millis",
            Value::TimestampMicros(_) => "timestamp-micros",
            Value::TimestampNanos(_) => "timestamp-nanos",
            Value::LocalTimestampMillis(_) => "local-timestamp-millis",
            Value::LocalTimestampMicros(_) => "local-timestamp-micros",
            Value::LocalTimestampNanos(_) => "local-timestamp-nanos",
            Value::Duration(_) => "duration",
        }
    }
}
