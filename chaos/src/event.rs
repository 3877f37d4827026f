//! The events that are produced: event `n` is the same in every run, and so is the row that it must become, if any.

use spate_test::avro::{long, text};

/// The kind of events that the pipeline drops.
pub(crate) const HEARTBEAT: &str = "heartbeat";

/// Whether event `id` must become a row: heartbeats are filtered, and some records are tombstones.
pub(crate) fn is_kept(id: u32) -> bool {
    !is_heartbeat(id) && !is_tombstone(id)
}

fn is_heartbeat(id: u32) -> bool {
    id % 10 == 3
}

fn is_tombstone(id: u32) -> bool {
    id % 997 == 5
}

/// True, in SQL, for a row whose columns do not belong to its `id`.
pub(crate) const IS_DAMAGED: &str = "key != concat('key-', toString(id)) OR amount != toInt64(id) * 7 - 3 OR note != repeat('x', id % 60)";

/// The key of event `id`.
pub(crate) fn key(id: u32) -> String {
    format!("key-{id}")
}

/// Writes the payload of event `id`, framed as a Confluent serializer does it; false if it has none.
pub(crate) fn payload(id: u32, schema_id: u32, out: &mut Vec<u8>) -> bool {
    out.clear();
    if is_tombstone(id) {
        return false;
    }
    out.push(0);
    out.extend_from_slice(&schema_id.to_be_bytes());
    long(out, i64::from(id));
    text(out, if is_heartbeat(id) { HEARTBEAT } else { "order" });
    long(out, i64::from(id) * 7 - 3);
    text(out, &"x".repeat(id as usize % 60));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_events_are_dropped_and_some_have_no_payload() {
        let mut out = Vec::new();
        assert!(payload(3, 1, &mut out) && !is_kept(3));
        assert!(!payload(5, 1, &mut out) && !is_kept(5));
        assert!(payload(4, 7, &mut out) && is_kept(4));
        assert_eq!(
            out,
            [
                0, 0, 0, 0, 7, 8, 10, b'o', b'r', b'd', b'e', b'r', 50, 8, b'x', b'x', b'x', b'x'
            ]
        );
    }
}
