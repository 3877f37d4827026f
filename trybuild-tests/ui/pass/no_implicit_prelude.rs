//! Nothing of the standard prelude is in scope, and names of it mean something else.
#![no_implicit_prelude]

use ::spate::prelude::AvroRecord as AvroRecordOf;
use ::spate::prelude::Row as RowOf;

/// In the way of the prelude's.
pub struct Option;
/// In the way of the prelude's.
pub struct Result;
/// In the way of the prelude's.
pub struct Vec;
/// In the way of the prelude's.
pub trait Iterator {}
/// In the way of the prelude's.
pub trait Clone {}
/// In the way of the crate's.
pub mod core {}
/// In the way of the crate's.
pub mod std {}
/// In the way of the facade's.
pub mod spate {}

#[derive(AvroRecordOf)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub lines: ::std::vec::Vec<Line<'a>>,
}

#[derive(AvroRecordOf)]
#[avro(schema = "files/order.avsc", record = "Line")]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(RowOf)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

::spate::pipeline! {
    pub lines(limit: i64) {
        let mut read = 0u64;
        kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> inspect(|_| read += 1)
        -> filter(|order, meta| order.order_id > limit && meta.offset() > 0)
        -> flat_map(|order| order.lines)
        -> filter_map(|line| if line.qty > 0 { ::core::option::Option::Some(line) } else { ::core::option::Option::None })
        -> try_map(|line| ::core::result::Result::Ok(LineRow { order_id: read, sku: line.sku, qty: 1 }))
        -> clickhouse
    }
}
