//! One class of error per rule of the types that have one, and bounds on what a few bytes can ask for.

use std::collections::{BTreeMap, HashMap};

use spate_avro::{
    AvroErrorKind, BigDecimal, Decimal, FromAvro, Reader, Seq, Uuid, decode_body, wire,
};

use crate::damaged::kind;
use crate::types::{Node, Origin};

type Ages = wire::Map<wire::Int>;

fn read<'b, W, T: FromAvro<'b, W>>(bytes: &'b [u8]) -> T {
    let mut reader = Reader::new(bytes, bytes.len());
    let value = T::read(&mut reader).expect("a value");
    assert_eq!(reader.rest(), [0u8; 0], "nothing is left");
    value
}

#[test]
fn a_map_is_an_array_of_entries_in_blocks_of_every_kind() {
    // Two entries, then a block of -1 entry with its size of 3 bytes, then the end.
    let bytes = [4, 2, b'a', 2, 2, b'b', 4, 1, 6, 2, b'a', 6, 0];
    let entries = [("a", 1), ("b", 2), ("a", 3)];
    assert_eq!(read::<Ages, Vec<(&str, i32)>>(&bytes), entries);
    let lazy = read::<Ages, Seq<'_, (&str, i32)>>(&bytes);
    assert_eq!(lazy.len(), 3);
    assert!(lazy.iter().eq(entries));
    let last_one_stands = [("a", 3), ("b", 2)];
    assert_eq!(
        read::<Ages, BTreeMap<&str, i32>>(&bytes),
        BTreeMap::from(last_one_stands)
    );
    assert_eq!(
        read::<Ages, HashMap<&str, i32>>(&bytes),
        HashMap::from(last_one_stands)
    );
    <Ages as wire::Skip>::skip(&mut Reader::new(&bytes, bytes.len())).expect("it is passed over");
}

