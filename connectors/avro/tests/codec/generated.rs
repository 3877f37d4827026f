//! Types that `avro_schema!` declares read what types that are declared by hand read.

use proptest::prelude::*;
use spate_avro::{AvroEnum, AvroRecord, decode_body};

use crate::types;
use crate::types_interop::{ALL, encode, example};

mod borrowed {
    spate_macros::avro_schema_impl!([crate::facade] "tests/schemas/all.avsc");
}

mod owned {
    spate_macros::avro_schema_impl!([crate::facade] "tests/schemas/all.avsc", owned);
}

/// The text of a value without the names of its types, variants and maps.
fn values(text: &str) -> Vec<&str> {
    text.split(|ch: char| !ch.is_alphanumeric() && !"-.\\\"".contains(ch))
        .filter(|word| word.contains(|ch: char| ch.is_ascii_digit()))
        .collect()
}

proptest! {
    #[test]
    fn a_generated_record_is_the_one_that_is_written_by_hand(example in example()) {
        let bytes = encode(ALL, example.value());
        let by_hand: types::All<'_> = decode_body(&bytes, bytes.len()).expect("a record");
        let all: borrowed::All<'_> = decode_body(&bytes, bytes.len()).expect("a record");
        prop_assert_eq!((all.flag, all.small, all.big, all.raw, all.text), (by_hand.flag, by_hand.small, by_hand.big, by_hand.raw, by_hand.text));
        prop_assert_eq!(all.status.symbol(), by_hand.status.symbol());
        prop_assert!(all.statuses.iter().map(|status| status.symbol()).eq(by_hand.statuses.iter().map(|status| status.symbol())));
        prop_assert!(all.numbers == by_hand.numbers && all.ages == by_hand.ages && all.days == by_hand.days);
        prop_assert!(all.names.iter().eq(by_hand.names.iter().copied()));
        let (origin, expected) = (format!("{:?}", all.origin), format!("{:?}", by_hand.origin));
        prop_assert_eq!(values(&origin), values(&expected));
        let chain = |value: i32, rest: usize| (value, rest);
        let depth = std::iter::successors(Some(&all.chain), |node| node.next.as_deref()).count();
        let expected = std::iter::successors(Some(&by_hand.chain), |node| node.next.as_deref()).count();
        prop_assert_eq!(chain(all.chain.value, depth), chain(by_hand.chain.value, expected));
        prop_assert_eq!((all.day, all.time_micros, all.at_nanos, all.local_millis), (by_hand.day, by_hand.time_micros, by_hand.at_nanos, by_hand.local_millis));
        prop_assert_eq!((all.price, all.amount, all.id, all.span, all.maybe_price), (by_hand.price, by_hand.amount, by_hand.id, by_hand.span, by_hand.maybe_price));

        let owned: owned::All = decode_body(&bytes, bytes.len()).expect("a record");
        prop_assert_eq!((&*owned.text, &*owned.raw), (by_hand.text, by_hand.raw));
        prop_assert!(owned.numbers.iter().copied().eq(by_hand.numbers));
        prop_assert!(owned.names.iter().map(|(key, name)| (&**key, &**name)).eq(by_hand.names.iter().copied()));
    }
}

#[test]
fn what_is_generated_means_the_schemas_types() {
    assert_eq!(borrowed::All::FINGERPRINT, types::All::FINGERPRINT);
    assert_eq!(owned::Node::FINGERPRINT, types::Node::FINGERPRINT);
    assert_eq!(
        borrowed::All::FIELDS,
        types::All::FIELDS,
        "every field is there"
    );
    assert_eq!(borrowed::Status::NAME, "types.Status");
    // A variant for each branch, by the branch's name.
    let origin: borrowed::AllOrigin<'_> = read_union(&[6, 4]);
    assert_eq!(
        origin,
        borrowed::AllOrigin::Status(borrowed::Status::InTransit)
    );
    assert_eq!(read_union(&[0]), borrowed::AllOrigin::Null);
    assert_eq!(
        read_union(&[10, 2, 6, 0]),
        borrowed::AllOrigin::Array(
            spate_avro::FromAvro::<spate_avro::wire::Array<spate_avro::wire::Long>>::read(
                &mut spate_avro::Reader::new(&[2, 6, 0], 3)
            )
            .expect("a list")
        )
    );
}

fn read_union(bytes: &[u8]) -> borrowed::AllOrigin<'_> {
    spate_avro::AvroUnion::decode(&mut spate_avro::Reader::new(bytes, bytes.len()))
        .expect("a union")
}
