//! `Seq`: length without decoding, blocks of every kind, iteration that cannot fail.

use spate_avro::{AvroErrorKind, FromAvro, Reader, Seq, wire};

fn longs(bytes: &[u8]) -> Result<Seq<'_, i64>, AvroErrorKind> {
    let mut reader = Reader::new(bytes, bytes.len());
    let seq = <Seq<'_, i64> as FromAvro<'_, wire::Array<wire::Long>>>::read(&mut reader)
        .map_err(|e| e.kind())?;
    reader.finish().map_err(|e| e.kind())?;
    Ok(seq)
}

#[test]
fn blocks_with_and_without_a_size_are_one_sequence() {
    // Two items, then a block of -1 item with its size of 2 bytes, then the end.
    let seq = longs(&[4, 2, 4, 1, 4, 0x80, 0x01, 0]).expect("a sequence");
    assert_eq!(seq.len(), 3);
    assert_eq!(seq.iter().collect::<Vec<_>>(), [1, 2, 64]);
    assert_eq!(seq.iter().size_hint(), (3, Some(3)));
    assert_eq!(
        seq,
        longs(&[6, 2, 4, 0x80, 0x01, 0]).expect("the same in one block")
    );
    assert_eq!(format!("{seq:?}"), "[1, 2, 64]");
}

#[test]
fn an_empty_sequence_has_no_items_and_the_default_is_one() {
    assert!(longs(&[0]).expect("empty").is_empty());
    assert_eq!(Seq::<i64>::default().iter().next(), None);
}

#[test]
fn a_count_without_its_bytes_is_refused_before_anything_is_done() {
    let huge = |bytes: &[u8]| longs(bytes).expect_err("too many");
    assert!(matches!(
        huge(&[0x80, 0xda, 0xc4, 0x09, 0]),
        AvroErrorKind::TooManyItems {
            count: 10_000_000,
            ..
        }
    ));
    let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert!(matches!(huge(&most), AvroErrorKind::TooManyItems { .. }));
    let least = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0,
    ];
    assert!(
        matches!(huge(&least), AvroErrorKind::TooManyItems { .. }),
        "i64::MIN has no negation"
    );
}

#[test]
fn a_size_that_is_not_the_items_is_refused() {
    // One item of one byte, said to take two, none, minus one, more than there is.
    for said in [4, 0, 1, 40] {
        assert!(
            matches!(
                longs(&[1, said, 2, 2, 0]),
                Err(AvroErrorKind::BlockSize { .. })
            ),
            "{said}"
        );
    }
}

#[test]
fn items_without_bytes_are_bounded() {
    let skip = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes, bytes.len());
        <wire::Array<wire::Null> as wire::Skip>::skip(&mut reader)
            .map(|()| reader.rest().len())
            .map_err(|e| e.kind())
    };
    assert_eq!(skip(&[6, 0]), Ok(0), "three nulls");
    assert!(matches!(
        skip(&[0x80, 0xda, 0xc4, 0x09, 0]),
        Err(AvroErrorKind::TooManyEmptyItems { count: 10_000_000 })
    ));
    let mut many = Vec::new();
    for _ in 0..3 {
        many.extend([0x80, 0x80, 0x04]); // 32,768 each
    }
    many.push(0);
    assert!(
        matches!(
            skip(&many),
            Err(AvroErrorKind::TooManyEmptyItems { count: 32_768 })
        ),
        "over all blocks"
    );
}
