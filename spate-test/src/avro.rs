//! Avro's binary encoding, as far as the payloads of tests need it, by hand: what the decoder reads is not written by its own code.
//! See <https://avro.apache.org/docs/1.12.0/specification/#binary-encoding>.

/// Appends a long, which is an int as well: a zigzag varint.
pub fn long(out: &mut Vec<u8>, value: i64) {
    let mut bits = ((value << 1) ^ (value >> 63)) as u64;
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

/// Appends a string.
pub fn text(out: &mut Vec<u8>, text: &str) {
    long(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_specification_shows_them() {
        for (value, bytes) in [
            (0, &[0x00][..]),
            (-1, &[0x01]),
            (1, &[0x02]),
            (-64, &[0x7f]),
            (64, &[0x80, 0x01]),
        ] {
            let mut out = Vec::new();
            long(&mut out, value);
            assert_eq!(out, bytes, "{value}");
        }
    }
}
