//! Every column type and every Avro type that fields may have today.

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
    pub list: Vec<u64>,
    pub lists: Vec<Vec<&'a str>>,
    pub slice: &'a [u32],
}
