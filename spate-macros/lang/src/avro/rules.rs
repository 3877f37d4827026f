//! The specification's small rules: names, primitive types, and which logical types are valid where.

use jsonc_parser::ast::Object;

use super::model::{Kind, Logical};

/// The names of the primitive types.
pub(super) const PRIMITIVES: [&str; 8] = [
    "null", "boolean", "int", "long", "float", "double", "bytes", "string",
];

pub(super) fn primitive(name: &str) -> Option<Kind> {
    Some(match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "int" => Kind::Int,
        "long" => Kind::Long,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "bytes" => Kind::Bytes,
        "string" => Kind::String,
        _ => return None,
    })
}

/// The logical type of a primitive or of a fixed of `size` bytes, or the text of one that is not valid there.
pub(super) fn logical(
    object: &Object<'_>,
    kind: &Kind,
    size: Option<usize>,
) -> (Option<Logical>, Option<String>) {
    let Some(name) = object.get_string("logicalType") else {
        return (None, None);
    };
    let number = |key| {
        object
            .get_number(key)
            .and_then(|number| number.value.parse::<u32>().ok())
    };
    let logical = match (&*name.value, kind, size) {
        ("decimal", Kind::Bytes, size) => match (number("precision"), number("scale").unwrap_or(0))
        {
            (Some(precision), scale)
                if precision > 0 && scale <= precision && fits(precision, size) =>
            {
                Some(Logical::Decimal { precision, scale })
            }
            _ => None,
        },
        ("big-decimal", Kind::Bytes, None) => Some(Logical::BigDecimal),
        ("uuid", Kind::String, None) | ("uuid", Kind::Bytes, Some(16)) => Some(Logical::Uuid),
        ("duration", Kind::Bytes, Some(12)) => Some(Logical::Duration),
        ("date", Kind::Int, _) => Some(Logical::Date),
        ("time-millis", Kind::Int, _) => Some(Logical::TimeMillis),
        ("time-micros", Kind::Long, _) => Some(Logical::TimeMicros),
        ("timestamp-millis", Kind::Long, _) => Some(Logical::TimestampMillis),
        ("timestamp-micros", Kind::Long, _) => Some(Logical::TimestampMicros),
        ("timestamp-nanos", Kind::Long, _) => Some(Logical::TimestampNanos),
        ("local-timestamp-millis", Kind::Long, _) => Some(Logical::LocalTimestampMillis),
        ("local-timestamp-micros", Kind::Long, _) => Some(Logical::LocalTimestampMicros),
        ("local-timestamp-nanos", Kind::Long, _) => Some(Logical::LocalTimestampNanos),
        _ => None,
    };
    let ignored = logical.is_none().then(|| name.value.to_string());
    (logical, ignored)
}

/// Whether so many decimal digits fit into a two's complement number of `size` bytes; without a size they do.
fn fits(precision: u32, size: Option<usize>) -> bool {
    size.is_none_or(|size| {
        f64::from(precision) <= (((8 * size).saturating_sub(1)) as f64 * 2f64.log10()).floor()
    })
}

pub(super) fn full(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

/// What a name may refer to inside a namespace: first this, then that.
pub(super) fn referred<'t>(text: &'t str, namespace: &str) -> (String, &'t str) {
    match text.rsplit_once('.') {
        Some(("", plain)) => (plain.to_owned(), plain),
        Some(_) => (text.to_owned(), text),
        None => (full(namespace, text), text),
    }
}

pub(super) fn short(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, short)| short)
}

pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(super) fn is_dotted_name(name: &str) -> bool {
    name.split('.').all(is_name)
}

pub(super) fn bad_name(name: &str) -> String {
    format!("`{name}` is not a name: letters, digits and `_`, not beginning with a digit")
}
