//! Decoding in two steps around a filter: the fields that it looks at, and the rest for records that pass. Hot path.
//!
//! Called by generated code only, where the first filter behind the decoder is seen to touch nothing but fields. What is behind the last
//! of these fields is not looked at when the record is dropped, so damage there goes unnoticed; that is the one
//! difference to decoding everything first.

use spate_runtime::decode::Decoder;
use spate_runtime::error::DecodeError;
use spate_runtime::record::Record;
use spate_runtime::scratch::Scratch;

use crate::kind::{Avro, AvroThread};
use crate::record::AvroRecord;
use crate::wire::Reader;

/// How many of the schema's first fields have to be read to know these fields of the struct: all of them if it does not have one of
/// these, which rustc reports where the field is used.
#[must_use]
pub const fn fields_upto<'b, R: AvroRecord<'b>>(fields: &[&str]) -> usize {
    let mut upto = 0;
    let mut at = 0;
    while at < fields.len() {
        let position = position(R::POSITIONS, fields[at]);
        if position == usize::MAX {
            return usize::MAX;
        }
        if position + 1 > upto {
            upto = position + 1;
        }
        at += 1;
    }
    upto
}

const fn position(positions: &[(&str, usize)], field: &str) -> usize {
    let mut at = 0;
    while at < positions.len() {
        if same(positions[at].0.as_bytes(), field.as_bytes()) {
            return positions[at].1;
        }
        at += 1;
    }
    usize::MAX
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The larger of the two.
#[must_use]
pub const fn at_least(n: usize, solid: usize) -> usize {
    if n > solid { n } else { solid }
}

/// What is left to read of a record; nothing of one of another schema, which is read at once.
#[derive(Debug)]
pub struct Left<'b>(Option<Reader<'b>>);

/// Decodes the first `N` fields.
///
/// # Errors
/// The payload is not what the schema says, as far as it was read.
#[inline(always)]
pub fn decode_upto<'b, R: AvroRecord<'b>, const N: usize>(
    _: Decoder<Avro, R>,
    thread: &mut AvroThread,
    record: &Record<'b>,
    scratch: &'b Scratch,
) -> Result<(R, Left<'b>), DecodeError> {
    let size = record.payload().len();
    match thread.body(record)? {
        (body, None) => {
            let mut reader = Reader::new(body, size);
            let partial = R::decode_upto::<N>(&mut reader).map_err(DecodeError::new)?;
            Ok((partial, Left(Some(reader))))
        }
        (body, Some(plan)) => Ok((thread.resolve(plan, body, size, scratch)?, Left(None))),
    }
}

/// Decodes what is left behind the first `N` fields.
///
/// # Errors
/// The rest of the payload is not what the schema says.
#[inline(always)]
pub fn decode_rest<'b, R: AvroRecord<'b>, const N: usize>(
    _: Decoder<Avro, R>,
    partial: R,
    left: Left<'b>,
) -> Result<R, DecodeError> {
    let Left(Some(mut reader)) = left else {
        return Ok(partial);
    };
    let record = partial
        .decode_rest::<N>(&mut reader)
        .map_err(DecodeError::new)?;
    reader.finish().map_err(DecodeError::new)?;
    Ok(record)
}
