//! Why a payload is not what its schema says: one class per rule of the encoding, with field and position.

use std::fmt;

/// A payload that cannot be decoded.
///
/// It is one pointer wide, because every step of a decoder returns it; only a failing record allocates.
pub struct AvroError(Box<Inner>);

struct Inner {
    kind: AvroErrorKind,
    /// The dotted path of the field, outermost first; empty outside fields.
    path: String,
    position: usize,
    size: usize,
}

/// The rule that a payload broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AvroErrorKind {
    /// The payload ends inside a value.
    #[error("the payload ends here, {needed} more bytes are needed")]
    Truncated {
        /// How many bytes the value still needs, as far as it is known.
        needed: u64,
    },
    /// Bytes are left behind the record's end: it was written with another schema.
    #[error(
        "{left} bytes are left behind the end of the record: it was written with another schema"
    )]
    Trailing {
        /// How many.
        left: usize,
    },
    /// A number has more than 64 bits.
    #[error("a number does not end within 64 bits")]
    Varint,
    /// A number of an `int` has more than 32 bits.
    #[error("{value} does not fit into an int")]
    IntRange {
        /// The number.
        value: i64,
    },
    /// A length below zero.
    #[error("a length of {length}")]
    NegativeLength {
        /// The length.
        length: i64,
    },
    /// A block of an array or map has more items than the payload has bytes for.
    #[error("a block of {count} items where {left} bytes are left")]
    TooManyItems {
        /// Items of the block.
        count: u64,
        /// Bytes behind its count.
        left: usize,
    },
    /// More items that take no bytes than a payload may have in all.
    #[error(
        "a block of {count} items without bytes: a payload may have {} of them",
        crate::wire::MAX_EMPTY_ITEMS
    )]
    TooManyEmptyItems {
        /// Items of the block.
        count: u64,
    },
    /// A block's size in bytes is not what its items take.
    #[error("a block says that it has {said} bytes")]
    BlockSize {
        /// The size as written.
        said: i64,
    },
    /// Text is not UTF-8.
    #[error("text that is not UTF-8")]
    Utf8,
    /// A boolean is neither 0 nor 1.
    #[error("a boolean of {byte}")]
    Boolean {
        /// The byte.
        byte: u8,
    },
    /// A union's branch number is out of range.
    #[error("branch {branch} of a union of {branches}")]
    Branch {
        /// The number as written.
        branch: i64,
        /// Branches of the union.
        branches: usize,
    },
    /// An enum's symbol number is out of range.
    #[error("symbol {symbol} of an enum of {symbols}")]
    Symbol {
        /// The number as written.
        symbol: i64,
        /// Symbols of the enum.
        symbols: usize,
    },
    /// A number that the field's Rust type does not reach.
    #[error("{value} is outside the range of the field's Rust type")]
    OutOfRange {
        /// The number as written.
        value: i64,
    },
    /// A decimal has more digits than the schema says.
    #[error("a decimal of more than {precision} digits, the precision of the schema")]
    DecimalPrecision {
        /// The schema's precision.
        precision: u32,
    },
    /// A decimal is larger than 128 bits.
    #[error("a decimal of {bytes} bytes that does not fit into 128 bits")]
    DecimalWidth {
        /// Its bytes.
        bytes: usize,
    },
    /// The bytes of a `big-decimal` are not a number and a scale.
    #[error("bytes that are no big-decimal")]
    BigDecimal,
    /// The text of a `uuid` is none.
    #[error("text that is no UUID")]
    Uuid,
    /// A value of the wire type that the field's Rust type does not take.
    #[error("{why}")]
    Refused {
        /// Why, as the type's [`FromWire`](crate::FromWire) says it.
        why: &'static str,
    },
    /// A symbol of the writer's enum that the reader's has not, and no default stands for.
    #[error(
        "symbol {symbol} of the writer's enum is none of the compiled one, which has no default"
    )]
    UnknownSymbol {
        /// The writer's number of it.
        symbol: usize,
    },
    /// A branch of the writer's union that the reader has nothing for.
    #[error("branch {branch} of the writer's union cannot be read as the compiled type")]
    UnreadableBranch {
        /// The writer's number of it.
        branch: usize,
    },
    /// What a record of another schema becomes with defaults and promotions is out of proportion.
    #[error("by the compiled schema the record has more than {most} bytes")]
    TooLarge {
        /// The bound.
        most: usize,
    },
    /// More values without bytes than a record may have: only values without a compiled schema are counted.
    #[error("a record of more than {most} values so far, most of them without bytes")]
    TooManyValues {
        /// The bound at this byte.
        most: usize,
    },
    /// Values are inside each other too deeply: only those of schemas that are not compiled are counted.
    #[error("values are nested more than {most} deep")]
    TooNested {
        /// The bound.
        most: usize,
    },
    /// A recursive record is nested too deeply.
    #[error("records are nested more than {} deep", crate::wire::MAX_DEPTH)]
    TooDeep,
}

// Steps of a decoder return it: one word more is three of a hundred instructions, measured.
const _: () = assert!(size_of::<AvroErrorKind>() <= 24);

impl AvroError {
    /// An error at a position of a payload of `size` bytes.
    #[cold]
    pub(crate) fn new(kind: AvroErrorKind, position: usize, size: usize) -> Self {
        AvroError(Box::new(Inner {
            kind,
            path: String::new(),
            position,
            size,
        }))
    }

    /// Inside a field: called outwards, so that the path reads inwards.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(mut self, field: &str) -> Self {
        let path = &mut self.0.path;
        if path.is_empty() {
            path.push_str(field);
        } else {
            path.insert(0, '.');
            path.insert_str(0, field);
        }
        self
    }

    /// The rule that was broken.
    #[must_use]
    pub fn kind(&self) -> AvroErrorKind {
        self.0.kind
    }

    /// The dotted path of the field: `lines.sku`. Empty if the error is in no field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.0.path
    }

    /// The byte of the payload at which the value was expected to go on, framing included.
    #[must_use]
    pub fn position(&self) -> usize {
        self.0.position
    }
}

impl fmt::Display for AvroError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            path,
            position,
            size,
        } = &*self.0;
        match path.as_str() {
            "" => write!(f, "byte {position} of {size}: {kind}"),
            path => write!(f, "field `{path}`, byte {position} of {size}: {kind}"),
        }
    }
}

impl fmt::Debug for AvroError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for AvroError {}
