//! Values that the `apache-avro` crate encodes are decoded equal, and its canonical forms agree.

use apache_avro::Schema;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use proptest::collection::{hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use spate_avro::{AvroRecord, TimestampMillis, decode_body};

use crate::records::{Customer, Nothing, Order, Slim, Tree};
use crate::types::{All, More};

const ORDER: &str = include_str!("../schemas/order.avsc");

/// Sku, origin (nothing, a text or a number) and quantity.
type LineExample = (String, Option<Result<String, i32>>, i32);

/// A value of the schema with what the decoders must find in it.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    order_id: i64,
    customer: (String, bool, i32),
    region: String,
    status: u32,
    total_cents: i64,
    placed_at: i64,
    note: Option<String>,
    coupon: Option<Vec<u8>>,
    weight: f32,
    ratio: Option<f64>,
    tags: std::collections::HashMap<String, String>,
    lines: Vec<LineExample>,
    scores: Vec<Option<i32>>,
    tree: (i32, Vec<(i32, usize)>),
    matrix: Vec<Vec<f64>>,
    single: i64,
    ship_to: Option<(String, bool, i32)>,
    codes: Vec<i64>,
}

fn number() -> impl Strategy<Value = i64> {
    // Small numbers, every length of varint, and the edges.
    prop_oneof![
        any::<i8>().prop_map(i64::from),
        (any::<i64>(), 0u32..64).prop_map(|(n, shift)| n >> shift),
        Just(i64::MIN),
        Just(i64::MAX)
    ]
}

fn customer() -> impl Strategy<Value = (String, bool, i32)> {
    (".{0,20}", any::<bool>(), any::<i32>())
}

pub(crate) fn example() -> impl Strategy<Value = Example> {
    let first = (
        number(),
        customer(),
        ".{0,100}",
        0u32..3,
        number(),
        number(),
        option::of(".{0,10}"),
        option::of(vec(any::<u8>(), 0..10)),
    );
    let second = (
        any::<f32>(),
        option::of(any::<f64>()),
        hash_map(".{0,5}", ".{0,5}", 0..4),
    );
    let origin = option::of(prop_oneof![
        ".{0,3}".prop_map(Ok),
        any::<i32>().prop_map(Err)
    ]);
    let lists = (
        vec((".{0,8}", origin, any::<i32>()), 0..5),
        vec(option::of(any::<i32>()), 0..5),
        (any::<i32>(), vec((any::<i32>(), 0usize..4), 0..4)),
        vec(vec(any::<f64>(), 0..3), 0..3),
        number(),
        option::of(customer()),
        vec(number(), 0..100),
    );
    (first, second, lists).prop_map(|(first, second, lists)| Example {
        order_id: first.0,
        customer: first.1,
        region: first.2,
        status: first.3,
        total_cents: first.4,
        placed_at: first.5,
        note: first.6,
        coupon: first.7,
        weight: second.0,
        ratio: second.1,
        tags: second.2,
        lines: lists.0,
        scores: lists.1,
        tree: lists.2,
        matrix: lists.3,
        single: lists.4,
        ship_to: lists.5,
        codes: lists.6,
    })
}

