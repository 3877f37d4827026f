//! The records of the test schemas, as applications would declare them.

use spate_avro::{Seq, TimestampMillis};
use spate_macros::AvroRecord;

/// Everything that can be declared.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/order.avsc", crate = crate::facade)]
pub(crate) struct Order<'a> {
    pub(crate) order_id: i64,
    pub(crate) customer: Customer<'a>,
    pub(crate) region: &'a str,
    pub(crate) total_cents: i64,
    pub(crate) placed_at: TimestampMillis,
    pub(crate) note: Option<&'a str>,
    pub(crate) coupon: Option<&'a [u8]>,
    pub(crate) weight: f32,
    pub(crate) ratio: Option<f64>,
    pub(crate) lines: Seq<'a, Line<'a>>,
    pub(crate) scores: Vec<Option<i32>>,
    pub(crate) tree: Tree,
    pub(crate) matrix: Vec<Vec<f64>>,
    pub(crate) single: i64,
    pub(crate) bill_to: Customer<'a>,
    pub(crate) ship_to: Option<Customer<'a>>,
    pub(crate) codes: Seq<'a, i64>,
}

/// A record inside.
#[derive(AvroRecord, Debug, PartialEq, Clone, Copy)]
#[avro(schema = "tests/schemas/order.avsc", record = "Customer", crate = crate::facade)]
pub(crate) struct Customer<'a> {
    pub(crate) name: &'a str,
    pub(crate) vip: bool,
    // An int widens.
    pub(crate) age: i64,
}

/// An item of an array.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/order.avsc", record = "shop.Line", crate = crate::facade)]
pub(crate) struct Line<'a> {
    pub(crate) sku: &'a str,
    pub(crate) qty: i32,
}

/// A record that contains itself.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/order.avsc", record = "Tree", crate = crate::facade)]
pub(crate) struct Tree {
    pub(crate) value: i32,
    pub(crate) children: Vec<Tree>,
}

/// The same record, owned, renamed and in another order; most of it is passed over.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/order.avsc", crate = crate::facade)]
pub(crate) struct Slim {
    #[avro(rename = "codes")]
    pub(crate) numbers: Vec<i64>,
    pub(crate) coupon: Option<Vec<u8>>,
    #[avro(rename = "placed_at")]
    pub(crate) millis: i64,
    pub(crate) note: Option<String>,
    #[avro(rename = "order_id")]
    pub(crate) r#type: Alias,
}

/// The derive cannot see through it, the trait can.
pub(crate) type Alias = i64;

/// Nothing is kept: everything is passed over.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/order.avsc", crate = crate::facade)]
pub(crate) struct Nothing {}
