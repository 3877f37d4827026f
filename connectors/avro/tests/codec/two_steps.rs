//! A record that is read in two steps is the record that is read in one, whatever the payload is and wherever it is cut.

use proptest::prelude::*;
use spate_avro::pushdown::fields_upto;
use spate_avro::{AvroError, AvroRecord, Reader, decode_body};

use crate::interop::{encode, example};
use crate::records::{Order, Slim, Tree};
use crate::types::{All, Plain};
use crate::types_interop;

fn in_two_steps<'b, R: AvroRecord<'b>, const N: usize>(bytes: &'b [u8]) -> Result<R, AvroError> {
    let mut reader = Reader::new(bytes, bytes.len());
    let record = R::decode_upto::<N>(&mut reader)?.decode_rest::<N>(&mut reader)?;
    reader.finish()?;
    Ok(record)
}

/// Compares at every place where a record can be cut.
fn compare<'b, R: AvroRecord<'b> + std::fmt::Debug>(bytes: &'b [u8]) -> Result<(), TestCaseError> {
    // By text: a float that is no number equals nothing.
    let text = |result: Result<R, AvroError>| match result {
        Ok(record) => format!("{record:?}"),
        Err(error) => format!("error: {error}"),
    };
    let whole = text(decode_body::<R>(bytes, bytes.len()));
    macro_rules! at {
        ($($n:literal)*) => {$(
            prop_assert_eq!(text(in_two_steps::<R, $n>(bytes)), whole.as_str(), "cut before field {}", $n);
        )*};
    }
    at!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41);
    prop_assert_eq!(text(in_two_steps::<R, { usize::MAX }>(bytes)), whole);
    Ok(())
}

proptest! {
    #[test]
    fn a_cut_anywhere_changes_neither_records_nor_errors(
        example in example(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = encode(example.value());
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if cut {
            bytes.truncate(length.index(bytes.len() + 1));
        }
        compare::<Order<'_>>(&bytes)?;
        compare::<Slim>(&bytes)?;
    }

    #[test]
    fn a_cut_anywhere_in_a_record_of_every_type_changes_nothing(
        example in types_interop::example(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
    ) {
        let mut bytes = types_interop::encode(types_interop::ALL, example.value());
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        compare::<All<'_>>(&bytes)?;
        compare::<Plain>(&bytes)?;
    }

    #[test]
    fn random_bytes_fail_alike(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        compare::<Slim>(&bytes)?;
        compare::<Tree>(&bytes)?;
    }
}

#[test]
fn fields_behind_the_cut_are_placeholders_and_a_record_without_one_moves_the_cut() {
    // Only the first field is there; what follows is not looked at.
    let bytes = [0x0e, 0xff, 0xff];
    let slim = Slim::decode_upto::<1>(&mut Reader::new(&bytes, bytes.len())).expect("one field");
    let nothing = Slim {
        numbers: Vec::new(),
        coupon: None,
        millis: 0,
        note: None,
        r#type: 7,
    };
    assert_eq!(slim, nothing);
    assert_eq!(Slim::SOLID, 0);
    // `bill_to` is a record and has no placeholder, so everything up to it is read.
    assert_eq!(Order::SOLID, 19);
    assert!(Order::decode_upto::<1>(&mut Reader::new(&bytes, bytes.len())).is_err());
}

#[test]
fn every_type_but_records_and_unions_has_a_placeholder() {
    // `status`, an enum, is the ninth field; of what follows it nothing is there.
    let bytes = [1, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0xff];
    let plain = Plain::decode_upto::<9>(&mut Reader::new(&bytes, bytes.len()));
    let plain = plain.expect_err("`chain` is a record, so the cut is behind it");
    assert_eq!((plain.field(), Plain::SOLID), ("status_text", 23));
    // `All` has a union and a chain of records; behind them nothing is read.
    assert_eq!(All::SOLID, 23);
}

#[test]
fn fields_are_found_by_their_rust_names() {
    const ONE: usize = fields_upto::<Slim>(&["type"]);
    const TWO: usize = fields_upto::<Slim>(&["note", "type"]);
    const UNKNOWN: usize = fields_upto::<Slim>(&["type", "order_id"]);
    assert_eq!((ONE, TWO, UNKNOWN), (1, 7, usize::MAX));
    assert_eq!(fields_upto::<Slim>(&["numbers"]), 21);
}