#[test]
fn a_map_without_its_bytes_is_refused_before_anything_is_done() {
    // An entry takes two bytes at least: of four bytes there are no three entries.
    let three = [6, 0, 0, 0, 0];
    let refused = AvroErrorKind::TooManyItems { count: 3, left: 4 };
    assert_eq!(kind::<Ages, Vec<(&str, i32)>>(&three), refused);
    assert_eq!(kind::<Ages, HashMap<String, i32>>(&three), refused);
    assert_eq!(kind::<Ages, BTreeMap<String, i32>>(&three), refused);
    assert_eq!(kind::<Ages, Seq<'_, (&str, i32)>>(&three), refused);
    let skipped = <Ages as wire::Skip>::skip(&mut Reader::new(&three, 5));
    assert_eq!(skipped.expect_err("too many").kind(), refused);
    assert_eq!(
        kind::<Ages, HashMap<&str, i32>>(&[2, 2, 0xff, 2, 0]),
        AvroErrorKind::Utf8,
        "a key"
    );
    assert_eq!(
        kind::<Ages, BTreeMap<&str, i32>>(&[1, 40, 0, 2, 0]),
        AvroErrorKind::BlockSize { said: 20 }
    );
    assert_eq!(
        kind::<Ages, HashMap<&str, i32>>(&[1, 2, 0, 2, 0]),
        AvroErrorKind::BlockSize { said: 1 }
    );
}

#[test]
fn values_without_bytes_are_bounded_over_the_whole_payload() {
    type Nulls = wire::Array<wire::Null>;
    type Lists = wire::Array<Nulls>;
    // 32,768 in a list of three bytes and its end: two lists are allowed, a third is not.
    let list = [0x80, 0x80, 0x04, 0];
    let two = [&[4][..], &list, &list, &[0]].concat();
    let lists = read::<Lists, Vec<Vec<()>>>(&two);
    assert_eq!(lists.iter().map(Vec::len).sum::<usize>(), 65_536);
    let three = [&[6][..], &list, &list, &list, &[0]].concat();
    let refused = AvroErrorKind::TooManyEmptyItems { count: 32_768 };
    assert_eq!(kind::<Lists, Vec<Vec<()>>>(&three), refused);
    assert_eq!(kind::<Lists, Vec<Seq<'_, ()>>>(&three), refused);
    let skipped = <Lists as wire::Skip>::skip(&mut Reader::new(&three, three.len()));
    assert_eq!(skipped.expect_err("too many").kind(), refused);
}

#[test]
fn fixed_values_have_their_size() {
    assert_eq!(read::<wire::Fixed<3>, [u8; 3]>(b"abc"), *b"abc");
    assert_eq!(read::<wire::Fixed<3>, &[u8]>(b"abc"), b"abc");
    let refused = AvroErrorKind::Truncated { needed: 2 };
    assert_eq!(kind::<wire::Fixed<3>, &[u8; 3]>(b"a"), refused);
    assert_eq!(
        kind::<wire::Duration, spate_avro::Duration>(&[0; 10]),
        refused
    );
    assert_eq!(kind::<wire::UuidFixed, Uuid>(&[0; 14]), refused);
    assert_eq!(
        kind::<wire::DecimalFixed<8, 18, 4>, Decimal<4>>(&[0; 6]),
        refused
    );
}

#[test]
fn decimals_are_numbers_with_a_sign_and_have_the_digits_of_their_schema() {
    type Price = wire::Decimal<10, 2>;
    for (bytes, expected) in [
        (&[2, 0xff][..], "-0.01"),
        (&[4, 0x00, 0xff], "2.55"),
        (&[4, 0xfb, 0x32], "-12.30"),
        (&[0], "0.00"),
        (
            &[
                20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
            ],
            "-0.02",
        ),
    ] {
        assert_eq!(read::<Price, Decimal<2>>(bytes).to_string(), expected);
    }
    // 10^10 has eleven digits.
    let larger = [10, 0x02, 0x54, 0x0b, 0xe4, 0x00];
    assert_eq!(
        kind::<Price, Decimal<2>>(&larger),
        AvroErrorKind::DecimalPrecision { precision: 10 }
    );
    let huge = [&[40][..], &[0x7f; 20]].concat();
    assert_eq!(
        kind::<Price, Decimal<2>>(&huge),
        AvroErrorKind::DecimalWidth { bytes: 20 }
    );
    assert_eq!(
        read::<Price, &[u8]>(&huge),
        [0x7f; 20],
        "as bytes it is what it is"
    );
    assert_eq!(
        kind::<wire::DecimalFixed<2, 4, 2>, Decimal<2>>(&[0x27, 0x10]),
        AvroErrorKind::DecimalPrecision { precision: 4 }
    );
    assert_eq!(
        kind::<wire::Array<Price>, Vec<Decimal<2>>>(&[2, 2, 0x01]),
        AvroErrorKind::Truncated { needed: 1 }
    );
}

#[test]
fn a_big_decimal_is_a_number_and_a_scale_and_nothing_else() {
    let minus = read::<wire::BigDecimal, BigDecimal>(&[8, 4, 0xfb, 0x32, 4]);
    assert_eq!(
        minus,
        BigDecimal {
            unscaled: -1230,
            scale: 2
        }
    );
    for bytes in [&[0][..], &[2, 0], &[4, 2, 1], &[8, 2, 1, 4, 0]] {
        assert_eq!(
            kind::<wire::BigDecimal, BigDecimal>(bytes),
            AvroErrorKind::BigDecimal,
            "{bytes:?}"
        );
    }
    let huge = [&[38, 34][..], &[1; 17], &[0]].concat();
    assert_eq!(
        kind::<wire::BigDecimal, BigDecimal>(&huge),
        AvroErrorKind::DecimalWidth { bytes: 17 }
    );
}

#[test]
fn a_uuid_is_36_characters() {
    let text = |text: &str| [&[(text.len() * 2) as u8][..], text.as_bytes()].concat();
    let good = text("67E55044-10b1-426f-9247-bb680e5fe0c8");
    assert_eq!(
        read::<wire::Uuid, Uuid>(&good).to_string(),
        "67e55044-10b1-426f-9247-bb680e5fe0c8"
    );
    assert_eq!(
        kind::<wire::Uuid, Uuid>(&text("67e5504410b1426f9247bb680e5fe0c8")),
        AvroErrorKind::Uuid
    );
    assert_eq!(kind::<wire::Uuid, Uuid>(&[2, 0xff]), AvroErrorKind::Utf8);
    assert_eq!(
        read::<wire::Uuid, &str>(&text("no uuid")),
        "no uuid",
        "as text it is what it is"
    );
}

#[test]
fn a_branch_that_the_union_does_not_have_is_refused() {
    for (byte, branch) in [(12, 6), (1, -1)] {
        let refused = AvroErrorKind::Branch {
            branch,
            branches: 6,
        };
        assert_eq!(kind::<wire::Union, Origin<'_>>(&[byte]), refused);
    }
    assert_eq!(
        read::<wire::Union, Origin<'_>>(&[6, 4]),
        Origin::Known(crate::types::Status::InTransit)
    );
    assert_eq!(
        kind::<wire::Union, Origin<'_>>(&[6, 6]),
        AvroErrorKind::Symbol {
            symbol: 3,
            symbols: 3
        }
    );
}

#[test]
fn a_chain_of_records_is_bounded_in_depth() {
    let chain = |depth: usize| {
        let mut bytes = [2, 2].repeat(depth);
        bytes.extend([2, 0]);
        bytes
    };
    let fine = chain(127);
    let node: Node = decode_body(&fine, fine.len()).expect("within the bound");
    assert!(node.next.is_some());
    for depth in [128, 1_000_000] {
        let deep = chain(depth);
        let error = decode_body::<Node>(&deep, deep.len()).expect_err("too deep");
        assert_eq!(error.kind(), AvroErrorKind::TooDeep);
        let error = decode_body::<Box<Node>>(&deep, deep.len()).expect_err("too deep");
        assert_eq!(error.kind(), AvroErrorKind::TooDeep);
    }
}
