//! One class of error per rule of the encoding, with the field and the position.

use spate_avro::{AvroErrorKind, AvroRecord, FromAvro, Reader, decode_body, wire};

use crate::records::{Customer, Line, Tree};
use crate::types::Status;

pub(crate) fn kind<'b, W, T: FromAvro<'b, W>>(bytes: &'b [u8]) -> AvroErrorKind {
    match T::read(&mut Reader::new(bytes, bytes.len())) {
        Ok(_) => panic!("{bytes:?} should be refused"),
        Err(error) => error.kind(),
    }
}

#[test]
fn numbers_are_read_at_every_length_and_at_the_end_of_a_payload() {
    for value in (0..64).flat_map(|shift| {
        [
            1i64 << shift,
            (1i64 << shift).wrapping_neg(),
            i64::MAX >> shift,
            i64::MIN >> shift,
        ]
    }) {
        let mut bytes = Vec::new();
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        for tail in [0, 1, 8, 20] {
            let mut payload = bytes.clone();
            payload.extend(std::iter::repeat_n(0xff, tail));
            let mut reader = Reader::new(&payload, payload.len());
            assert_eq!(
                reader.long().expect("a number"),
                value,
                "{value} and {tail} bytes"
            );
            assert_eq!(reader.rest().len(), tail);
            let mut reader = Reader::new(&payload, payload.len());
            assert_eq!(reader.small().expect("a number"), value);
        }
    }
}

#[test]
fn numbers_that_do_not_end_or_do_not_fit_are_refused() {
    let eleven = [0x80; 11];
    assert_eq!(kind::<wire::Long, i64>(&eleven), AvroErrorKind::Varint);
    assert_eq!(
        kind::<wire::Long, i64>(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]),
        AvroErrorKind::Varint
    );
    assert!(matches!(
        kind::<wire::Long, i64>(&[0x80, 0x80]),
        AvroErrorKind::Truncated { .. }
    ));
    assert!(matches!(
        kind::<wire::Long, i64>(&[]),
        AvroErrorKind::Truncated { .. }
    ));
    let more_than_an_int = [0x80, 0x80, 0x80, 0x80, 0x10];
    assert_eq!(
        kind::<wire::Int, i32>(&more_than_an_int),
        AvroErrorKind::IntRange { value: 1 << 31 }
    );
    assert_eq!(
        kind::<wire::Int, i64>(&more_than_an_int),
        AvroErrorKind::IntRange { value: 1 << 31 },
        "also where it widens"
    );
}

#[test]
fn lengths_are_compared_with_what_is_there() {
    assert_eq!(
        kind::<wire::Bytes, &[u8]>(&[1]),
        AvroErrorKind::NegativeLength { length: -1 }
    );
    assert_eq!(
        kind::<wire::Bytes, Vec<u8>>(&[0x80, 0x80, 0x80, 0x80, 0x08]),
        AvroErrorKind::Truncated { needed: 1 << 30 }
    );
    assert_eq!(
        kind::<wire::Str, &str>(&[8, b'a']),
        AvroErrorKind::Truncated { needed: 3 }
    );
    assert_eq!(
        kind::<wire::Double, f64>(&[0; 7]),
        AvroErrorKind::Truncated { needed: 1 }
    );
    assert_eq!(kind::<wire::Str, String>(&[2, 0xff]), AvroErrorKind::Utf8);
}

#[test]
fn numbers_of_branches_and_booleans_are_in_their_range() {
    assert_eq!(
        kind::<wire::NullFirst<wire::Long>, Option<i64>>(&[4]),
        AvroErrorKind::Branch {
            branch: 2,
            branches: 2
        }
    );
    assert_eq!(
        kind::<wire::NullLast<wire::Long>, Option<i64>>(&[1]),
        AvroErrorKind::Branch {
            branch: -1,
            branches: 2
        }
    );
    assert_eq!(
        kind::<wire::Single<wire::Long>, i64>(&[2, 0]),
        AvroErrorKind::Branch {
            branch: 1,
            branches: 1
        }
    );
    assert_eq!(
        kind::<wire::Boolean, bool>(&[2]),
        AvroErrorKind::Boolean { byte: 2 }
    );
    let refused = AvroErrorKind::Symbol {
        symbol: 3,
        symbols: 3,
    };
    let skipped = <wire::Enum<Status> as wire::Skip>::skip(&mut Reader::new(&[6], 1));
    assert_eq!(skipped.expect_err("out of range").kind(), refused);
    assert_eq!(kind::<wire::Enum<Status>, Status>(&[6]), refused);
    assert_eq!(kind::<wire::Enum<Status>, &str>(&[6]), refused);
    assert_eq!(
        kind::<wire::Enum<Status>, Status>(&[1]),
        AvroErrorKind::Symbol {
            symbol: -1,
            symbols: 3
        }
    );
}

#[test]
fn an_error_names_the_field_and_the_position() {
    // name "ab", vip, then an age that is missing; five bytes of framing were before it.
    let payload = [0, 0, 0, 0, 7, 4, b'a', b'b', 1];
    let error = decode_body::<Customer<'_>>(&payload[5..], payload.len()).expect_err("cut");
    assert_eq!((error.field(), error.position()), ("age", 9));
    assert_eq!(
        error.to_string(),
        "field `age`, byte 9 of 9: the payload ends here, 1 more bytes are needed"
    );
    let error = decode_body::<Line<'_>>(&[2, b'a', 0, 2, 9], 5).expect_err("too long");
    assert_eq!(
        error.to_string(),
        "byte 4 of 5: 1 bytes are left behind the end of the record: it was written with another schema"
    );
}

#[test]
fn a_path_reads_from_the_outside_to_the_inside() {
    // A tree whose second child should have two children.
    let error = decode_body::<Tree>(&[2, 4, 4, 0, 6, 4], 6).expect_err("cut");
    assert_eq!(error.field(), "children.children");
}

#[test]
fn records_within_records_are_bounded_in_depth() {
    let nested = |depth: usize| {
        let mut bytes = Vec::new();
        for _ in 0..depth {
            bytes.extend([2, 2]); // value 1, one child
        }
        bytes.extend([2, 0]);
        bytes.extend(std::iter::repeat_n(0, depth));
        bytes
    };
    let fine = nested(127);
    let tree: Tree = decode_body(&fine, fine.len()).expect("within the bound");
    assert_eq!(tree.children.len(), 1);
    for depth in [128, 100_000] {
        let deep = nested(depth);
        let error = decode_body::<Tree>(&deep, deep.len()).expect_err("too deep");
        assert_eq!(error.kind(), AvroErrorKind::TooDeep);
        assert!(<Tree as AvroRecord>::check(&mut Reader::new(&deep, deep.len())).is_err());
    }
}
