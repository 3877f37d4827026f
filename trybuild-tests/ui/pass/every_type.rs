//! Every column type and every Avro type that fields may have today.

use std::collections::HashMap;

use spate::avro::{Decimal, Uuid};
use spate::clickhouse::{Date, DateTime, DateTime64Millis};
use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc")]
pub struct All<'a> {
    pub flag: bool,
    pub small: i32,
    pub text: &'a str,
    pub r#type: String,
    pub raw: &'a [u8],
    pub copied: Vec<u8>,
    pub single: f32,
    pub double: f64,
    pub at: TimestampMillis,
    pub maybe: Option<&'a str>,
    pub maybe_last: Option<i64>,
    pub numbers: Seq<'a, i64>,
    pub texts: Vec<&'a str>,
    pub inner: Option<Inner<'a>>,
    pub inners: Seq<'a, Inner<'a>>,
    pub nothing: (),
    pub status: Status,
    pub status_text: &'a str,
    pub digest: &'a [u8; 16],
    pub weights: Seq<'a, (&'a str, f64)>,
    pub counts: HashMap<String, i64>,
    pub origin: Origin<'a>,
    pub price: Decimal<2>,
    pub day: spate::avro::Date,
    pub id: Uuid,
    pub node: Node,
}

#[derive(AvroEnum)]
#[avro(schema = "files/all_types.avsc")]
pub enum Status {
    New,
    InTransit,
}

#[derive(AvroUnion)]
#[avro(schema = "files/all_types.avsc", field = "All.origin")]
pub enum Origin<'a> {
    Nowhere,
    Text(&'a str),
    Number(i32),
    Inner(Inner<'a>),
}

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc", record = "Node")]
pub struct Node {
    pub value: i32,
    pub next: Option<Box<Node>>,
}

#[derive(AvroRecord)]
#[avro(schema = "files/with_reference.avsc", with = ["files/line.avsc"])]
pub struct Basket<'a> {
    pub id: i64,
    pub lines: Seq<'a, Line<'a>>,
}

#[derive(AvroRecord)]
#[avro(schema = "files/line.avsc")]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc", record = "Inner")]
pub struct Inner<'a> {
    pub name: &'a str,
    pub children: Vec<Inner<'a>>,
}

#[derive(Row)]
#[row(table = "files/all_types.sql")]
pub struct Every<'a> {
    pub b: bool,
    pub i8: i8,
    pub i16: i16,
    pub i32: i32,
    pub i64: i64,
    pub u8: u8,
    pub u16: u16,
    pub u32: u32,
    pub u64: u64,
    pub f32: f32,
    pub f64: f64,
    pub s: &'a str,
    pub owned: String,
    pub raw: &'a [u8],
    pub fixed: [u8; 4],
    pub low: &'a str,
    pub low_null: Option<&'a str>,
    pub nullable: Option<i64>,
    pub never_null: i64,
    pub day: Date,
    pub second: DateTime,
    pub milli: DateTime64Millis,
    pub id: Uuid,
    pub price: Decimal<2>,
    pub wide_day: spate::avro::Date,
    pub micro: TimestampMillis,
    pub nano: Option<spate::avro::TimestampNanos>,
    pub list: Vec<u64>,
    pub lists: Vec<Vec<&'a str>>,
    pub slice: &'a [u32],
}
