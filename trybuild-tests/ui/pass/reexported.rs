// package: reexported

//! The application reaches the facade through another crate, which passes it on, and depends on nothing called `spate`.

use kit::etl::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", crate = kit::spate)]
pub struct Order<'a> {
    pub order_id: i64,
    pub lines: Vec<Line<'a>>,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Line", crate = kit::etl)]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(Row)]
#[row(table = "files/lines.sql", crate = ::kit::etl)]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

fn row(line: Line<'_>) -> Result<LineRow<'_>, StageError> {
    Ok(LineRow { order_id: 0, sku: line.sku, qty: u32::try_from(line.qty)? })
}

kit::spate::pipeline! {
    pub lines(limit: i64) {
        kafka
        -> avro::<Order<'_>>
        -> filter(|order| order.order_id > limit)
        -> flat_map(|order| order.lines)
        -> try_map(row, on_error = skip)
        -> clickhouse
    }
}

kit::etl::pipeline! {
    pub bytes { memory -> bytes -> discard }
}

/// A bare chain as well.
pub fn chain() -> kit::spate::Pipeline {
    kit::etl::pipeline!(memory -> bytes -> map(|line| line.len().to_string()) -> capture)
}

kit::house_lines!(house, 3, |line| line.first() != Some(&b'#'));

/// A macro of that crate, in a function, beside variables that are called like its own.
pub fn houses() -> [kit::spate::Pipeline; 2] {
    let (least, seen) = (9, 3);
    kit::house_lines!(other, 2 + 1, |line| { let least = 1; line.len() > least });
    [house(seen), other(least)]
}
