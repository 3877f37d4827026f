//! What stands before a record in a payload: nothing, or Confluent's magic byte and schema id.

use serde::Deserialize;
use spate_runtime::record::Record;

/// How payloads begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// A zero byte, the writer schema's id in four bytes (big endian), the record.
    #[default]
    Confluent,
    /// The record alone, written with the compiled schema.
    Raw,
    /// Avro's single-object encoding: the bytes c3 01, the fingerprint of the writer's schema in eight bytes (little endian), the record.
    SingleObject,
}

/// A payload that does not begin as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// Too short for magic byte and id.
    #[error(
        "the payload has {size} bytes, too few for the 5 bytes of Confluent's framing; if records stand alone, set `deserializer.framing: raw`"
    )]
    Short {
        /// The payload's size.
        size: usize,
    },
    /// The registry's newer framing by GUID.
    #[error(
        "magic byte 0x01: framing by schema GUID is not available yet; let the producer use schema ids"
    )]
    Guid,
    /// Avro's single-object encoding.
    #[error(
        "the payload begins with c3 01, Avro's single-object encoding: set `deserializer.framing: single_object`"
    )]
    SingleObject,
    /// Something else where the single-object encoding is expected.
    #[error(
        "the payload of {size} bytes is not in Avro's single-object encoding, which begins with c3 01 and 8 bytes of fingerprint"
    )]
    NoSingleObject {
        /// The payload's size.
        size: usize,
    },
    /// Another writer's schema.
    #[error(
        "the payload was written with the schema of fingerprint {found:016x}; the compiled one is {compiled:016x}"
    )]
    Fingerprint {
        /// The payload's.
        found: u64,
        /// That of the compiled schema's canonical form.
        compiled: u64,
    },
    /// Text.
    #[error(
        "the payload of {size} bytes begins like text ({first:?}), not like Confluent-framed Avro"
    )]
    Text {
        /// The payload's size.
        size: usize,
        /// Its first character.
        first: char,
    },
    /// Anything else.
    #[error(
        "magic byte 0x{byte:02x} in place of 0x00 in a payload of {size} bytes: no Confluent framing; if the producer puts the schema id into headers, let it prefix payloads, and if records stand alone, set `deserializer.framing: raw`"
    )]
    Magic {
        /// The payload's size.
        size: usize,
        /// Its first byte.
        byte: u8,
    },
    /// The producer puts the schema's id into a header: what the payload begins with is the record.
    #[error(
        "the schema id is in the header `__value_schema_id`, which is not read yet: let the producer prefix payloads with it"
    )]
    Header,
    /// An id that no registry gives.
    #[error(
        "schema id {id} is none that a registry gives: the payload is not Confluent-framed Avro"
    )]
    Id {
        /// The id.
        id: u32,
    },
}

/// The schema id of a Confluent-framed payload and the record behind it.
///
/// # Errors
/// The payload does not begin so.
#[inline(always)]
pub fn confluent(payload: &[u8]) -> Result<(u32, &[u8]), FramingError> {
    match payload {
        [0, a, b, c, d, body @ ..] => Ok((u32::from_be_bytes([*a, *b, *c, *d]), body)),
        _ => Err(refuse(payload)),
    }
}

/// The schema's fingerprint in a payload of the single-object encoding, and the record behind it.
///
/// <https://avro.apache.org/docs/1.12.0/specification/#single-object-encoding>
///
/// # Errors
/// The payload does not begin so.
#[inline(always)]
pub fn single_object(payload: &[u8]) -> Result<(u64, &[u8]), FramingError> {
    match payload.split_first_chunk::<10>() {
        Some(([0xc3, 0x01, fingerprint @ ..], body)) => {
            Ok((u64::from_le_bytes(*fingerprint), body))
        }
        _ => Err(FramingError::NoSingleObject {
            size: payload.len(),
        }),
    }
}

/// Whether a registry could have given the id: they count from one and are signed 32-bit numbers.
pub(crate) fn is_id(id: u32) -> bool {
    (1..=i32::MAX as u32).contains(&id)
}

/// Whether the producer put the schema's id into a header, so that the payload's first bytes are no id. Asked only of ids that
/// are not known, because headers take time.
#[cold]
pub(crate) fn has_id_in_header(record: &Record<'_>) -> bool {
    let mut headers = record.headers().iter();
    headers.any(|(name, _)| name == "__value_schema_id")
}

#[cold]
fn refuse(payload: &[u8]) -> FramingError {
    let size = payload.len();
    match payload {
        [] | [0, ..] => FramingError::Short { size },
        [1, rest @ ..] if rest.len() >= 16 => FramingError::Guid,
        [0xc3, 1, ..] => FramingError::SingleObject,
        [byte, ..] if matches!(byte, b'{' | b'[' | b'"') || byte.is_ascii_alphanumeric() => {
            FramingError::Text {
                size,
                first: char::from(*byte),
            }
        }
        [byte, ..] => FramingError::Magic { size, byte: *byte },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_payload_is_an_id_and_a_record() {
        assert_eq!(confluent(&[0, 0, 0, 0, 7, 2]), Ok((7, &[2u8][..])));
        assert_eq!(
            confluent(&[0, 1, 0, 0, 2]),
            Ok((1 << 24 | 2, &[][..])),
            "an empty record"
        );
    }

    #[test]
    fn every_other_beginning_has_an_error_of_its_own() {
        let guid = [&[1u8][..], &[9; 16], &[2]].concat();
        for (payload, expected) in [
            (&[][..], FramingError::Short { size: 0 }),
            (&[0, 0, 0], FramingError::Short { size: 3 }),
            (&guid, FramingError::Guid),
            (
                &[0xc3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 2],
                FramingError::SingleObject,
            ),
            (
                b"{}",
                FramingError::Text {
                    size: 2,
                    first: '{',
                },
            ),
            (&[2, 6, 0x66], FramingError::Magic { size: 3, byte: 2 }),
        ] {
            assert_eq!(confluent(payload), Err(expected), "{payload:?}");
        }
    }

    #[test]
    fn ids_that_no_registry_gives_are_told_apart() {
        for (id, valid) in [
            (0, false),
            (1, true),
            (i32::MAX as u32, true),
            (1 << 31, false),
            (u32::MAX, false),
        ] {
            assert_eq!(is_id(id), valid, "{id}");
        }
    }

    #[test]
    fn a_single_object_is_a_mark_a_fingerprint_and_a_record() {
        let payload = [0xc3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0x36];
        assert_eq!(
            single_object(&payload),
            Ok((0x0807_0605_0403_0201, &[0x36u8][..]))
        );
        for size in [0, 2, 9] {
            assert_eq!(
                single_object(&payload[..size]),
                Err(FramingError::NoSingleObject { size })
            );
        }
        assert_eq!(
            single_object(&[0; 12]),
            Err(FramingError::NoSingleObject { size: 12 })
        );
    }
}
