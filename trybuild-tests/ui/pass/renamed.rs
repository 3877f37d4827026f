// package: renamed

//! The application calls the facade `etl` and depends on nothing called `spate`.

use etl::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", crate = etl)]
pub struct Order<'a> {
    pub order_id: i64,
    pub lines: Vec<Line<'a>>,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Line", crate = ::etl)]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(Row)]
#[row(table = "files/lines.sql", name = "shop.lines", crate = etl)]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

etl::pipeline! {
    pub lines {
        kafka
        -> avro::<Order<'_>>
        -> flat_map(|order| order.lines)
        -> map(|line| LineRow { order_id: 0, sku: line.sku, qty: line.qty.unsigned_abs() })
        -> clickhouse
    }
}
