//! Values as text for logs: like JSON, with what JSON has no form for written plainly.

use std::fmt::{self, Display, Formatter, Write as _};

use super::Value;

/// Like JSON: records and maps as objects, unions as what is in them, enums, UUIDs and text in quotes, bytes as `0x..`, decimals with
/// their point; dates, times and timestamps as their numbers, a duration as `{months, days, millis}`.
impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Long(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::Bytes(bytes) | Value::Fixed(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Value::String(text) => quoted(text, f),
            Value::Enum(symbol) => quoted(symbol.symbol(), f),
            Value::Array(items) => {
                f.write_char('[')?;
                for (n, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", separator(n))?;
                }
                f.write_char(']')
            }
            Value::Map(entries) => {
                object(entries.iter().map(|(key, value)| (key.as_str(), value)), f)
            }
            Value::Record(record) => object(record.fields(), f),
            Value::Union(union) => Display::fmt(union.value(), f),
            Value::Decimal(value) | Value::BigDecimal(value) => write!(f, "{value}"),
            Value::Uuid(uuid) => write!(f, "\"{uuid}\""),
            Value::Date(value) => write!(f, "{}", value.0),
            Value::TimeMillis(value) => write!(f, "{}", value.0),
            Value::TimeMicros(value) => write!(f, "{}", value.0),
            Value::TimestampMillis(value) => write!(f, "{}", value.0),
            Value::TimestampMicros(value) => write!(f, "{}", value.0),
            Value::TimestampNanos(value) => write!(f, "{}", value.0),
            Value::LocalTimestampMillis(value) => write!(f, "{}", value.0),
            Value::LocalTimestampMicros(value) => write!(f, "{}", value.0),
            Value::LocalTimestampNanos(value) => write!(f, "{}", value.0),
            Value::Duration(value) => write!(
                f,
                "{{\"months\": {}, \"days\": {}, \"millis\": {}}}",
                value.months, value.days, value.millis
            ),
        }
    }
}

fn separator(n: usize) -> &'static str {
    if n == 0 { "" } else { ", " }
}

fn object<'v>(
    entries: impl Iterator<Item = (&'v str, &'v Value)>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    f.write_char('{')?;
    for (n, (name, value)) in entries.enumerate() {
        f.write_str(separator(n))?;
        quoted(name, f)?;
        write!(f, ": {value}")?;
    }
    f.write_char('}')
}

/// As in JSON.
fn quoted(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for ch in text.chars() {
        match ch {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            ch if ch.is_control() && u32::from(ch) < 0x10000 => {
                write!(f, "\\u{:04x}", u32::from(ch))?;
            }
            ch => f.write_char(ch)?,
        }
    }
    f.write_char('"')
}