fn record(fields: Vec<(&str, Value)>) -> Value {
    Value::Record(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn null() -> Box<Value> {
    Box::new(Value::Null)
}

impl Example {
    fn customer_value((name, vip, age): &(String, bool, i32)) -> Value {
        record(vec![
            ("name", Value::String(name.clone())),
            ("vip", Value::Boolean(*vip)),
            ("age", Value::Int(*age)),
        ])
    }

    fn tree_value(value: i32, children: Vec<Value>) -> Value {
        record(vec![
            ("value", Value::Int(value)),
            ("children", Value::Array(children)),
        ])
    }

    pub(crate) fn value(&self) -> Value {
        let symbol = ["NEW", "PAID", "GONE"][self.status as usize];
        let line = |(sku, origin, qty): &LineExample| {
            let origin = match origin {
                None => Value::Union(0, null()),
                Some(Ok(text)) => Value::Union(1, Box::new(Value::String(text.clone()))),
                Some(Err(number)) => Value::Union(2, Box::new(Value::Int(*number))),
            };
            record(vec![
                ("sku", Value::String(sku.clone())),
                ("origin", origin),
                ("qty", Value::Int(*qty)),
            ])
        };
        let score = |score: &Option<i32>| match score {
            None => Value::Union(0, null()),
            Some(score) => Value::Union(1, Box::new(Value::Int(*score))),
        };
        let nullable = |value: Option<Value>| match value {
            None => Value::Union(0, null()),
            Some(value) => Value::Union(1, Box::new(value)),
        };
        let (root, children) = &self.tree;
        let child = |(value, depth): &(i32, usize)| {
            (0..*depth).fold(Self::tree_value(*value, Vec::new()), |inner, _| {
                Self::tree_value(*value, vec![inner])
            })
        };
        record(vec![
            ("order_id", Value::Long(self.order_id)),
            ("customer", Self::customer_value(&self.customer)),
            ("region", Value::String(self.region.clone())),
            ("status", Value::Enum(self.status, symbol.to_owned())),
            ("total_cents", Value::Long(self.total_cents)),
            ("placed_at", Value::TimestampMillis(self.placed_at)),
            ("note", nullable(self.note.clone().map(Value::String))),
            (
                "coupon",
                match &self.coupon {
                    Some(bytes) => Value::Union(0, Box::new(Value::Bytes(bytes.clone()))),
                    None => Value::Union(1, null()),
                },
            ),
            ("weight", Value::Float(self.weight)),
            ("ratio", nullable(self.ratio.map(Value::Double))),
            ("digest", Value::Fixed(4, vec![1, 2, 3, 4])),
            (
                "tags",
                Value::Map(
                    self.tags
                        .iter()
                        .map(|(k, v)| (k.clone(), Value::String(v.clone())))
                        .collect(),
                ),
            ),
            ("lines", Value::Array(self.lines.iter().map(line).collect())),
            (
                "scores",
                Value::Array(self.scores.iter().map(score).collect()),
            ),
            (
                "tree",
                Self::tree_value(*root, children.iter().map(child).collect()),
            ),
            (
                "matrix",
                Value::Array(
                    self.matrix
                        .iter()
                        .map(|row| Value::Array(row.iter().map(|n| Value::Double(*n)).collect()))
                        .collect(),
                ),
            ),
            (
                "single",
                Value::Union(0, Box::new(Value::Long(self.single))),
            ),
            ("nothing", Value::Null),
            ("bill_to", Self::customer_value(&self.customer)),
            (
                "ship_to",
                nullable(self.ship_to.as_ref().map(Self::customer_value)),
            ),
            (
                "codes",
                Value::Array(self.codes.iter().map(|n| Value::Long(*n)).collect()),
            ),
        ])
    }
}

pub(crate) fn encode(value: Value) -> Vec<u8> {
    let schema = Schema::parse_str(ORDER).expect("the schema");
    let writer = GenericDatumWriter::builder(&schema)
        .build()
        .expect("a writer");
    writer
        .write_value_to_vec(value)
        .expect("a value of the schema")
}

fn depth(tree: &Tree) -> usize {
    1 + tree.children.iter().map(depth).max().unwrap_or(0)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

proptest! {
    #[test]
    fn what_apache_avro_encodes_is_decoded_equal(example in example()) {
        let bytes = encode(example.value());
        let order: Order<'_> = decode_body(&bytes, bytes.len()).expect("a record");
        let customer = |(name, vip, age): &(String, bool, i32)| (name.clone(), *vip, i64::from(*age));
        let found = |customer: Customer<'_>| (customer.name.to_owned(), customer.vip, customer.age);
        prop_assert_eq!(order.order_id, example.order_id);
        prop_assert_eq!(found(order.customer), customer(&example.customer));
        prop_assert_eq!(found(order.bill_to), customer(&example.customer));
        prop_assert_eq!(order.ship_to.map(found), example.ship_to.as_ref().map(customer));
        prop_assert_eq!(order.region, &example.region);
        prop_assert_eq!(order.total_cents, example.total_cents);
        prop_assert_eq!(order.placed_at, TimestampMillis(example.placed_at));
        prop_assert_eq!(order.note, example.note.as_deref());
        prop_assert_eq!(order.coupon, example.coupon.as_deref());
        prop_assert_eq!(order.weight.to_bits(), example.weight.to_bits());
        prop_assert_eq!(order.ratio.map(f64::to_bits), example.ratio.map(f64::to_bits));
        prop_assert_eq!(order.lines.len(), example.lines.len());
        for (line, (sku, _, qty)) in order.lines.iter().zip(&example.lines) {
            prop_assert_eq!((line.sku, line.qty), (sku.as_str(), *qty));
        }
        prop_assert_eq!(&order.scores, &example.scores);
        prop_assert_eq!(order.tree.value, example.tree.0);
        let deepest = example.tree.1.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0);
        prop_assert_eq!(depth(&order.tree), 1 + deepest);
        prop_assert!(order.matrix.iter().flatten().zip(example.matrix.iter().flatten()).all(|(a, b)| same(*a, *b)));
        prop_assert_eq!(order.single, example.single);
        prop_assert!(order.codes.iter().eq(example.codes.iter().copied()));

        let slim: Slim = decode_body(&bytes, bytes.len()).expect("a record");
        prop_assert_eq!(&slim.numbers, &example.codes);
        prop_assert_eq!(&slim.coupon, &example.coupon);
        prop_assert_eq!(slim.millis, example.placed_at);
        prop_assert_eq!(&slim.note, &example.note);
        prop_assert_eq!(slim.r#type, example.order_id);

        let _: Nothing = decode_body(&bytes, bytes.len()).expect("everything can be passed over");
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_an_error(example in example(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(example.value());
        let short = &bytes[..cut.index(bytes.len())];
        prop_assert!(decode_body::<Order<'_>>(short, short.len()).is_err());
        prop_assert!(decode_body::<Nothing>(short, short.len()).is_err());
        let mut long = bytes;
        long.push(0);
        prop_assert!(decode_body::<Order<'_>>(&long, long.len()).is_err());
        prop_assert!(decode_body::<Nothing>(&long, long.len()).is_err());
    }

    #[test]
    fn any_bytes_are_answered_without_a_panic_and_checking_agrees_with_decoding(
        example in example(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        noise in vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = encode(example.value());
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        for payload in [&bytes, &noise] {
            let decoded = decode_body::<Order<'_>>(payload, payload.len());
            if let Ok(order) = &decoded {
                prop_assert_eq!(order.lines.iter().count(), order.lines.len());
                prop_assert_eq!(order.codes.iter().count(), order.codes.len());
            }
            let mut reader = spate_avro::Reader::new(payload, payload.len());
            let checked = Order::check(&mut reader).and_then(|()| reader.finish());
            prop_assert_eq!(decoded.map(drop).map_err(|e| e.to_string()), checked.map_err(|e| e.to_string()));
            let _ = decode_body::<Nothing>(payload, payload.len());
            let _ = decode_body::<Slim>(payload, payload.len());
        }
    }
}

#[test]
fn the_schema_constant_is_the_schema() {
    let ours = Schema::parse_str(Order::SCHEMA).expect("self-contained");
    let file = Schema::parse_str(ORDER).expect("the file");
    assert_eq!(ours.canonical_form(), file.canonical_form());
    assert_eq!(Order::NAME, "shop.Order");
    let tree = Schema::parse_str(Tree::SCHEMA).expect("self-contained");
    assert!(
        tree.canonical_form()
            .starts_with(r#"{"name":"shop.Tree","type":"record""#),
        "{}",
        tree.canonical_form()
    );
}

#[test]
fn the_fingerprint_constant_is_that_of_the_runtimes_canonical_form() {
    let print = |schema: &str| {
        spate_avro::fingerprint(&spate_avro::canonical_form(schema).expect("a schema"))
    };
    assert_eq!(Order::FINGERPRINT, print(ORDER));
    assert_eq!(Order::FINGERPRINT, print(Order::SCHEMA));
    assert_eq!(Tree::FINGERPRINT, print(Tree::SCHEMA));
    assert_eq!(All::FINGERPRINT, print(include_str!("../schemas/all.avsc")));
    assert_eq!(
        More::FINGERPRINT,
        print(include_str!("../schemas/more.avsc"))
    );
    assert_eq!(Customer::FINGERPRINT, print(Customer::SCHEMA));
    assert_eq!(
        Slim::FIELDS,
        ["order_id", "placed_at", "note", "coupon", "codes"]
    );
}

#[test]
fn text_and_bytes_of_a_borrowing_record_are_the_payloads_own() {
    #[derive(spate_macros::AvroRecord)]
    #[avro(schema = "tests/schemas/pair.avsc", crate = crate::facade)]
    struct Pair<'a> {
        value: &'a str,
    }
    let payload = [8, 4, b'h', b'i'];
    let pair: Pair<'_> = decode_body(&payload, payload.len()).expect("a record");
    assert_eq!(
        pair.value.as_ptr(),
        payload[2..].as_ptr(),
        "nothing is copied"
    );
}
