//! `avro_schema!` declares every type of a file, borrowed and owned, also where the facade has another name.
#![deny(warnings)]

pub mod borrowed {
    spate::avro_schema!("files/all_types.avsc");
}

pub mod owned {
    spate::avro_schema!("files/all_types.avsc", owned);
}

mod files {
    spate::avro_schema!("files/line.avsc");
    spate::avro_schema!("files/with_reference.avsc", with = ["files/line.avsc"]);
}

mod nested {
    spate::avro_schema!("files/nested_union.avsc");
}

use spate::avro::{Decimal, Seq, Uuid};
use spate::clickhouse::DateTime64Millis;
use spate::prelude::*;

pub fn fields(all: borrowed::All<'_>) -> (Seq<'_, (&str, f64)>, Decimal<2>, Uuid, Option<Box<borrowed::Node>>) {
    let _: &[u8] = all.raw;
    let _: [u8; 16] = all.digest;
    match all.origin {
        borrowed::AllOrigin::Null => {}
        borrowed::AllOrigin::String(text) => is_text(text),
        borrowed::AllOrigin::Int(number) => is_int(number),
        borrowed::AllOrigin::Inner(inner) => is_text(inner.name),
    }
    let _ = all.status == borrowed::Status::InTransit;
    let _: &str = all.r#type;
    (all.weights, all.price, all.id, all.node.next)
}

fn is_text(_: &str) {}

fn is_int(_: i32) {}

pub fn texts(all: owned::All) -> Vec<(String, f64)> {
    drop::<String>(all.text);
    all.weights
}

/// The enums that a union in a branch of another has, declared and by hand.
pub fn numbers(reading: nested::Reading<'_>, by_hand: Reading<'_>) -> i32 {
    let declared = match reading.value {
        nested::ReadingValue::String(_) => 0,
        nested::ReadingValue::Array(items) => items.iter().fold(0, |sum, item| match item {
            nested::ReadingValueArray::Int(number) => sum + number,
            nested::ReadingValueArray::String(_) => sum,
        }),
    };
    match by_hand.value {
        Value::Text(text) => is_text(text),
        Value::Items(items) => items.into_iter().for_each(|item| match item {
            Item::Number(number) => is_int(number),
            Item::Text(text) => is_text(text),
        }),
    }
    declared
}

#[derive(AvroRecord)]
#[avro(schema = "files/nested_union.avsc")]
pub struct Reading<'a> {
    value: Value<'a>,
}

#[derive(AvroUnion)]
#[avro(schema = "files/nested_union.avsc", field = "Reading.value")]
enum Value<'a> {
    Text(&'a str),
    Items(Vec<Item<'a>>),
}

#[derive(AvroUnion)]
#[avro(schema = "files/nested_union.avsc", field = "value/array")]
enum Item<'a> {
    Number(i32),
    Text(&'a str),
}

#[derive(Row)]
#[row(table = "files/baskets.sql")]
pub struct BasketRow {
    id: i64,
    at: DateTime64Millis,
    lines: Vec<i32>,
}

spate::pipeline! {
    pub baskets() {
        kafka
        -> avro::<files::Basket>
        -> filter(|basket| basket.id > 0)
        -> map(|basket| BasketRow {
            id: basket.id,
            at: DateTime64Millis(0),
            lines: basket.lines.iter().map(|line| line.qty).collect(),
        })
        -> clickhouse::<BasketRow>
    }
}
