// package: edition_2021

//! The edition before, in which `gen` is a name like any other.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    #[avro(rename = "total_cents")]
    pub gen: i64,
    pub lines: Seq<'a, Line<'a>>,
}

#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "files/order.avsc", record = "Line")]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    #[row(rename = "qty")]
    pub gen: u32,
}

spate::pipeline! {
    /// In both editions the same words.
    pub gen(least: i64) {
        let mut gen = 0;
        kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> filter(|gen| gen.gen >= least)
        -> inspect(|_| gen += 1)
        -> route(|order| order.region) {
            "" => gen: drop,
            gen if gen.len() > 2 => map(|order| order.region) -> long: capture,
            _ => flat_map(|order| order.lines)
                -> try_map(|gen| Ok(LineRow { order_id: gen.sku.parse()?, sku: gen.sku, gen: gen.qty.try_into()? }), on_error = skip)
                -> clickhouse,
        }
    }
}

/// The value of a bare chain.
pub fn chain(gen: usize) -> spate::Pipeline {
    spate::pipeline!(memory -> bytes -> filter(|line| line.len() > gen) -> discard)
}
