//! Nothing is copied: the row borrows what the record borrows from the payload.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Line")]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub lines: Seq<'a, Line<'a>>,
    #[avro(rename = "placed_at")]
    pub at: TimestampMillis,
}

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    #[row(rename = "qty")]
    pub quantity: u32,
}

spate::pipeline! {
    pub lines {
        kafka
        -> avro::<Order<'_>>(on_error = skip)
        -> flat_map(|order| {
            let id = order.order_id.unsigned_abs();
            order.lines.into_iter().map(move |line| (id, line))
        })
        -> try_map(|(order_id, line)| {
            Ok(LineRow { order_id, sku: line.sku, quantity: u32::try_from(line.qty)? })
        }, on_error = skip)
        -> clickhouse::<LineRow<'_>>
    }
}
